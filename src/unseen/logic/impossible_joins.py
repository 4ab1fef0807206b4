"""Questions that can hardly have an answer: they join relations that no entity of the graph joins.

Only ends of relations are looked at, so this is known before anything is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.vocabulary import inverse_relation, is_inverse, undirected_relation
from unseen.logic.algebra import Anchor, And, Given, Project, Query
from unseen.logic.formula import Atom, Formula, Variable
from unseen.logic.text_writer import quoted, quoted_relation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
            case Project(relation=int(directed), source=Anchor(entity=int(entity))):
                self._turned(entity, directed)
                return self.graph.range_of(directed)[0], self.end_of(directed)
            case Project(relation=int(directed)):
                self._joined(self.possible(query.source), directed)
                return self.graph.range_of(directed)[0], self.end_of(directed)
            case And():
                return self.intersected([self.possible(part) for part in query.parts])
            case _:
                for child in query.children:
                    self.possible(child)
        return None

    def _turned(self, entity: int, directed: int) -> None:
        """Note a named entity that is only at the other end of a relation whose ends have nothing in common."""
        starts = self.graph.range_of(int(inverse_relation(directed)))[0]
        ends = self.graph.range_of(directed)[0]
        if not contains(ends, entity) or len(np.intersect1d(starts, ends, assume_unique=True)):
            return
        name, entity_name = self.graph.vocabulary.relation_name(directed)[0], self.graph.vocabulary.entity_name(entity)
        shown = (f"x, {quoted(entity_name)}", f"{quoted(entity_name)}, x")[is_inverse(directed)]
        meant = f"{quoted_relation(name)}({shown})"
        self.found.append(f"{entity_name} is only {self.end_of(directed)} in this graph: perhaps `{meant}` is meant")

    def _joined(self, source: Said | None, directed: int) -> None:
        starts = self.graph.range_of(int(inverse_relation(directed)))[0]
        if source is not None:
            self._check(source, (starts, self._end(directed, "starts from")))

    def intersected(self, parts: Sequence[Said | None]) -> Said | None:
        """The least that a member can be by all parts; two that have nothing in common are noted."""
        said = [part for part in parts if part is not None]
        for place, part in enumerate(said):
            for other in said[:place]:
                self._check(other, part)
        return min(said, key=lambda part: len(part[0]), default=None)

    def _check(self, first: Said, second: Said) -> None:
        if not len(np.intersect1d(first[0], second[0], assume_unique=True)):
            self.found.append(f"no entity of this graph is both {first[1]} and {second[1]}")

    def end_of(self, directed: int) -> str:
        """Where a relation leads, in words."""
        return self._end(directed, "leads to")

    def _end(self, directed: int, role: str) -> str:
        name = self.graph.vocabulary.relations.name(undirected_relation(directed))
        forwards = is_inverse(directed) == (role == "starts from")
        return f"at the {'end' if forwards else 'start'} of `{name}`"


def contains(ids: Ids, entity: int) -> bool:
    """Whether sorted ids hold one."""
    place = int(np.searchsorted(ids, entity))
    return place < len(ids) and int(ids[place]) == entity


def impossible_pairs(
    graph: KnowledgeGraph, parts: Sequence[Formula], relation_id: Callable[[str, bool], int]
) -> list[str]:
    """The same for the parts of a question that is not a tree."""
    ends = _Ends(graph)
    said: dict[Variable, list[Said]] = {}
    for part in parts:
        if not isinstance(part, Atom) or part.repeat:
            continue
        for term, is_object in ((part.subject, False), (part.object, True)):
            if isinstance(term, Variable):
                directed = relation_id(part.relation, not is_object)
                said.setdefault(term, []).append((graph.range_of(directed)[0], ends.end_of(directed)))
    for about in said.values():
        ends.intersected(about)
    return list(dict.fromkeys(ends.found))


def impossible_joins(graph: KnowledgeGraph, query: Query) -> list[str]:
    """Why a question can hardly have an answer: relations that the graph never joins; empty if there is no reason.

    Cost: the ends of each relation of the question, which are found once for a graph.
    """
    ends = _Ends(graph)
    ends.possible(query)
    return list(dict.fromkeys(ends.found))
