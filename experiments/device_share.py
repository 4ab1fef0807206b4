"""The device as several processes share it."""

from __future__ import annotations


def share_device(device: str, share: float) -> None:
    """Take no more than a share of a GPU's memory; networks size their work by it."""
    import torch

    if device != "cpu" and torch.cuda.is_available() and share < 1:
        number = torch.device(device).index if device != "auto" else None
        torch.cuda.set_per_process_memory_fraction(share, number)


def free_device() -> None:
    """Give back what the last method held: the process beside may need it."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()
