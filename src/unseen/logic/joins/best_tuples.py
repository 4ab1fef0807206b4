"""The most probable tuples of a pattern that the graph does not know, best first, without looking at all of them.

Variables are assigned one after the other (`cutting`). A partial assignment is bounded by the trees of its variables;
the most promising ones are taken from heaps, many at a time, and all their trees are computed in one batch. The search
ends when no assignment that is left can be better than the tuples wanted, or when it has tried enough. Then `missed`
says how probable a tuple can at most be that was not found.

Where the graph itself completes an assignment, its bound is 1 and says nothing about what is predicted. Such
assignments have a heap of their own, and both heaps take turns. What a cheaper method found before comes first: what
such a search promises of an assignment only decides when it is taken.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.algebra import Project, bind, walk
from unseen.logic.choose import largest
from unseen.logic.joins.cutting import placeholder
from unseen.logic.resolving import resolved
from unseen.logic.stopping import check_stop, search_time_left

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
WIDEST = 1 << 30
"""Most values of a variable that are tried, whatever the budget."""
LEAST = 1e-6
"""Less probable tuples are not looked for."""
CERTAIN = 0.999
"""A bound from which on the graph itself completes an assignment."""

Values = tuple[int, ...]
Partial = tuple[float, int, Values, float]
"""Minus the bound, minus the edges of the last value, the values so far, the product of their own memberships."""


@dataclass(frozen=True)
class PatternNames:
    """How names of a question are found in a graph."""

    entity_id: Callable[[str], int]
    relation_id: Callable[[str, bool], int]
    type_relation: int | None = None
    predict_values: bool = False


@dataclass(frozen=True)
class FoundTuple:
    """A tuple with its probability and the values of all assigned variables."""

    probability: float
    assigned: Values


@dataclass
class FoundTuples:
    """What a search has found, by the values of the answers, and what may be missing."""

    tuples: dict[Values, FoundTuple] = field(default_factory=dict)
    missed: float = 0.0
    """No tuple that is missing is more probable than this."""

    def best(self, count: int) -> list[tuple[Values, FoundTuple]]:
        """The best tuples, the most probable first."""
        return heapq.nsmallest(count, self.tuples.items(), key=lambda pair: (-pair[1].probability, pair[0]))

    def promises(self, count: int) -> dict[Values, float]:
        """By the beginning of an assignment the probability of the best tuple found so, for the best tuples."""
        found: dict[Values, float] = {}
        for _, one in self.best(count):
            for size in range(1, len(one.assigned)):
                found.setdefault(one.assigned[:size], one.probability)
        return found

    def threshold(self, count: int) -> float:
        """The probability of the last tuple that is wanted; 0 while there are fewer."""
        if len(self.tuples) < count or count < 1:
            return 0.0
        return heapq.nlargest(count, (one.probability for one in self.tuples.values()))[-1]


def together_next(together: int, before: float, left: float) -> int:
    """How many assignments are taken on together next: more as long as that is quick, by the time left then and now."""
    is_quick = left == inf or before - left < left * MOST_OF_TIME
    return min(2 * together, TOGETHER) if is_quick else max(1, together // 2)


class BoundTrees:
    """The trees of a plan with values in place of the variables that have one."""

    def __init__(self, graph: KnowledgeGraph, plan: SearchPlan, names: PatternNames) -> None:
        self.graph, self.plan, self.names = graph, plan, names

    def own(self, values: Values) -> Query | None:
        """What is said about the next variable when those before it have values."""
        return self._bound(self.plan.steps[len(values)].own, values)

    def relaxed(self, values: Values) -> Query | None:
        """What bounds the next variable's values."""
        return self._bound(self.plan.steps[len(values)].relaxed, values)

    def _bound(self, tree: Query | None, values: Values) -> Query | None:
        if tree is None:
            return None
        given = {placeholder(step.variable): value for step, value in zip(self.plan.steps, values, strict=False)}

        def entity_id(name: str) -> int:
            return given[name] if name in given else self.names.entity_id(name)

        bound = bind(tree, entity_id, self.names.relation_id)
        return resolved(bound, self.graph, self.names.type_relation, ends=False, predict=self.names.predict_values)


