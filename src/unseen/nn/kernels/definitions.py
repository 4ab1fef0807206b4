"""What is computed: messages, statistics, and who wins when an extreme is attained twice.

For every node v and column (batch, dim), over the boundary b[v] and one message per kept edge (u, r, v):

    distmult   m = x[u] * w[r]                        (Yang et al., 2015)
    transe     m = x[u] + w[r]                        (Bordes et al., 2013)
    rotate     m = x[u] * w[r] as complex numbers     (Sun et al., 2019)

For `rotate` the first half of `dim` holds the real parts and the second half the imaginary parts, of x, w, b and m
alike; w is a complex number as it stands, `unit_rotations` makes one of length 1 from phases. Extremes are taken of
real and imaginary parts separately.

    sum = b[v] + Σ m        square_sum = b[v]² + Σ m²        maximum = max(b[v], m ...)        minimum alike

**Ties.** The gradient of an extreme goes to one candidate: the boundary if it attains the extreme, else the first edge
in the canonical order (`EdgeViews`) that does. All implementations follow this rule.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

Message = Literal["distmult", "transe", "rotate"]
Aggregate = Literal["sum", "mean", "max", "min"]
Implementation = Literal["reference", "cpu", "gpu"]

MESSAGES: tuple[Message, ...] = ("distmult", "transe", "rotate")


class Statistics(NamedTuple):
    """The four statistics of the messages of each node, each [node, batch, dim]."""

    sum: Float[Tensor, "node batch dim"]
    square_sum: Float[Tensor, "node batch dim"]
    maximum: Float[Tensor, "node batch dim"]
    minimum: Float[Tensor, "node batch dim"]


class Wanted(NamedTuple):
    """Which statistics to compute."""

    sum: bool = False
    square_sum: bool = False
    maximum: bool = False
    minimum: bool = False


ALL = Wanted(True, True, True, True)

Inputs = tuple[Float[Tensor, "node batch dim"], Float[Tensor, "relation batch dim"], Float[Tensor, "node batch dim"]]
"""x, relation and boundary."""

Results = tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]
"""The statistics that were wanted, None in place of the others."""


def unit_rotations(phases: Float[Tensor, "relation batch pair"]) -> Float[Tensor, "relation batch dim"]:
    """Rotations by angles in radians, as `rotate` reads them: dim = 2 * pair, cosines first, then sines."""
    return torch.cat([phases.cos(), phases.sin()], dim=-1)
