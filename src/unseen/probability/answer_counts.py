"""How many answers a question is expected to have, and an interval for that number.

The expected number is the sum of all probabilities. If answers were independent, their number would follow the
Poisson-binomial distribution. They are not quite: where a method takes a relation for too complete or too incomplete in
a graph, it errs about all candidates in the same direction. So all log-odds share an unknown shift, normal with the
deviation `SHARED`; the number of answers is a mixture over some values of it, each a Poisson-binomial. The shift leaves
the expected number as it is, about.

Likely candidates are counted exactly, unlikely ones as a Poisson number. Cost: one pass over all probabilities, and a
small table for each likely candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHARE = 0.8
"""How often the number lies in the interval."""
SHARED = 0.7
"""The deviation of what all log-odds of a question have in common."""
CERTAIN = 1 - 1e-6
LIKELY = 0.05
"""Probabilities below this are counted as a Poisson number."""
MOST_COUNTED = 256
"""Candidates that are counted exactly; of more the number is taken to be normal."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)


@dataclass(frozen=True)
class ExpectedNumber:
    """The expected number of answers, known ones included, and an interval in which the true number lies."""

    mean: float
    low: int
    high: int
    share: float = SHARE
    """How often it is expected to lie there."""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"mean": round(self.mean, 3), "low": self.low, "high": self.high, "share": self.share}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> ExpectedNumber:
        """The number of `as_json`."""
        return cls(float(plain["mean"]), int(plain["low"]), int(plain["high"]), float(plain["share"]))

    def __str__(self) -> str:
        shown = f"{self.mean:.1f}" if self.mean < 99.5 else f"{self.mean:,.0f}"
        return f"{shown} expected ({self.share:.0%} between {self.low:,} and {self.high:,})"


def expected_number(
    probabilities: NDArray[np.floating], share: float = SHARE, shared: float = SHARED
) -> ExpectedNumber:
    """The expected number of answers by the probabilities of all candidates, and an interval."""
    values = np.clip(probabilities, 0, 1)
    certain, uncertain = int((values >= CERTAIN).sum()), values[(values > 0) & (values < CERTAIN)].astype(np.float64)
    mean = float(values.sum(dtype=np.float64))
    edges = ((1 - share) / 2, (1 + share) / 2)
    low, high = _interval(uncertain, edges, shared)
    return ExpectedNumber(mean, certain + low, certain + high, share)


def _interval(probabilities: Floats, edges: tuple[float, float], shared: float) -> tuple[int, int]:
    """The smallest numbers whose cumulative chance reaches each of the edges."""
    if not len(probabilities):
        return 0, 0
    is_likely = probabilities >= LIKELY
    likely, unlikely = probabilities[is_likely], probabilities[~is_likely].sum()
    shifts = shared * _NODES[:, None] if shared else np.zeros((1, 1))
    weights = _WEIGHTS / _WEIGHTS.sum() if shared else np.ones(1)
    shifted, rest = _shifted(likely[None, :], shifts, shared), unlikely * np.exp(shifts[:, 0] - shared**2 / 2)
    if len(likely) > MOST_COUNTED or rest.max() > MOST_COUNTED:
        return _normal_interval(shifted, rest, weights, edges)
    chances = np.cumsum(weights @ _with_poisson(_counted(shifted), rest))
    low, high = (int(np.searchsorted(chances, edge * chances[-1])) for edge in edges)
    return low, high


def _shifted(probabilities: Floats, shifts: Floats, shared: float) -> Floats:
    """Probabilities with shifted log-odds, so that the mean over all shifts stays, about."""
    logits = np.log(probabilities) - np.log1p(-probabilities)
    towards = shared**2 / 2 * (1 - 2 * probabilities)
    found: Floats = 1 / (1 + np.exp(-(logits + shifts - towards)))
    return found


def _counted(probabilities: Floats) -> Floats:
    """Row by row the chance of each number of events, from none to all."""
    rows, count = probabilities.shape
    chances = np.zeros((rows, count + 1))
    chances[:, 0] = 1
    for place in range(count):
        one = probabilities[:, place : place + 1]
        chances[:, 1 : place + 2] = chances[:, 1 : place + 2] * (1 - one) + chances[:, : place + 1] * one
        chances[:, :1] *= 1 - one
    return chances


def _with_poisson(chances: Floats, rates: Floats) -> Floats:
    """The same with an independent Poisson number added to each row."""
    most = int(rates.max() + 8 * np.sqrt(rates.max()) + 8)
    numbers = np.arange(1, most + 1)
    steps = np.log(np.maximum(rates, 1e-300))[:, None] - np.log(numbers)
    logs = np.concatenate([np.zeros((len(rates), 1)), np.cumsum(steps, axis=1)], axis=1) - rates[:, None]
    return np.stack([np.convolve(row, np.exp(log)) for row, log in zip(chances, logs, strict=True)])


def _normal_interval(shifted: Floats, rest: Floats, weights: Floats, edges: tuple[float, float]) -> tuple[int, int]:
    """The interval of a mixture of normal numbers, by their mean and variance together."""
    from statistics import NormalDist

    means = shifted.sum(axis=1) + rest
    variances = (shifted * (1 - shifted)).sum(axis=1) + rest
    mean = float(weights @ means)
    spread = float(weights @ (variances + means**2)) - mean**2
    normal = NormalDist(mean, max(spread, 1e-9) ** 0.5)
    low, high = (max(0, round(normal.inv_cdf(edge))) for edge in edges)
    return low, high
