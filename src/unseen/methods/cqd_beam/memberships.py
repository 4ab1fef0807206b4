"""From the logits of a (head, relation) row to memberships of its tails.

| scale | membership of tail t with logit s_t |
| --- | --- |
| sigmoid | sigmoid(s_t) |
| calibrated | sigmoid((1 + a_r) s_t + b_r), a and b learned for each directed relation, see `link_calibration` |
| min-max | (s_t - min s) / (max s - min s) |
| softmax | min(1, max(1, deg(h, r)) exp(s_t) / sum over u of exp(s_u)), deg counted in the observed graph |

All are f(factor s + shift) with two numbers a row, so that a block of logits is turned into memberships in place. The
last two need the range, or the sum, over all candidates first: one more pass over the blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

SMALLEST_RANGE = 1e-9
"""Logits that differ by less are taken to be equal, and their tails to be no members."""


@dataclass(frozen=True, eq=False)
class RowScales:
    """The two numbers of each row, and the function after them."""

    scale: str
    factor: Float[Tensor, " row"]
    shift: Float[Tensor, " row"]

    def apply_(self, logits: Float[Tensor, "row block"], rows: Tensor | slice) -> Float[Tensor, "row block"]:
        """The memberships of a block of logits of some rows, written over them."""
        if self.scale == "sigmoid":
            return logits.sigmoid_()
        shifted = logits.mul_(self.factor[rows].unsqueeze(1)).add_(self.shift[rows].unsqueeze(1))
        if self.scale == "calibrated":
            return shifted.sigmoid_()
        return shifted.clamp_(0, 1) if self.scale == "min-max" else shifted.exp_().clamp_(max=1)


def unscaled(scale: str, count: int, device: torch.device) -> RowScales:
    """Rows whose logits are taken as they are."""
    return RowScales(scale, torch.ones(count, device=device), torch.zeros(count, device=device))


def min_max(blocks: Iterable[Float[Tensor, "row _"]], count: int, device: torch.device) -> RowScales:
    """Rows stretched from their smallest to their largest logit."""
    low = torch.full((count,), torch.inf, device=device)
    high = -low
    for logits in blocks:
        low = torch.minimum(low, logits.amin(dim=1))
        high = torch.maximum(high, logits.amax(dim=1))
    spread = high - low
    factor = torch.where(spread > SMALLEST_RANGE, 1 / spread, 0)
    return RowScales("min-max", factor, -torch.where(factor > 0, low, 0) * factor)


def softmax(
    blocks: Iterable[Float[Tensor, "row _"]], degrees: Float[Tensor, " row"], device: torch.device
) -> RowScales:
    """Rows whose memberships add up to the number of observed tails, or to one."""
    total = torch.full((len(degrees),), -torch.inf, device=device)
    for logits in blocks:
        total = torch.logaddexp(total, logits.logsumexp(dim=1))
    shift = degrees.clamp(min=1).log() - torch.where(total.isfinite(), total, 0)
    return RowScales("softmax", torch.ones_like(shift), shift)
