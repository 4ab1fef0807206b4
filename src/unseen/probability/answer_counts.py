"""How many answers a question is expected to have, and an interval for that number.

The expected number is the sum of all probabilities. If answers were independent, their number would follow the
Poisson-binomial distribution. They depend on each other in two ways, and both make the interval wider:

- what comes by one uncertain member of an inner set comes together. Such candidates have the same probability of what
  carries them (`carried`), to the last bit, and are one event with as many answers as are then expected;
- where a method takes a relation for too complete or too incomplete in a graph, it errs about all candidates in the
  same direction. So all log-odds share an unknown shift, normal with the deviation `SHARED`, or `SHARED_INNER` for a
  step from an inner variable, where methods err more. Both were chosen on validation questions.

The number of answers is a mixture over some shifts. The mean is above the median where a few unlikely members would
bring many answers at once. Chances are computed only up to a number that lies beyond the interval: one pass over all
probabilities, and one over a small table for each likely candidate and each group.
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
MOST_COUNTED = 1 << 17
"""Likely candidates times numbers; of more candidates the number is taken to be normal."""
LEAST_TIED = 4
"""Candidates of one probability that are taken to come together."""
LEAST_CARRIED = 1e-4
MOST_GROUPS = 64
"""Groups of candidates that come together, those with the most expected answers; others count as independent."""
MOST_STEPS = 4096
"""Numbers that are told apart; larger ones are rounded."""
LEAST_WEIGHT = 1e-4
"""Shifts of less weight move no end of an interval."""


def _shifts_and_weights() -> tuple[Floats, Floats]:
    """Shifts with deviation 1 in rising order, and how often each comes."""
    shifts, weights = np.polynomial.hermite_e.hermegauss(15)
    weights /= weights.sum()
    is_kept = weights >= LEAST_WEIGHT
    return shifts[is_kept], weights[is_kept] / weights[is_kept].sum()


_NODES, _WEIGHTS = _shifts_and_weights()
_LOG_FACTORIALS = np.cumsum(np.log(np.maximum(np.arange(MOST_STEPS + 2), 1)))


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
    is_possible = probabilities > 0
    values = np.minimum(probabilities[is_possible], 1).astype(np.float64)
    is_open = values < CERTAIN
    certain, mean = len(values) - int(is_open.sum()), float(values.sum())
    chances, sizes, alone = _grouped(values[is_open], None if carried is None else carried[is_possible][is_open])
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
    is_chosen = np.zeros(len(keys), bool)
    is_chosen[chosen] = True
    chances = keys[chosen].astype(np.float64)
    return chances, sums[chosen] / chances, values[~is_chosen[group]]


def _quantiles(
    alone: Floats, chances: Floats, sizes: Floats, edges: tuple[float, ...], shared: float
) -> tuple[int, ...]:
    """The smallest numbers whose cumulative chance reaches each of the edges."""
    if not len(alone) and not len(chances):
        return tuple(0 for _ in edges)
    shifts, weights = (shared * _NODES[:, None], _WEIGHTS) if shared else (np.zeros((1, 1)), np.ones(1))
    is_likely = alone >= LIKELY
    likely, groups = _shifted(alone[is_likely], shifts), _shifted(chances, shifts)
    rest = alone[~is_likely].sum() * np.exp(shifts[:, 0] - shared**2 / 2)
    most = _beyond(likely, rest, groups, sizes, weights, edges[-1])
    step = 1 + most // MOST_STEPS
    table = _with_groups(_table_of(likely, rest, 2 + most // step, step), groups, sizes / step)
    cumulative = np.cumsum(weights @ table)
    return tuple(int(np.searchsorted(cumulative, edge)) * step for edge in edges)


def _beyond(likely: Floats, rest: Floats, groups: Floats, sizes: Floats, weights: Floats, edge: float) -> int:
    """A number whose cumulative chance is above the edge.

    Numbers rise with the shift. So it is enough that at one shift, with somewhat more than this chance up to it, the
    number is exceeded seldom enough; Cantelli's inequality says how far from the mean that is.
    """
    cumulative = np.cumsum(weights)
    place = min(int(np.searchsorted(cumulative, (1 + edge) / 2)), len(weights) - 1)
    one, group, share = likely[place], groups[place], min(edge / cumulative[place], CERTAIN)
    mean = one.sum() + rest[place] + group @ sizes
    variance = (one * (1 - one)).sum() + rest[place] + (group * (1 - group)) @ sizes**2
    return int(mean + np.sqrt(variance * share / (1 - share))) + 1


def _table_of(likely: Floats, rest: Floats, length: int, step: int) -> Floats:
    """For each shift the chance of each number of independent candidates, in steps of so many, up to a length."""
    if step == 1 and likely.shape[1] * length <= MOST_COUNTED:
        return _with_groups(_poisson_table(rest, length), likely, np.ones(likely.shape[1]))
    return _normal_table(likely.sum(axis=1) + rest, (likely * (1 - likely)).sum(axis=1) + rest, length, step)


def _with_groups(table: Floats, chances: Floats, sizes: Floats) -> Floats:
    """The table with groups added, each of which comes as a whole or not at all."""
    for one, jump in zip(chances.T[:, :, None], np.round(sizes).astype(int).tolist(), strict=True):
        moved = table[:, : max(0, table.shape[1] - jump)] * one
        table = table * (1 - one)
        table[:, jump:] += moved
    return table


def _shifted(probabilities: Floats, shifts: Floats) -> Floats:
    """Row by row the probabilities with shifted log-odds."""
    found: Floats = 1 / (1 + np.exp(np.log1p(-probabilities) - np.log(probabilities) - shifts))
    return found


def _poisson_table(rates: Floats, length: int) -> Floats:
    """For each row the chance of each number up to a length, of a Poisson number."""
    logs = np.arange(length) * np.log(np.maximum(rates, 1e-300))[:, None] - _LOG_FACTORIALS[:length] - rates[:, None]
    found: Floats = np.exp(logs)
    return found


def _normal_table(means: Floats, variances: Floats, length: int, step: int) -> Floats:
    """For each row the chance of each multiple of a step, of a normal number that is rounded."""
    from torch import from_numpy
    from torch.special import ndtr

    deviations = np.sqrt(np.maximum(variances, 1e-12))
    ends = (np.arange(length) + 0.5) * step
    cumulative = ndtr(from_numpy((ends - means[:, None]) / deviations[:, None])).numpy()
    return np.diff(cumulative, axis=1, prepend=0)
