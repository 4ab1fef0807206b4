"""How many answers a question is expected to have, and an interval for that number.

The expected number is the sum of all probabilities. If answers were independent, their number would follow the
Poisson-binomial distribution. They depend on each other in two ways, and both make the interval wider:

- what comes by one uncertain member of an inner set comes together. Such candidates have the same probability of what
  carries them (`carried`), to the last bit, and are one event with as many answers as are then expected;
- where a method takes a relation for too complete or too incomplete in a graph, it errs about all candidates in the
  same direction. So all log-odds share an unknown shift, normal with the deviation `SHARED`, or `SHARED_INNER` for a
  step from an inner variable, where methods err more. Both were chosen on validation questions.

The number of answers is a mixture over some shifts. The mean is above the median where a few unlikely members would
bring many answers at once. Cost: one pass over all probabilities, and a small table for each likely candidate.
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
SHARED = 1.5
"""The deviation of what all log-odds of a question have in common."""
SHARED_INNER = 2.0
"""The same for a question with an inner variable."""
CERTAIN = 1 - 1e-6
LIKELY = 0.05
"""Probabilities below this are counted as a Poisson number."""
MOST_COUNTED = 256
"""Candidates that are counted exactly; of more the number is taken to be normal."""
LEAST_TIED = 4
"""Candidates of one probability that are taken to come together."""
LEAST_CARRIED = 1e-4
MOST_GROUPS = 64
"""Groups of candidates that come together, those with the most expected answers; others count as independent."""
MOST_STEPS = 4096
"""Numbers that are told apart; larger ones are rounded."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True)
class ExpectedNumber:
    """The expected number of answers, known ones included, and an interval in which the true number lies."""

    mean: float
    median: int
    """The number that the true one exceeds as often as not."""
    low: int
    high: int
    share: float = SHARE
    """How often the true number is expected to lie from `low` to `high`."""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        numbers = {"mean": round(self.mean, 3), "median": self.median, "low": self.low, "high": self.high}
        return numbers | {"share": self.share}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> ExpectedNumber:
        """The number of `as_json`."""
        median, low, high = (int(plain[name]) for name in ("median", "low", "high"))
        return cls(float(plain["mean"]), median, low, high, float(plain["share"]))

    def __str__(self) -> str:
        shown = f"{self.mean:.1f}" if self.mean < 99.5 else f"{self.mean:,.0f}"
        return f"{shown} expected ({self.share:.0%} between {self.low:,} and {self.high:,})"


def expected_number(
    probabilities: NDArray[np.floating],
    carried: NDArray[np.floating] | None = None,
    *,
    share: float = SHARE,
    shared: float | None = None,
) -> ExpectedNumber:
    """The expected number of answers by the probabilities of all candidates, and an interval.

    `carried` are the probabilities of what candidates come by: where several have the same, they come together.
    """
    if shared is None:
        shared = SHARED if carried is None else SHARED_INNER
    values = np.clip(probabilities, 0, 1).astype(np.float64)
    certain, is_open = int((values >= CERTAIN).sum()), (values > 0) & (values < CERTAIN)
    mean = float(values.sum())
    chances, sizes, alone = _grouped(values[is_open], None if carried is None else carried[is_open])
    edges = ((1 - share) / 2, 0.5, (1 + share) / 2)
    low, median, high = (certain + one for one in _quantiles(alone, chances, sizes, edges, shared))
    return ExpectedNumber(mean, median, min(low, int(mean)), max(high, round(mean)), share)


def _grouped(values: Floats, carried: NDArray[np.floating] | None) -> tuple[Floats, Floats, Floats]:
    """Candidates that come together, as chances and numbers of answers; and the probabilities of all others."""
    if carried is None or not len(values):
        return np.empty(0), np.empty(0), values
    keys, group, counts = np.unique(carried, return_inverse=True, return_counts=True)
    is_tied = (counts >= LEAST_TIED) & (keys >= LEAST_CARRIED) & (keys < CERTAIN)
    sums = np.bincount(group, weights=values, minlength=len(keys))
    chosen = np.flatnonzero(is_tied)
    chosen = chosen[np.argsort(-sums[chosen], kind="stable")[:MOST_GROUPS]]
    is_alone = ~np.isin(group, chosen)
    chances = keys[chosen].astype(np.float64)
    return chances, sums[chosen] / chances, values[is_alone]


def _quantiles(
    alone: Floats, chances: Floats, sizes: Floats, edges: tuple[float, ...], shared: float
) -> tuple[int, ...]:
    """The smallest numbers whose cumulative chance reaches each of the edges."""
    if not len(alone) and not len(chances):
        return tuple(0 for _ in edges)
    shifts = shared * _NODES[:, None] if shared else np.zeros((1, 1))
    weights = _WEIGHTS / _WEIGHTS.sum() if shared else np.ones(1)
    counted, step = _table_of(alone, shifts, shared, float(sizes.sum()))
    table = _with_groups(counted, _shifted(chances[None, :], shifts), sizes / step)
    cumulative = np.cumsum(weights @ table)
    return tuple(int(np.searchsorted(cumulative, edge * cumulative[-1])) * step for edge in edges)


def _table_of(alone: Floats, shifts: Floats, shared: float, more: float) -> tuple[Floats, int]:
    """For each shift the chance of each number of independent candidates, in steps of so many."""
    is_likely = alone >= LIKELY
    likely = _shifted(alone[is_likely][None, :], shifts)
    rest = alone[~is_likely].sum() * np.exp(shifts[:, 0] - shared**2 / 2)
    is_small = likely.shape[1] <= MOST_COUNTED and rest.max() <= MOST_COUNTED and more <= MOST_STEPS
    if is_small:
        return _with_poisson(_counted(likely), rest), 1
    means, variances = likely.sum(axis=1) + rest, (likely * (1 - likely)).sum(axis=1) + rest
    largest = float((means + 6 * np.sqrt(variances)).max()) + 1
    step = max(1, int(np.ceil((largest + more) / MOST_STEPS)))
    return _normal_table(means, variances, int(largest / step) + 2, step), step


def _with_groups(table: Floats, chances: Floats, sizes: Floats) -> Floats:
    """The table with groups added, each of which comes as a whole or not at all."""
    jumps = np.maximum(np.round(sizes).astype(int), 0)
    found = np.concatenate([table, np.zeros((len(table), int(jumps.sum())))], axis=1)
    for place, jump in enumerate(jumps.tolist()):
        one = chances[:, place : place + 1]
        moved = np.zeros_like(found)
        moved[:, jump:] = found[:, : found.shape[1] - jump]
        found = found * (1 - one) + moved * one
    return found


def _shifted(probabilities: Floats, shifts: Floats) -> Floats:
    """Probabilities with shifted log-odds."""
    found: Floats = 1 / (1 + np.exp(np.log1p(-probabilities) - np.log(probabilities) - shifts))
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


def _normal_table(means: Floats, variances: Floats, length: int, step: int) -> Floats:
    """For each row the chance of each multiple of a step, of a normal number."""
    numbers = np.arange(length) * step
    table: Floats = np.exp(-((numbers - means[:, None]) ** 2) / (2 * np.maximum(variances, step**2 / 4)[:, None]))
    table /= table.sum(axis=1, keepdims=True)
    return table
