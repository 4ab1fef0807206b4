"""Queries on fuzzy sets, level by level.

All projections of the same depth, of all queries in the batch, whatever their shapes, go through one `project` call;
equal sub-queries are computed once. A mixed batch of the fourteen shapes needs three calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unseen.errors import QueryRefused
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Anchor, And, Given, Graded, Not, Or, Project, Query, Unrecorded
from unseen.logic.fuzzy import PRODUCT, Logic
from unseen.logic.link import Link
from unseen.logic.protocols import Projector
from unseen.logic.stopping import check_stop
from unseen.logic.traverse import Traversal, step

CHOICES = 8
"""Values of an inner variable, the likeliest ones, among which one is chosen that explains an answer."""
ENOUGH = 0.5
"""Share of a membership that an edge must carry to explain it."""
Choose = Callable[[int, int, Sequence[int], Sequence[float]], int]
"""From a directed relation, its target, and sources with their memberships to the place of the best source."""


@dataclass
class LikelyWitness:
    """The likeliest way to an answer: values of the inner variables, and every link on it, known or not."""

    bindings: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By inner variable above negation: its value, and the membership of that."""
    links: list[Link] = field(default_factory=list)
    """In the order of the question."""
    excluded: list[tuple[Query, int]] = field(default_factory=list)
    """Negated parts, each with the entity that must not be a member of it."""


def distinct_parts(query: And | Or) -> tuple[Query, ...]:
    """The parts of an operator, those of the same operator inside of it too, each once: A & A is A, and so is A | A."""
    found: dict[Query, None] = {}
    for part in query.parts:
        found.update(dict.fromkeys(distinct_parts(part) if type(part) is type(query) else (part,)))
    return tuple(found)