class TupleSearch:
    """One search on a graph; `allowed` says which entities may be values of answers, `known` tuples are left out."""

    def __init__(
        self,
        trees: BoundTrees,
        estimate: Estimate,
        allowed: NDArray[np.bool_],
        known: NDArray[np.integer],
        *,
        most_steps: int,
        promises: Mapping[Values, float] | None = None,
    ) -> None:
        self.graph, self.plan, self.trees, self.estimate = trees.graph, trees.plan, trees, estimate
        self.allowed = allowed
        self.found = FoundTuples()
        self._known = _KnownRows(known, self.plan.answers.index(self.plan.steps[-1].variable))
        self._completed: list[Partial] = []
        self._open: list[Partial] = [(-1.0, 0, (), 1.0)]
        self._promised: list[tuple[float, Partial]] = []
        self._promises = promises or {}
        self._steps_left, self._each = most_steps, 1
        """Relation steps that may still be taken, and about how many each assignment takes."""

    def best(self, count: int) -> FoundTuples:
        """The best tuples that are not known, at least `count` of them if there are so many."""
        left = search_time_left()
        together = TOGETHER if left == inf else 1
        while self._bound() > max(self.found.threshold(count), LEAST) and self._steps_left > 0 and left > 0:
            check_stop()
            chosen = self._chosen(max(self.found.threshold(count), LEAST), together)
            if not chosen:
                break
            self._take(chosen, count)
            before, left = left, search_time_left()
            together = together_next(together, before, left)
        self.found.missed = max(self.found.missed, self._bound())
        return self.found

    def is_complete(self, count: int) -> bool:
        """Whether no better tuple than the `count` best can have been missed."""
        return self.found.missed <= max(self.found.threshold(count), LEAST)

    @cached_property
    def _degrees(self) -> NDArray[np.int64]:
        """How many edges each entity has: of equal bounds, the ones with most edges come first."""
        ends = [
            np.bincount(column, minlength=self.graph.num_entities) for column in (self.graph.heads, self.graph.tails)
        ]
        return ends[0] + ends[1]

    def _bound(self) -> float:
        """How probable what is left can be."""
        tops = [heap[0][0] for heap in (self._open, self._completed) if heap]
        return -min([*tops, *(partial[0] for _, partial in self._promised)], default=0.0)

    def _chosen(self, least: float, together: int) -> list[Partial]:
        """What is promised most, then the most promising assignments of both heaps, in turns."""
        count, heaps = min(together, max(1, self._steps_left // self._each)), [self._open, self._completed]
        chosen: list[Partial] = []
        while self._promised and len(chosen) < count:
            partial = heapq.heappop(self._promised)[1]
            if -partial[0] > least:
                chosen.append(partial)
        while len(chosen) < count and any(heap and -heap[0][0] > least for heap in heaps):
            chosen += [heapq.heappop(heap) for heap in heaps if heap and -heap[0][0] > least]
        return chosen

    def _take(self, chosen: Sequence[Partial], wanted: int) -> None:
        """Give the next variable of some partial assignments its values."""
        queries = [(self.trees.own(values), self.trees.relaxed(values)) for _, _, values, _ in chosen]
        distinct = list(dict.fromkeys(query for pair in queries for query in pair if query is not None))
        steps = len({node for one in distinct for node in walk(one) if isinstance(node, Project)})
        self._steps_left, self._each = self._steps_left - max(1, steps), max(1, steps // len(chosen))
        rows = dict(zip(distinct, self.estimate(distinct), strict=True)) if distinct else {}
        for (_, _, values, product), (own, relaxed) in zip(chosen, queries, strict=True):
            own_row = np.ones(self.graph.num_entities, np.float32) if own is None else rows[own]
            bounds = own_row if relaxed is None else np.minimum(own_row, rows[relaxed])
            step = self.plan.steps[len(values)]
            if len(values) + 1 == len(self.plan.steps):
                self._finish(values, product, own_row, wanted)
            else:
                self._extend(values, product, step, (own_row, bounds))

    def _extend(self, values: Values, product: float, step: VariableStep, rows: tuple[Rows, Rows]) -> None:
        """Note assignments with one more value."""
        own, bounds = rows
        if step.variable in self.plan.answers:
            bounds = bounds * self.allowed
        width = min(WIDEST, max(WIDTH, self._steps_left))
        few = largest(bounds, width + 1)
        few = few[bounds[few] * product > LEAST]
        promised = {
            one[len(values)] for one in self._promises if len(one) > len(values) and one[: len(values)] == values
        }
        if len(few) > width:
            self.found.missed = max(self.found.missed, float(bounds[few[-1]]) * product)
            few = few[:-1]
        few = np.union1d(few, [value for value in promised if bounds[value] * product > LEAST]).astype(np.int64)
        for value, degree in zip(few.tolist(), self._degrees[few].tolist(), strict=True):
            bound = float(bounds[value])
            heap = self._completed if bound >= CERTAIN else self._open
            partial = (-product * bound, -degree, (*values, value), product * float(own[value]))
            promise = self._promises.get(partial[2])
            if promise is None:
                heapq.heappush(heap, partial)
            else:
                heapq.heappush(self._promised, (-promise, partial))

    def _finish(self, values: Values, product: float, own: Rows, wanted: int) -> None:
        """Note tuples that are not known; of several values of inner variables the best count."""
        row = own * self.allowed
        assigned = {step.variable: value for step, value in zip(self.plan.steps, values, strict=False)}
        last = self.plan.steps[-1].variable
        row[self._known.last(self._prefix(assigned))] = 0
        few = largest(row, wanted)
        for value in few[row[few] * product > LEAST].tolist():
            assigned[last] = value
            key = tuple(assigned[variable] for variable in self.plan.answers)
            probability, before = product * float(row[value]), self.found.tuples.get(key)
            if before is None or probability > before.probability:
                self.found.tuples[key] = FoundTuple(probability, (*values, value))

    def _prefix(self, assigned: dict[Variable, int]) -> Values:
        """The values of all answers but the one that gets its value last."""
        last = self.plan.steps[-1].variable
        return tuple(assigned[variable] for variable in self.plan.answers if variable != last)


class _KnownRows:
    """Known tuples, sorted, to find those that begin alike: there may be millions."""

    def __init__(self, rows: NDArray[np.integer], place: int) -> None:
        """`place` is that of the value that is assigned last."""
        columns = [*(rows[:, other] for other in range(rows.shape[1]) if other != place), rows[:, place]]
        order = np.lexsort(columns[::-1])
        *self._prefixes, self._last = (column[order] for column in columns)

    def last(self, prefix: Values) -> NDArray[np.integer]:
        """The last values of the tuples whose other values are these."""
        low, high = 0, len(self._last)
        for column, value in zip(self._prefixes, prefix, strict=True):
            low, high = low + np.searchsorted(column[low:high], [value, value + 1])
        return self._last[low:high]
