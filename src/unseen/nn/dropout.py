"""Dropout whose randomness is an argument: a step that is run again draws the same."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def dropout(
    values: Float[Tensor, "*shape"], probability: float, generator: torch.Generator | None
) -> Float[Tensor, "*shape"]:
    """Each value is zero with some probability, else scaled so that the mean stays; without a generator nothing is."""
    if generator is None or probability == 0:
        return values
    kept = torch.rand(values.shape, generator=generator, device=values.device) >= probability
    return values * kept.to(values.dtype).div_(1 - probability)
