"""The most probable tuples of a pattern, best first, without looking at all of them.

Variables are assigned one after the other (`cutting`). A partial assignment is bounded by the trees of its variables;
the most promising ones are taken from a heap, many at a time, and all their trees are computed in one batch. The search
ends when no assignment that is left can be better than the tuples wanted, or when it has tried enough. Then `missed`
says how probable a tuple can at most be that was not found.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.algebra import bind
from unseen.logic.choose import largest
from unseen.logic.joins.cutting import placeholder
from unseen.logic.resolving import resolved
from unseen.logic.stopping import check_stop, search_time_left

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.formula import Variable
    from unseen.logic.joins.cutting import SearchPlan, VariableStep

    Rows = NDArray[np.float32]
    Estimate = Callable[[Sequence[Query]], Rows]
    """The memberships of all entities in some queries with ids, one a row."""

TOGETHER = 32
"""Partial assignments that are taken on together."""
MOST_OF_TIME = 0.1
"""The share of the time that is left which one round may take before the next one is made smaller."""
WIDTH = 64
"""Values of a variable that are tried after each partial assignment."""
MOST_TAKEN = 512
"""Partial assignments that are taken on before the search ends."""
LEAST = 1e-6
"""Less probable tuples are not looked for."""

Values = tuple[int, ...]


@dataclass(frozen=True)
class PatternNames:
    """How names of a question are found in a graph."""

    entity_id: Callable[[str], int]
    relation_id: Callable[[str, bool], int]
    type_relation: int | None = None
    predict_values: bool = False


@dataclass
class FoundTuples:
    """What a search has found: probabilities of tuples, with values of inner variables, and what may be missing."""

    tuples: dict[Values, float] = field(default_factory=dict)
    inner: dict[Values, dict[str, int]] = field(default_factory=dict)
    missed: float = 0.0
    """No tuple that was not found is more probable than this."""


def together_next(together: int, before: float, left: float) -> int:
    """How many assignments are taken on together next: more as long as that is quick, by the time left then and now."""
    is_quick = left == inf or before - left < left * MOST_OF_TIME
    return min(2 * together, TOGETHER) if is_quick else max(1, together // 2)


class TupleSearch:
    """One search on a graph; `allowed` says which entities may be values of answers."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        plan: SearchPlan,
        estimate: Estimate,
        names: PatternNames,
        allowed: NDArray[np.bool_],
    ) -> None:
        self.graph, self.plan, self.estimate, self.names, self.allowed = graph, plan, estimate, names, allowed
        self.found = FoundTuples()
        self._heap: list[tuple[float, Values, float]] = [(-1.0, (), 1.0)]
        """Minus the bound, the values so far, and the product of their own memberships."""

    def best(self, count: int, known: set[Values] = frozenset()) -> FoundTuples:  # type: ignore[assignment]
        """The best tuples beside those that are known, at least `count` of them if there are so many."""
        taken, left = 0, search_time_left()
        together = TOGETHER if left == inf else 1
        while self._heap and taken < MOST_TAKEN and left > 0:
            check_stop()
            if -self._heap[0][0] <= max(self._threshold(count, known), LEAST):
                break
            chosen = [heapq.heappop(self._heap) for _ in range(min(together, len(self._heap)))]
            taken += len(chosen)
            self._take(chosen, count + len(known))
            before, left = left, search_time_left()
            together = together_next(together, before, left)
        if self._heap:
            self.found.missed = max(self.found.missed, -self._heap[0][0])
        return self.found

    def is_complete(self, count: int, known: set[Values]) -> bool:
        """Whether no better tuple than the `count` best can have been missed."""
        return self.found.missed <= max(self._threshold(count, known), LEAST)

    def _threshold(self, count: int, known: set[Values]) -> float:
        """The probability of the last tuple that is wanted; 0 while there are fewer."""
        values = [value for key, value in self.found.tuples.items() if key not in known]
        return heapq.nlargest(count, values)[-1] if len(values) >= count > 0 else 0.0

    def _take(self, chosen: Sequence[tuple[float, Values, float]], wanted: int) -> None:
        """Give the next variable of some partial assignments its values."""
        steps = [self.plan.steps[len(values)] for _, values, _ in chosen]
        queries = [self._queries(step, values) for step, (_, values, _) in zip(steps, chosen, strict=True)]
        distinct = list(dict.fromkeys(query for pair in queries for query in pair if query is not None))
        rows = dict(zip(distinct, self.estimate(distinct), strict=True)) if distinct else {}
        for (_, values, product), step, (own, relaxed) in zip(chosen, steps, queries, strict=True):
            everything = np.ones(self.graph.num_entities, np.float32)
            own_row = everything if own is None else rows[own]
            bounds = own_row if relaxed is None else rows[relaxed]
            self._extend(values, product, step, (own_row, bounds), wanted)

    def _queries(self, step: VariableStep, values: Values) -> tuple[Query | None, Query | None]:
        return self._bound(step.own, values), self._bound(step.relaxed, values)

    def _bound(self, tree: Query | None, values: Values) -> Query | None:
        if tree is None:
            return None
        given = {placeholder(step.variable): value for step, value in zip(self.plan.steps, values, strict=False)}

        def entity_id(name: str) -> int:
            return given[name] if name in given else self.names.entity_id(name)

        bound = bind(tree, entity_id, self.names.relation_id)
        return resolved(bound, self.graph, self.names.type_relation, ends=False, predict=self.names.predict_values)

    def _extend(self, values: Values, product: float, step: VariableStep, rows: tuple[Rows, Rows], wanted: int) -> None:
        own, bounds = rows
        is_last = len(values) + 1 == len(self.plan.steps)
        bounds = np.minimum(own, bounds) if not is_last else own
        if step.variable in self.plan.answers:
            bounds = bounds * self.allowed
        few = largest(bounds, (max(WIDTH, wanted) if is_last else WIDTH) + 1)
        few = few[bounds[few] * product > LEAST]
        if len(few) > WIDTH:
            self.found.missed = max(self.found.missed, float(bounds[few[-1]]) * product)
            few = few[:-1]
        for value in few.tolist():
            extended = (*values, value)
            if is_last:
                self._finish(extended, product * float(own[value]))
            else:
                heapq.heappush(self._heap, (-product * float(bounds[value]), extended, product * float(own[value])))

    def _finish(self, values: Values, probability: float) -> None:
        """Note a tuple; of several values of inner variables the best counts."""
        assigned: dict[Variable, int] = {
            step.variable: value for step, value in zip(self.plan.steps, values, strict=True)
        }
        key = tuple(assigned[variable] for variable in self.plan.answers)
        if probability > self.found.tuples.get(key, 0.0):
            self.found.tuples[key] = probability
            inner = {v.name: value for v, value in assigned.items() if v not in self.plan.answers}
            self.found.inner[key] = inner
