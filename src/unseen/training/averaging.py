"""An exponential average of the weights over the steps: steadier than the last weights, and usually better.

    a₀ = w₀,   a_t = d_t a_(t-1) + (1 - d_t) w_t,   d_t = min(decay, (1 + t) / (10 + t))

so that the first weights are soon forgotten. Validation and `best.safetensors` see the average;
Adam goes on from the weights themselves. The average lives in the optimizer's state, so checkpoints carry it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

KEY = "average"


class WeightAverage:
    """The average of all weights of an optimizer; with decay 0 there is none."""

    def __init__(self, optimizer: torch.optim.Optimizer, decay: float) -> None:
        self.optimizer, self.decay = optimizer, decay

    def update(self, step: int) -> None:
        """Take the weights after step number `step` (counted from 1) in."""
        if not self.decay:
            return
        weights = self._weights()
        for weight in weights:
            if KEY not in self.optimizer.state[weight]:
                self.optimizer.state[weight][KEY] = weight.detach().clone()
        decay = min(self.decay, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(self._averages(weights), weights, 1 - decay)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Inside, the model has the average; afterwards its own weights again, to the bit."""
        weights = [weight for weight in self._weights() if self.decay and KEY in self.optimizer.state[weight]]
        own = [weight.detach().clone() for weight in weights]
        try:
            _put(self._averages(weights), weights)
            yield
        finally:
            _put(own, weights)

    def _weights(self) -> list[Tensor]:
        return [weight for group in self.optimizer.param_groups for weight in group["params"]]

    def _averages(self, weights: list[Tensor]) -> list[Tensor]:
        return [self.optimizer.state[weight][KEY] for weight in weights]


def _put(values: list[Tensor], weights: list[Tensor]) -> None:
    with torch.no_grad():
        for value, weight in zip(values, weights, strict=True):
            weight.copy_(value)
