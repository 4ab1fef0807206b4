"""Everything random in a step comes from one seed, so that a step can be run again with the same outcome."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def seeded(device: torch.device, seed: int) -> Iterator[torch.Generator]:
    """A generator of this seed; inside, torch's own random numbers (dropout draws them) come from the seed too.

    Afterwards torch's random state is what it was.
    """
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield torch.Generator(device).manual_seed(seed)
