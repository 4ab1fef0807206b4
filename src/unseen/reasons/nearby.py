"""Edges near a link: those on short paths between its ends first, then other edges of both ends.

Of equally short paths, those through entities with few edges come first: they say most about this link. Cost: the
neighbours of both ends, and those of some of the source's.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.link import Link
from unseen.rules.adjacency import adjacency_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.link import Triple

    Ids = NDArray[np.int32]

NEIGHBOURS = 64
"""Neighbours of an end, those with the fewest edges, from which longer paths are looked for."""


def nearby_edges(graph: KnowledgeGraph, source: int, target: int, most: int) -> list[Triple]:
    """The first `most` edges (head, relation, tail), the nearest first, each once."""
    near = _Neighbourhood(graph)
    paths = chain(near.direct(source, target), near.over_one(source, target), near.over_two(source, target))
    found: dict[Triple, None] = {}
    for edge in chain(paths, near.of_ends(source, target)):
        found.setdefault(edge)
        if len(found) == most:
            break
    return list(found)


class _Neighbourhood:
    """Neighbours of entities, the ones with few edges first."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.adjacency = adjacency_of(graph)

    def direct(self, source: int, target: int) -> Iterator[Triple]:
        """Edges between two entities, of any relation and in both directions."""
        places = self._places(source)
        near = self.adjacency.near[places]
        first, last = np.searchsorted(near, target), np.searchsorted(near, target, side="right")
        for relation in self.adjacency.near_relation[places][first:last].tolist():
            yield Link(source, relation, target).triple

    def over_one(self, source: int, target: int) -> Iterator[Triple]:
        """Edges of paths over one other entity."""
        shared = np.intersect1d(self._neighbours(source), self._neighbours(target))
        for between in self._few_edges_first(shared[(shared != source) & (shared != target)]):
            yield from self.direct(source, between)
            yield from self.direct(between, target)

    def over_two(self, source: int, target: int) -> Iterator[Triple]:
        """Edges of paths over two other entities."""
        ends = self._neighbours(target)
        for first in self._few_edges_first(self._neighbours(source))[:NEIGHBOURS]:
            if first in (source, target):
                continue
            shared = np.intersect1d(self._neighbours(first), ends)
            for second in self._few_edges_first(shared[(shared != source) & (shared != target)])[:1]:
                yield from self.direct(source, first)
                yield from self.direct(first, second)
                yield from self.direct(second, target)

    def of_ends(self, source: int, target: int) -> Iterator[Triple]:
        """Edges of both ends, in turns."""
        sides = [(end, self._few_edges_first(self._neighbours(end))[:NEIGHBOURS]) for end in (source, target)]
        for turn in range(max(len(side) for _, side in sides)):
            for end, side in sides:
                if turn < len(side):
                    yield from self.direct(end, side[turn])

    def _places(self, entity: int) -> slice:
        rows, edges = self.adjacency.entity_rows, self.adjacency.row_edges
        return slice(int(edges[rows[entity]]), int(edges[rows[entity + 1]]))

    def _neighbours(self, entity: int) -> Ids:
        return np.unique(self.adjacency.near[self._places(entity)])

    def _few_edges_first(self, entities: Ids) -> list[int]:
        rows, edges = self.adjacency.entity_rows, self.adjacency.row_edges
        degrees = edges[rows[entities + 1]] - edges[rows[entities]]
        ordered: list[int] = entities[np.argsort(degrees, kind="stable")].tolist()
        return ordered
