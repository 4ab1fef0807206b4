"""Exact answers: what the graph itself says, by walking sorted sets of entities.

Every query is answered correctly, with the complement taken among all entities of the vocabulary. Cost of a projection:
the smaller of (members x log edges of the relation) and (edges of the relation); never entities x entities.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused
from unseen.graph.distinct import distinct
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Anchor, And, Anything, Given, Graded, Loop, Not, Or, Project, Query, Unrecorded
from unseen.logic.link import Link, Triple
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int32]


def answers(graph: KnowledgeGraph, query: Query) -> Ids:
    """Sorted ids of the entities that answer a query with ids on the graph as it is."""
    return Traversal(graph).members(query)


@dataclass
class Witness:
    """Why something is an answer: values of the inner variables, and the edges (head, relation, tail) used."""

    bindings: dict[str, int] = field(default_factory=dict)
    edges: list[Triple] = field(default_factory=list)
    excluded: list[tuple[Query, int]] = field(default_factory=list)
    """Negated parts, each with the entity that is not a member of it."""


class Traversal:
    """Exact execution on one graph; the set of every sub-query is computed once and kept for witnesses."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self._sets: dict[Query, Ids] = {}

    def members(self, query: Query) -> Ids:
        """Sorted ids of the members of a query's set."""
        found = self._sets.get(query)
        if found is None:
            check_stop()
            found = self._sets[query] = self._evaluate(query)
        return found

    def _evaluate(self, query: Query) -> Ids:  # noqa: PLR0911 - a table
        match query:
            case Anchor(entity=int(entity)):
                return np.array([entity], np.int32)
            case Given() | Anything() | Loop():
                return self._given(query)
            case Graded() | Unrecorded():
                return np.empty(0, np.int32)
            case Project(relation=int(relation)):
                return step(self.graph, relation, self.members(query.source))
            case And():
                return self._intersection(query)
            case Or():
                return reduce(np.union1d, (self.members(part) for part in query.parts))
            case Not():
                return _difference(_everything(self.graph), self.members(query.part))
        raise QueryRefused("it has names where the graph's ids are needed: bind it first", place=str(query)[:80])

    def _given(self, query: Given | Anything | Loop) -> Ids:
        if isinstance(query, Given):
            return query.members.ids
        if isinstance(query, Anything):
            return _everything(self.graph)
        sources, targets = self.graph.edges_from(int(query.relation))
        return distinct(sources[sources == targets])

    def _intersection(self, query: And) -> Ids:
        """Positive parts are intersected first, so that a complement is never written out beside one."""
        kept = sorted((self.members(part) for part in query.parts if not isinstance(part, Not)), key=len)
        result = reduce(_common, kept) if kept else _everything(self.graph)
        for part in query.parts:
            if isinstance(part, Not) and len(result):
                result = _difference(result, self.members(part.part))
        return result

    def contains(self, query: Query, entity: int) -> bool:
        """Whether an entity is a member of a query's set."""
        members = self.members(query)
        position = int(np.searchsorted(members, entity))
        return position < len(members) and int(members[position]) == entity

    def witness(self, query: Query, entity: int) -> Witness:
        """One reason why `entity` is a member of the query's set; it must be one."""
        witness = Witness()
        self._collect(query, entity, witness)
        return witness

    def _collect(self, query: Query, entity: int, witness: Witness) -> None:
        match query:
            case Project(relation=int(relation)):
                source = self._step_back(relation, entity, query.source)
                if query.variable is not None:
                    witness.bindings.setdefault(query.variable, source)
                self._collect(query.source, source, witness)
                witness.edges.append(Link(source, relation, entity).triple)
            case And():
                for part in query.parts:
                    self._collect(part, entity, witness)
            case Or():
                self._collect(next(part for part in query.parts if self.contains(part, entity)), entity, witness)
            case Not():
                witness.excluded.append((query.part, entity))

    def _step_back(self, relation: int, entity: int, source: Query) -> int:
        """The first member of `source` from which the relation leads to `entity`."""
        before = step(self.graph, inverse_relation(relation), np.array([entity], np.int32))
        return int(_common(before, self.members(source))[0])


def step(graph: KnowledgeGraph, relation: int, members: Ids) -> Ids:
    """Sorted ids of everything that a directed relation leads to from any member of a sorted set."""
    sources, targets = graph.edges_from(relation)
    if len(members) == 1:
        first, last = np.searchsorted(sources, members[0]), np.searchsorted(sources, members[0], side="right")
        return targets[first:last]
    if len(members) * 24 < len(sources):
        reached = targets[_positions_of(members, sources)]
    else:
        inside = np.zeros(graph.num_entities, bool)
        inside[members] = True
        reached = targets[inside[sources]]
    return _distinct(reached, graph.num_entities)


def _positions_of(members: Ids, sources: Ids) -> NDArray[np.int64]:
    """Positions in sorted `sources` of everything that equals a member."""
    first, last = np.searchsorted(sources, members), np.searchsorted(sources, members, side="right")
    lengths = last - first
    shift = first - (np.cumsum(lengths) - lengths)
    return np.repeat(shift, lengths) + np.arange(lengths.sum())


def _distinct(ids: Ids, num_entities: int) -> Ids:
    """The ids sorted, each once: by sorting when they are few, by marking when they are many."""
    if len(ids) * 16 < num_entities:
        return distinct(ids)
    marked = np.zeros(num_entities, bool)
    marked[ids] = True
    return np.flatnonzero(marked).astype(np.int32)


def _common(left: Ids, right: Ids) -> Ids:
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    return small[_found_in(small, large)]


def _difference(left: Ids, right: Ids) -> Ids:
    return left[~_found_in(left, right)]


def _found_in(wanted: Ids, within: Ids) -> NDArray[np.bool_]:
    """For each of the sorted `wanted`, whether the sorted `within` has it."""
    if len(within) == 0:
        return np.zeros(len(wanted), bool)
    positions = np.searchsorted(within, wanted)
    positions[positions == len(within)] = 0
    found: NDArray[np.bool_] = within[positions] == wanted
    return found


def _everything(graph: KnowledgeGraph) -> Ids:
    return np.arange(graph.num_entities, dtype=np.int32)
