"""Many queries of one shape with their answers, in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from unseen.logic.algebra import Query
    from unseen.logic.shapes import Shape

    Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of different lengths: row i is `values[offsets[i]:offsets[i + 1]]`; sets of ids are kept sorted."""

    offsets: NDArray[np.int64]
    values: Ids

    @classmethod
    def from_rows(cls, rows: Sequence[ArrayLike]) -> Ragged:
        """The rows one after the other."""
        arrays = [np.asarray(row, np.int32) for row in rows]
        values = np.concatenate(arrays) if arrays else np.empty(0, np.int32)
        return cls.from_lengths(np.array([len(row) for row in arrays], np.int64), values)

    @classmethod
    def from_lengths(cls, lengths: NDArray[np.int64], values: Ids) -> Ragged:
        """Rows of these lengths, cut from `values`."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(offsets, values)

    @classmethod
    def empty(cls, count: int) -> Ragged:
        """`count` rows without a value."""
        return cls(np.zeros(count + 1, np.int64), np.empty(0, np.int32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many values each row has."""
        return np.diff(self.offsets)

    def row(self, index: int) -> Ids:
        """The values of one row: a view."""
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def take(self, rows: ArrayLike) -> Ragged:
        """Some of the rows, in the order asked for."""
        chosen = np.asarray(rows, np.int64)
        lengths = self.lengths[chosen]
        shift = self.offsets[chosen] - (np.cumsum(lengths) - lengths)
        return Ragged.from_lengths(lengths, self.values[np.repeat(shift, lengths) + np.arange(lengths.sum())])


@dataclass(frozen=True, eq=False)
class QueryTable:
    """Queries of one shape: row i of `slots` holds the ids of query i in reading order, relations as directed ids.

    `easy` are the answers that follow from the observed graph, `hard` those that follow only from the complete one;
    the two never overlap. How the easy answers of a negation are defined stands in the dataset's manifest.
    """

    shape: Shape
    slots: Ids
    easy: Ragged
    hard: Ragged

    def __len__(self) -> int:
        return len(self.slots)

    def query(self, index: int) -> Query:
        """One query as an expression with ids."""
        return self.shape.fill(self.slots[index].tolist())

    def take(self, rows: ArrayLike) -> QueryTable:
        """Some of the queries, in the order asked for."""
        chosen = np.asarray(rows, np.int64)
        return QueryTable(self.shape, self.slots[chosen], self.easy.take(chosen), self.hard.take(chosen))
