"""Tables of values of variables, joined with the edges of a graph.

A table has a column of ids for each variable, and every row once. Joining it with an edge pattern looks up the edges of
the rows it has (never the product of both), and columns that nobody needs any more are dropped on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.formula import Variable

    Ids = NDArray[np.int32]
    Places = NDArray[np.int64]

MOST_ROWS = 20_000_000
"""Rows of the largest table."""
MOST_CELLS = 40_000_000
"""Values of the largest table: some hundreds of megabytes while it is made."""


@dataclass(frozen=True)
class Bindings:
    """Values of some variables, a column each; without any variable it only says whether something holds."""

    columns: Mapping[Variable, Ids]
    rows: int

    @classmethod
    def always(cls) -> Bindings:
        """One row without columns: true for all values."""
        return cls({}, 1)

    @classmethod
    def never(cls, variables: Iterable[Variable]) -> Bindings:
        """No row."""
        return cls({variable: np.empty(0, np.int32) for variable in variables}, 0)

    def taken(self, places: Places | NDArray[np.bool_]) -> Bindings:
        """Some of the rows."""
        rows = int(places.sum()) if places.dtype == bool else len(places)
        return Bindings({variable: column[places] for variable, column in self.columns.items()}, rows)

    def with_column(self, variable: Variable, values: Ids) -> Bindings:
        """The same rows with one more column."""
        return Bindings({**self.columns, variable: values}, self.rows)

    def projected(self, variables: Iterable[Variable]) -> Bindings:
        """The columns of some variables, each row once, in order."""
        kept = {variable: self.columns[variable] for variable in variables}
        if not kept:
            return Bindings({}, min(1, self.rows))
        places = _first_of_each(list(kept.values()))
        return Bindings({variable: column[places] for variable, column in kept.items()}, len(places))

    def joined(self, other: Bindings) -> Bindings:
        """Rows of both that agree on the variables they share."""
        shared = [variable for variable in self.columns if variable in other.columns]
        keys = _keys([self.columns[v] for v in shared], [other.columns[v] for v in shared], self, other)
        mine, theirs = _matching(*keys, len(self.columns.keys() | other.columns.keys()))
        columns = {variable: column[mine] for variable, column in self.columns.items()}
        columns |= {v: column[theirs] for v, column in other.columns.items() if v not in columns}
        return Bindings(columns, len(mine))

    def without(self, other: Bindings) -> Bindings:
        """Rows for which the other table, whose variables are among these, has none."""
        shared = list(other.columns)
        if not shared:
            return self if other.rows == 0 else self.taken(np.empty(0, np.int64))
        mine, theirs = _keys([self.columns[v] for v in shared], [other.columns[v] for v in shared], self, other)
        return self.taken(~np.isin(mine, theirs))


def union_of(tables: Sequence[Bindings], variables: Sequence[Variable]) -> Bindings:
    """The rows of several tables over the same variables, each once."""
    columns = {v: np.concatenate([table.columns[v] for table in tables]) for v in variables}
    return Bindings(columns, sum(table.rows for table in tables)).projected(variables)


def followed(graph: KnowledgeGraph, table: Bindings, directed: int, sources: Ids, variable: Variable) -> Bindings:
    """The table with a column for what a relation leads to from a source of each row."""
    return followed_in(*graph.edges_from(directed), table, sources, variable)


def followed_in(starts: Ids, ends: Ids, table: Bindings, sources: Ids, variable: Variable) -> Bindings:
    """The same for pairs sorted by start, then end."""
    first, last = np.searchsorted(starts, sources), np.searchsorted(starts, sources, side="right")
    lengths = last - first
    _check_size(int(lengths.sum()), len(table.columns) + 1)
    rows = np.repeat(np.arange(table.rows), lengths)
    edges = np.repeat(first - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
    return table.taken(rows).with_column(variable, ends[edges])


def linked(graph: KnowledgeGraph, directed: int, sources: Ids, targets: Ids) -> NDArray[np.bool_]:
    """For each pair, whether the relation leads from one to the other."""
    return linked_in(*graph.edges_from(directed), sources, targets)


def linked_in(starts: Ids, ends: Ids, sources: Ids, targets: Ids) -> NDArray[np.bool_]:
    """The same for pairs sorted by start, then end."""
    keys = (starts.astype(np.int64) << 32) + ends
    wanted = (sources.astype(np.int64) << 32) + targets
    if not len(keys):
        return np.zeros(len(wanted), bool)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: NDArray[np.bool_] = keys[places] == wanted
    return found


def _check_size(rows: int, columns: int) -> None:
    check_stop()
    most = min(MOST_ROWS, MOST_CELLS // columns)
    if rows > most:
        raise QueryRefused(f"it has more than {most:,} matches on the way: name an entity, or say more about it")


def _first_of_each(columns: list[Ids]) -> Places:
    """Places of the first of equal rows, in the order of their values."""
    order = np.lexsort(columns[::-1])
    if not len(order):
        return order
    is_new = np.zeros(len(order), bool)
    is_new[0] = True
    for column in columns:
        sorted_column = column[order]
        is_new[1:] |= sorted_column[1:] != sorted_column[:-1]
    places: Places = order[is_new]
    return places


def _keys(mine: list[Ids], theirs: list[Ids], left: Bindings, right: Bindings) -> tuple[Places, Places]:
    """A number for each row of both, equal where all columns are."""
    first, second = np.zeros(left.rows, np.int64), np.zeros(right.rows, np.int64)
    for one, other in zip(mine, theirs, strict=True):
        both = np.concatenate([first, second]) * (1 << 31) + np.concatenate([one, other])
        _, numbers = np.unique(both, return_inverse=True)
        first, second = numbers[: left.rows], numbers[left.rows :]
    return first, second


def _matching(first: Places, second: Places, columns: int) -> tuple[Places, Places]:
    """Places of all pairs with equal keys, of which a table with so many columns is made."""
    order = np.argsort(second, kind="stable")
    low, high = (np.searchsorted(second[order], first, side=side) for side in ("left", "right"))
    lengths = high - low
    _check_size(int(lengths.sum()), columns)
    rows = np.repeat(np.arange(len(first)), lengths)
    within = np.repeat(low - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
    return rows, order[within]
