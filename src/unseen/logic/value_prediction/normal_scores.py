"""Values as normal scores: the place of a value among all of its attribute, on the scale of a bell curve.

Scores make no difference between a linear and a logarithmic scale, and one far value counts no more than a far rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class NormalScores:
    """The distinct values of an attribute and their scores, both rising."""

    values: Numbers
    scores: Numbers

    @classmethod
    def of(cls, values: Numbers) -> NormalScores:
        """NormalScores of some values: the middle of the ranks of equal ones."""
        distinct, counts = np.unique(values, return_counts=True)
        middle = np.cumsum(counts) - counts / 2
        return cls(distinct, normal_quantiles(middle / counts.sum()))

    def score(self, values: Numbers) -> Numbers:
        """The scores of values, between those of the nearest."""
        return np.interp(values, self.values, self.scores)

    def value(self, scores: Numbers) -> Numbers:
        """The values of scores."""
        return np.interp(scores, self.scores, self.values)


def normal_quantiles(shares: Numbers) -> Numbers:
    """The normal distribution's quantiles, to three digits (Abramowitz and Stegun, 26.2.23)."""
    tail = np.minimum(shares, 1 - shares).clip(1e-9)
    root = np.sqrt(-2 * np.log(tail))
    above = 2.515517 + 0.802853 * root + 0.010328 * root**2
    below = 1 + 1.432788 * root + 0.189269 * root**2 + 0.001308 * root**3
    found: Numbers = np.where(shares < 0.5, -1, 1) * (root - above / below)
    return found