class Execution:
    """What came out of one batch: the fuzzy set of every query and of every sub-query."""

    def __init__(self, graph: KnowledgeGraph, logic: Logic, device: torch.device | str | None = None) -> None:
        self.graph, self.logic, self.device = graph, logic, device
        self._sets: dict[Query, Tensor] = {}

    @cached_property
    def traversal(self) -> Traversal:
        """What the graph itself says about the batch: one traversal for all who ask."""
        return Traversal(self.graph)

    def memberships(self, query: Query) -> Float[Tensor, " entity"]:
        """The fuzzy set of a query or sub-query of the batch."""
        found = self._sets.get(query)
        if found is None:
            found = self._sets[query] = self._combine(query)
        return found

    def stacked(self, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """The fuzzy sets of several queries, one a row."""
        if not queries:
            return torch.empty(0, self.graph.num_entities, device=self.device)
        return torch.stack([self.memberships(query) for query in queries])

    def run_level(self, projector: Projector, projections: Sequence[Project]) -> None:
        """One `project` call for all these projections, whose sources are known."""
        sources = self._sources([projection.source for projection in projections])
        relations = torch.tensor([projection.relation for projection in projections])  # on the host, where names are
        reached = projector.project(self.graph, sources, relations)
        self._sets.update(zip(projections, reached, strict=True))

    def _sources(self, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """As `stacked`; entities by name, the sources of every first level, are written in one go."""
        entities = [query.entity for query in queries if isinstance(query, Anchor) and isinstance(query.entity, int)]
        if len(queries) == 1 and not entities:  # no copy, which takes long for millions of entities
            return self.memberships(queries[0]).unsqueeze(0)
        if len(entities) < len(queries):
            return self.stacked(queries)
        places = torch.tensor(entities, device=self.device).unsqueeze(1)
        return torch.zeros(len(entities), self.graph.num_entities, device=self.device).scatter_(1, places, 1.0)

    def carried(self, query: Query) -> Float[Tensor, " entity"] | None:  # noqa: ARG002 - not every execution knows
        """For each entity the probability of what its answers hang on together; None where nothing is known of that."""
        return None

    def best_bindings(self, query: Query, entity: int) -> dict[str, tuple[int, float]]:
        """For every inner variable above negation: its likeliest value on the way to `entity`, and its membership."""
        return self.likely_witness(query, entity).bindings

    def likely_witness(self, query: Query, entity: int, choose: Choose | None = None) -> LikelyWitness:
        """The likeliest way to `entity`; `choose` decides between likely sources of a link that is predicted."""
        witness = LikelyWitness()
        self._bind(query, entity, witness, choose or _first)
        return witness

    def _combine(self, query: Query) -> Tensor:  # noqa: PLR0911 - a table
        """Anchors and logical operators; projections are there already, from their level."""
        match query:
            case Anchor(entity=int(entity)):
                one_hot = torch.zeros(self.graph.num_entities, device=self.device)
                one_hot[entity] = 1
                return one_hot
            case Given():
                given = torch.zeros(self.graph.num_entities, device=self.device)
                given[torch.from_numpy(query.members.ids.astype(np.int64)).to(given.device)] = 1
                return given
            case Graded():
                degrees = torch.zeros(self.graph.num_entities, device=self.device)
                places = torch.from_numpy(query.degrees.ids.astype(np.int64)).to(degrees.device)
                degrees[places] = torch.from_numpy(query.degrees.degrees).to(degrees)
                return degrees
            case Unrecorded():
                return self.memberships(query.part)
            case And():
                return self.logic.conjunction([self.memberships(part) for part in distinct_parts(query)])
            case Or():
                return self.logic.disjunction([self.memberships(part) for part in distinct_parts(query)])
            case Not():
                return self.logic.negation(self.memberships(query.part))
        raise QueryRefused("it has names where the graph's ids are needed: bind it first", place=str(query)[:80])

    def _bind(self, query: Query, entity: int, witness: LikelyWitness, choose: Choose) -> None:
        match query:
            case Project(relation=int(relation)):
                source = self._likeliest_source(query, relation, entity, choose)
                if query.variable is not None:
                    value = float(self.memberships(query.source)[source])
                    witness.bindings.setdefault(query.variable, (source, value))
                self._bind(query.source, source, witness, choose)
                witness.links.append(Link(source, relation, entity))
            case And():
                for part in query.parts:
                    self._bind(part, entity, witness, choose)
            case Or():
                likeliest = max(query.parts, key=lambda part: float(self.memberships(part)[entity]))
                self._bind(likeliest, entity, witness, choose)
            case Not():
                witness.excluded.append((query.part, entity))

    def _likeliest_source(self, query: Project, relation: int, entity: int, choose: Choose) -> int:
        """The likeliest member of the source that the graph links to `entity`, if that explains its membership.

        Else one of the likeliest others is chosen.
        """
        if isinstance(query.source, Anchor):
            return int(query.source.entity)
        memberships = self.memberships(query.source)
        back = step(self.graph, inverse_relation(relation), np.array([entity], np.int32))
        linked = torch.from_numpy(back.astype(np.int64)).to(memberships.device)
        carried = float(memberships[linked].max()) if len(linked) else 0.0
        if carried > 0 and carried >= ENOUGH * float(self.memberships(query)[entity]):
            return int(linked[memberships[linked].argmax()])
        others = memberships.index_fill(0, torch.tensor(entity, device=memberships.device), 0)
        sources, degrees = _largest(others if float(others.max()) > 0 else memberships)
        return sources[choose(relation, entity, sources, degrees)]


def _largest(memberships: Float[Tensor, " entity"]) -> tuple[list[int], list[float]]:
    """The entities with the largest memberships, the largest first; of equal ones those with small numbers."""
    least = memberships.topk(min(CHOICES, len(memberships))).values[-1]
    places = ((memberships >= least) & (memberships > 0)).nonzero().flatten()
    if not len(places):
        return [int(memberships.argmax())], [0.0]
    values, order = memberships[places].sort(descending=True, stable=True)
    return places[order[:CHOICES]].tolist(), values[:CHOICES].tolist()


def _first(_relation: int, _target: int, _sources: Sequence[int], _degrees: Sequence[float]) -> int:
    return 0


def execute(
    projector: Projector,
    graph: KnowledgeGraph,
    queries: Sequence[Query],
    logic: Logic = PRODUCT,
    device: torch.device | str | None = None,
) -> Execution:
    """Run queries (with ids) on a graph: one `project` call per level of projections."""
    execution = Execution(graph, logic, device)
    for level in projection_levels(queries):
        check_stop()
        execution.run_level(projector, level)
    return execution


def projection_levels(queries: Sequence[Query]) -> list[list[Project]]:
    """The distinct projections of all queries by level: those from anchors first, then those that need them, ..."""
    level_of: dict[Query, int] = {}
    levels: list[list[Project]] = []

    def level(node: Query) -> int:
        known = level_of.get(node)
        if known is not None:
            return known
        found = max((level(child) for child in node.children), default=0) + isinstance(node, Project)
        level_of[node] = found
        if isinstance(node, Project):
            levels.extend([] for _ in range(found - len(levels)))
            levels[found - 1].append(node)
        return found

    for query in queries:
        level(query)
    return levels
