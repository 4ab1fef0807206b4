"""Whether probabilities can be believed: reliability, and the number of answers they add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import EvaluationError
from unseen.evaluation.results import AnswerCount, ReliabilityCurve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BINS = 10
LIKELY = 0.01
"""Probabilities up to this are nearly all of them, and say nothing about the rest."""


class Reliability:
    """Counts for a reliability diagram: bins of equal width over probabilities; any number of them streams through."""

    def __init__(self, bins: int = BINS) -> None:
        self.bins = bins
        self._counts = np.zeros(bins, np.int64)
        self._true = np.zeros(bins, np.int64)
        self._sums = np.zeros(bins)
        self._unlikely = np.zeros(3)

    def add(self, probabilities: NDArray[np.floating], is_true: NDArray[np.bool_]) -> None:
        """Probabilities between 0 and 1, and for each whether it came true."""
        flat = probabilities.ravel()
        places = np.minimum((flat * self.bins).astype(np.int64), self.bins - 1)
        self._counts += np.bincount(places, minlength=self.bins)
        self._sums += np.bincount(places, weights=flat, minlength=self.bins)
        self._true += np.bincount(places[is_true.ravel()], minlength=self.bins)
        unlikely = flat <= LIKELY
        self._unlikely += (unlikely.sum(), flat[unlikely].sum(dtype=np.float64), is_true.ravel()[unlikely].sum())

    def join(self, other: Reliability) -> None:
        """Add what another one has counted, in as many bins."""
        self._counts += other._counts
        self._sums += other._sums
        self._true += other._true
        self._unlikely += other._unlikely

    def result(self) -> ReliabilityCurve:
        """Mean probability and frequency of each bin, and the expected calibration error."""
        filled = np.maximum(self._counts, 1)
        counts, probability, frequency = (
            tuple(column.tolist()) for column in (self._counts, self._sums / filled, self._true / filled)
        )
        counted: Floats = np.stack([self._counts, self._sums, self._true]).astype(np.float64)
        likely = counted.copy()
        likely[:, 0] -= self._unlikely
        return ReliabilityCurve(_error(counted), counts, probability, frequency, _error(likely))


def _error(counted: Floats) -> float:
    """The expected calibration error of bins with their counts, summed probabilities and true ones."""
    counts, sums, true = counted
    return float(np.abs(sums - true).sum() / max(1, counts.sum()))


def answer_count(predicted: Floats, actual: Floats) -> AnswerCount:
    """Errors and rank correlation of predicted numbers of answers; `actual` numbers are positive."""
    mape = float(np.mean(np.abs(predicted - actual) / actual))
    return AnswerCount(mape, spearman(predicted, actual), float(predicted.mean()), float(actual.mean()))


def spearman(left: Floats, right: Floats) -> float | None:
    """Spearman's rho: the correlation of ranks, ties at their mean rank; None if one side is constant."""
    ranks = [_mean_ranks(side) for side in (left, right)]
    centred = [side - side.mean() for side in ranks]
    spread = float(np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum()))
    return float((centred[0] * centred[1]).sum() / spread) if spread > 0 else None


def checked_probabilities(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Values between 0 and 1, rounding errors cut; anything else is an error."""
    if not (values.min(initial=0) >= -1e-4 and values.max(initial=0) <= 1 + 1e-4):
        raise EvaluationError("the method gave a probability that is NaN or outside 0 … 1")
    clipped: NDArray[np.floating] = np.clip(values, 0, 1)
    return clipped


def _mean_ranks(values: Floats) -> Floats:
    """The rank of each value, equal ones at their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[inverse]
    return ranks
