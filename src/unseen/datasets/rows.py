"""Set operations on rows of sorted ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.query_table import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray


def difference(left: Ragged, right: Ragged) -> Ragged:
    """In each row, what `left` has and `right` has not."""
    keys, other = _keys(left), _keys(right)
    return _rows(keys[~np.isin(keys, other, assume_unique=True)], len(left))


def union(left: Ragged, right: Ragged) -> Ragged:
    """In each row, what either has."""
    return _rows(np.union1d(_keys(left), _keys(right)), len(left))


def first_shared(left: Ragged, right: Ragged) -> int | None:
    """The first row in which both have the same id."""
    keys, other = _keys(left), _keys(right)
    places = np.searchsorted(keys, other)
    if len(keys) == 0:
        return None
    shared = np.flatnonzero(keys[np.minimum(places, len(keys) - 1)] == other)
    return int(other[shared[0]] >> 32) if len(shared) else None


def _keys(rows: Ragged) -> NDArray[np.int64]:
    """Row number and id in one number."""
    return np.repeat(np.arange(len(rows), dtype=np.int64), rows.lengths) << 32 | rows.values


def _rows(keys: NDArray[np.int64], count: int) -> Ragged:
    lengths = np.bincount(keys >> 32, minlength=count).astype(np.int64)
    return Ragged.from_lengths(lengths, (keys & 0xFFFFFFFF).astype(np.int32))
