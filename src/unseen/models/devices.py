"""Where a model computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.errors import ConfigError

if TYPE_CHECKING:
    import torch


def chosen_device(wanted: str, local_rank: int = 0) -> torch.device:
    """The device of a name; `auto` is this process's GPU if there is one."""
    import torch

    if wanted == "auto":
        return torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise ConfigError(f"there is no device {wanted!r}: use auto, cpu, cuda or cuda:1") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"the device {wanted} is asked for, but torch finds no GPU here")
    return torch.device("cuda", local_rank) if wanted == "cuda" else device
