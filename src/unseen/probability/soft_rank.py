"""How many lie above: ranks that change smoothly, so that a rounding error never changes one by a whole place.

Values are spread over grid points: one between two points counts for each of them by its nearness. The number above a
value is interpolated between the points on both sides. A value itself counts for exactly one half wherever it lies, so
one half less is the number of others above, blurred by the width of a cell; equal values share their places. It never
rises with the value. Cost: one pass over the values, one over the grid; nothing is sorted.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

CELLS, LARGEST = 1024, 24.0


def spread(values: Float[Tensor, " value"], chosen: Bool[Tensor, " value"] | None = None) -> Float[Tensor, " point"]:
    """How many values, or how many of the chosen ones, each grid point has."""
    left, share = _place(values)
    counted = torch.ones_like(share) if chosen is None else chosen.to(share.dtype)
    points = torch.zeros(CELLS + 1, dtype=share.dtype, device=share.device)
    return points.index_add_(0, left, counted * (1 - share)).index_add_(0, left + 1, counted * share)


def above_points(points: Float[Tensor, " point"]) -> Float[Tensor, " point"]:
    """How many values lie above each grid point: half of its own, and all of those beyond."""
    return points.flip(0).cumsum(0).flip(0) - points / 2


def others_above(values: Float[Tensor, " value"], among: Float[Tensor, " other"]) -> Float[Tensor, " value"]:
    """For each value, how many of the others `among` which it is lie above it."""
    above = above_points(spread(among))
    left, share = _place(values)
    return (torch.lerp(above[left], above[left + 1], share) - 0.5).clamp(min=0)


def grid(device: torch.device | None = None) -> Float[Tensor, " point"]:
    """The values of the grid points."""
    return torch.linspace(-LARGEST, LARGEST, CELLS + 1, dtype=torch.float64, device=device)


def _place(values: Float[Tensor, " value"]) -> tuple[Int[Tensor, " value"], Float[Tensor, " value"]]:
    """The grid point to the left of each value, and how far it lies towards the next one."""
    position = ((values.double() / LARGEST + 1) * (CELLS / 2)).clamp(0, CELLS)
    left = position.floor().clamp(max=CELLS - 1)
    return left.long(), position - left
