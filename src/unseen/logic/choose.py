"""Which answers to show: the most probable ones, of all questions of a batch together.

Equal values come in the order of their ids, so that an answer does not depend on who was asked beside it. Cost: for
each question two passes over all entities, and a sort of the few that are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ids = NDArray[np.int32]
    Values = NDArray[np.float32]

MANY = 1 << 20
"""Columns from which on most values are taken to be zero."""
Ranked = list[tuple[int, float]]
"""Entities with their values, the largest first."""


def largest_of(entities: Ids, values: Values, count: int) -> Ranked:
    """The `count` most probable of some entities; `values[i]` belongs to `entities[i]`, which are in order."""
    places = largest(values, count)
    return list(zip(entities[places].tolist(), values[places].tolist(), strict=True))


def largest(values: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Positions of the largest values, largest first, equal ones by position. Cost: one pass, then a sort of few."""
    if count < 1:
        return np.empty(0, np.intp)
    if count < len(values):
        threshold = np.partition(values, len(values) - count)[len(values) - count]
        few = np.flatnonzero(values >= threshold)
    else:
        few = np.arange(len(values))
    return few[np.argsort(-values[few], kind="stable")][:count]


def largest_in_rows(values: NDArray[np.float32], counts: Sequence[int]) -> list[Ranked]:
    """For each row its `counts[row]` largest positive values with their columns, largest first, equal ones by column.

    The rows share every pass; a row alone gives the same.
    """
    num_columns = values.shape[1]
    counts = [max(count, 0) for count in counts]
    most = min(max(counts, default=0), num_columns)
    if most < 1:
        return [[] for _ in counts]
    rows, columns = np.divmod(np.flatnonzero(values >= _thresholds(values, counts, most)), num_columns)
    found = values[rows, columns]
    order = np.lexsort((columns, -found, rows))
    pairs = list(zip(columns[order].tolist(), found[order].tolist(), strict=True))
    starts = np.searchsorted(rows, np.arange(len(counts) + 1)).tolist()
    return [pairs[start:end][:count] for start, end, count in zip(starts[:-1], starts[1:], counts, strict=True)]


def _thresholds(values: NDArray[np.float32], counts: Sequence[int], most: int) -> NDArray[np.float32]:
    """The smallest value of each row that is shown; never zero or less."""
    smallest = np.nextafter(np.float32(0), np.float32(1))
    if values.shape[1] > MANY:
        return np.array(
            [[_threshold(row[row > 0], count, smallest)] for row, count in zip(values, counts, strict=True)]
        )
    tops = np.sort(np.partition(values, values.shape[1] - most, axis=1)[:, values.shape[1] - most :], axis=1)
    places = [max(0, most - max(count, 1)) for count in counts]
    thresholds: NDArray[np.float32] = np.maximum(tops[np.arange(len(counts)), places], smallest)[:, None]
    return thresholds


def _threshold(positive: NDArray[np.float32], count: int, smallest: np.float32) -> np.float32:
    """The same for one row by its positive values alone: to partition millions of zeros takes long."""
    if len(positive) <= max(count, 1):
        return smallest
    place = len(positive) - max(count, 1)
    return np.float32(np.partition(positive, place)[place])
