"""Execution by which probabilities obey the laws of logic.

A question becomes a Boolean expression over events (`events`), a projector gives every event a probability, and the
expression is computed exactly (`joint_probability`). However a question is written, the numbers are the same.

A projector reads a whole set, and may find more from fewer members. So no event counts as likelier than the least
likely of those that it implies: to say more about an inner variable never makes an answer likelier. A projector that
cannot find more from less says so by `is_monotone`, and is not asked about those.

Cost: one `project` call a level; a conjunction of two parts under a further step takes two more rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, And, Or, Project, Query, walk
from unseen.logic.alternatives import Everything
from unseen.logic.events import At, over_events, weaker
from unseen.logic.execute import Execution, projection_levels
from unseen.logic.fuzzy import PRODUCT
from unseen.logic.joint_probability import probability
from unseen.logic.protocols import Projector
from unseen.logic.stopping import check_stop

FIRST, LEAST_FACTOR = 10, 0.1
"""An event keeps the order of so many first answers, unless that would lower its probabilities by more than this."""


class CoherentExecution(Execution):
    """The probabilities of every query of a batch, and of every sub-query."""

    def __init__(
        self, graph: KnowledgeGraph, device: torch.device | str | None = None, *, is_monotone: bool = False
    ) -> None:
        super().__init__(graph, PRODUCT, device)
        self.is_monotone = is_monotone
        self._read: dict[Query, Tensor] = {}
        """What the projector says of an event."""
        self._events: dict[Query, Tensor] = {}

    def run_level(self, projector: Projector, projections: Sequence[Project]) -> None:
        """One `project` call for these events, whose sources are known."""
        sources = self._sources([projection.source for projection in projections])
        relations = torch.tensor([projection.relation for projection in projections])
        self._read.update(zip(projections, projector.project(self.graph, sources, relations), strict=True))

    def carried(self, query: Query) -> Float[Tensor, " entity"] | None:
        """For each entity the probability of what its answers hang on: equal ones come by one uncertain member.

        An edge carries the membership of its head, so all that one member of an inner set leads to are answers together
        or not at all. None where a question has no inner variable.
        """
        expression = over_events(query)
        if isinstance(expression, Or) and all(map(_has_inner, expression.parts)):
            return self.memberships(query)
        parts = expression.parts if isinstance(expression, And) else (expression,)
        inner = next((part for part in parts if _has_inner(part)), None)
        return None if inner is None else self.memberships(inner)

    def _combine(self, query: Query) -> Tensor:
        return probability(over_events(query), self._event)

    def _event(self, event: Query) -> Float[Tensor, " entity"]:
        """The probability of an event."""
        found = self._events.get(event)
        if found is None:
            found = self._events[event] = self._computed(event)
        return found

    def _computed(self, event: Query) -> Tensor:
        match event:
            case At(entity=int(entity)):
                return self._event(event.event)[entity].expand(self.graph.num_entities)
            case Everything():
                return torch.ones(self.graph.num_entities, device=self.device)
            case Project():
                implied = [self._event(one) for one in self._implied(event)]
                return _within(self._read[event], reduce(torch.minimum, implied)) if implied else self._read[event]
        return super()._combine(event)

    def _implied(self, event: Query) -> list[Project]:
        return [] if self.is_monotone else weaker(event)


def _within(read: Float[Tensor, " entity"], bound: Float[Tensor, " entity"]) -> Float[Tensor, " entity"]:
    """What is read of an event, nowhere above the bound.

    Where the bound is lower for one of the first answers, all that is uncertain is lowered by the same factor: cut off
    one by one, answers would come in the order of the bound, which knows less of the question.
    """
    uncertain = torch.where(read < 1, read, 0.0)
    first, places = uncertain.topk(min(FIRST, len(read)))
    shares = torch.where(first > 0, bound[places] / first.clamp(min=1e-12), 1.0)
    factor = shares.min().clamp(LEAST_FACTOR, 1.0)
    return torch.minimum(torch.where(read < 1, factor * read, read), bound)


def _has_inner(part: Query) -> bool:
    """Whether a part is a step from an inner variable, or a choice of such."""
    if isinstance(part, Or):
        return all(map(_has_inner, part.parts))
    return isinstance(part, Project) and not isinstance(part.source, Anchor)


def execute_coherently(
    projector: Projector,
    graph: KnowledgeGraph,
    queries: Sequence[Query],
    device: torch.device | str | None = None,
) -> CoherentExecution:
    """Run queries (with ids) on a graph: one `project` call per level of events."""
    is_monotone = bool(getattr(projector, "is_monotone", False))
    execution = CoherentExecution(graph, device, is_monotone=is_monotone)
    for level in projection_levels(asked_of_projector(queries, is_monotone=is_monotone)):
        check_stop()
        execution.run_level(projector, level)
    return execution


def asked_of_projector(queries: Sequence[Query], *, is_monotone: bool = False) -> list[Query]:
    """The queries over their events, and the events that these imply."""
    expressions = [over_events(query) for query in queries]
    return expressions if is_monotone else [*expressions, *_implied_by(expressions)]


def _implied_by(expressions: Iterable[Query]) -> list[Query]:
    events = {node for expression in expressions for node in walk(expression) if isinstance(node, Project)}
    return list({less for event in events for less in weaker(event)})
