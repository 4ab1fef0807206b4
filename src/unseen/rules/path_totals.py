"""How many paths each body of one or two edges has in a graph: counted exactly at the entity in the middle.

Samples of sources miss hubs that few of them lead to, and with them most of the paths. Counting paths needs no sample:
an entity with m edges in and n edges out is the middle of m n of them. Cost: for each entity the square of the number
of its directed relations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.graph.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.rounds import Round

MOST_CELLS = 1 << 24
"""Pairs of directed relations that paths are counted for: a table of 128 MB."""
ENTITIES_AT_ONCE = 50_000


class PathTotals:
    """The paths of bodies: `singles[a]` and `doubles[a, b]`. Paths that return to their start count too."""

    def __init__(self, singles: NDArray[np.float64], doubles: NDArray[np.float64]) -> None:
        self.singles, self.doubles = singles, doubles

    def of(self, bodies: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each body that is written as a number; NaN for those of three edges."""
        base = len(self.singles) + 1
        first, second, third = bodies % base, bodies // base % base - 1, bodies // base**2
        found = np.where(second < 0, self.singles[first], self.doubles[first, np.maximum(second, 0)])
        return np.where(third > 0, np.nan, found)


def path_totals(this: Round) -> PathTotals | None:
    """The paths of all bodies; None if there are too many relations, or no time."""
    adjacency, count = this.adjacency, this.adjacency.num_relations
    if count**2 > MOST_CELLS:
        return None
    doubles = np.zeros((count, count))
    for low in range(0, adjacency.num_entities, ENTITIES_AT_ONCE):  # Ctrl-C and the clock count between two calls
        if this.is_late():
            return None
        _add_paths(adjacency, low, min(low + ENTITIES_AT_ONCE, adjacency.num_entities), doubles)
    sizes = np.diff(adjacency.row_edges).astype(np.float64)
    return PathTotals(np.bincount(adjacency.row_relation, sizes, count).astype(np.float64), doubles)


@compiled
@no_type_check
def _add_paths(adjacency, low, high, totals):
    for y in range(low, high):
        begin, end = adjacency.entity_rows[y], adjacency.entity_rows[y + 1]
        for first in range(begin, end):
            size = np.float64(adjacency.row_edges[first + 1] - adjacency.row_edges[first])
            own = adjacency.row_relation[first] ^ 1
            for second in range(begin, end):
                totals[own, adjacency.row_relation[second]] += size * (
                    adjacency.row_edges[second + 1] - adjacency.row_edges[second]
                )
