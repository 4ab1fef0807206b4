"""Questions that can hardly have an answer: they join relations that no entity of the graph joins.

Only ends of relations are looked at, so this is known before anything is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.vocabulary import inverse_relation, is_inverse, undirected_relation
from unseen.logic.algebra import And, Given, Project, Query

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int32]
    Said = tuple[Ids, str]
    """Entities, and what says that a member must be one of them."""


class _Ends:
    """Walks a query and notes relations that the graph never joins."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.found: list[str] = []

    def possible(self, query: Query) -> Said | None:
        """Who can be a member by the ends that relations have, and what says so; None if nothing says anything."""
        match query:
            case Given():
                return query.members.ids, query.text or "the given entities"
            case Project(relation=int(directed)):
                self._joined(self.possible(query.source), directed)
                return self.graph.range_of(directed)[0], self._end(directed, "leads to")
            case And():
                return self._intersected([self.possible(part) for part in query.parts])
            case _:
                for child in query.children:
                    self.possible(child)
        return None

    def _joined(self, source: Said | None, directed: int) -> None:
        starts = self.graph.range_of(int(inverse_relation(directed)))[0]
        if source is not None:
            self._check(source, (starts, self._end(directed, "starts from")))

    def _intersected(self, parts: list[Said | None]) -> Said | None:
        said = [part for part in parts if part is not None]
        for place, part in enumerate(said):
            for other in said[:place]:
                self._check(other, part)
        return min(said, key=lambda part: len(part[0]), default=None)

    def _check(self, first: Said, second: Said) -> None:
        if not len(np.intersect1d(first[0], second[0], assume_unique=True)):
            self.found.append(f"no entity of this graph is both {first[1]} and {second[1]}")

    def _end(self, directed: int, role: str) -> str:
        name = self.graph.vocabulary.relations.name(undirected_relation(directed))
        forwards = is_inverse(directed) == (role == "starts from")
        return f"at the {'end' if forwards else 'start'} of `{name}`"


def impossible_joins(graph: KnowledgeGraph, query: Query) -> list[str]:
    """Why a question can hardly have an answer: relations that the graph never joins; empty if there is no reason.

    Cost: the ends of each relation of the question, which are found once for a graph.
    """
    ends = _Ends(graph)
    ends.possible(query)
    return list(dict.fromkeys(ends.found))
