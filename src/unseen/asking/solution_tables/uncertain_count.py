"""The probability that the number of some uncertain things is above or below a bound.

The things count as independent of each other. Then their number has a Poisson binomial distribution, which is computed
exactly, one thing after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LONGEST = 4096
"""Numbers beyond the known one that have a probability of their own."""
_COMPARED = {
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "=": np.equal,
    "!=": np.not_equal,
}


@dataclass(frozen=True)
class UncertainCount:
    """A known number, and the distribution of how many there are beyond it."""

    known: int
    chances: NDArray[np.float64]
    """The chance of none, one, two, ... beyond what is known."""

    @classmethod
    def of(cls, known: int, probabilities: Sequence[float]) -> UncertainCount:
        """The number of things when some are known and others have a probability."""
        chances = np.zeros(min(len(probabilities), LONGEST) + 1)
        chances[0] = 1.0
        for probability in probabilities:
            shifted = np.concatenate([[0.0], chances[:-1]])
            shifted[-1] += chances[-1]
            chances = chances * (1 - probability) + shifted * probability
        return cls(known, chances)

    def chance(self, sign: str, number: float) -> float:
        """The chance that the number stands in a relation (`>`, `<=`, ...) to another one."""
        numbers = self.known + np.arange(len(self.chances))
        return float(self.chances[_COMPARED[sign](numbers, number)].sum())
