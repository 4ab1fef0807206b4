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
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

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
Partial = tuple[float, int, Values, float, float]
"""Minus the bound, minus the edges of the last value, the values so far, the product of their own memberships, and that
without the parts that close cycles."""


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


class AssignedRows(NamedTuple):
    """Memberships of all entities as the value of a variable: by its own parts, what bounds them, without cycles."""

    own: Rows
    bounds: Rows
    acyclic: Rows


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

    def acyclic(self, values: Values) -> Query | None:
        """What is said about the next variable without the parts that close cycles."""
        return None if self.plan.acyclic is None else self._bound(self.plan.acyclic.own[len(values)], values)

    def whole(self) -> Query | None:
        """The pattern without the parts that close cycles; None where it has several answers."""
        return None if self.plan.acyclic is None else self._bound(self.plan.acyclic.whole, ())

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

    def __init__(  # noqa: PLR0913  # what is searched, and how
        self,
        trees: BoundTrees,
        estimate: Estimate,
        allowed: NDArray[np.bool_],
        known: NDArray[np.integer],
        *,
        most_steps: int,
        promises: Mapping[Values, float] | None = None,
        reads_sets: bool = False,
    ) -> None:
        self.graph, self.plan, self.trees, self.estimate = trees.graph, trees.plan, trees, estimate
        self.allowed = allowed
        self.found = FoundTuples()
        self._known = _KnownRows(known, self.plan.answers.index(self.plan.steps[-1].variable))
        self._completed: list[Partial] = []
        self._open: list[Partial] = [(-1.0, 0, (), 1.0, 1.0)]
        self._promised: list[tuple[float, Partial]] = []
        self._promises = promises or {}
        self._steps_left, self._each = most_steps, 1
        """Relation steps that may still be taken, and about how many each assignment takes."""
        self.reads_sets = reads_sets and self.plan.acyclic is not None
        self._acyclic = np.zeros(self.graph.num_entities, np.float32) if self.reads_sets else None
        """How probable each answer is at most without the parts that close cycles, for the best values tried."""

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
        parts = (self.trees.own, self.trees.relaxed, *([] if self._acyclic is None else [self.trees.acyclic]))
        queries = [[tree(partial[2]) for tree in parts] for partial in chosen]
        distinct = list(dict.fromkeys(query for some in queries for query in some if query is not None))
        steps = len({node for one in distinct for node in walk(one) if isinstance(node, Project)})
        self._steps_left, self._each = self._steps_left - max(1, steps), max(1, steps // len(chosen))
        rows: dict[Query | None, Rows] = dict(zip(distinct, self.estimate(distinct), strict=True)) if distinct else {}
        rows[None] = np.ones(self.graph.num_entities, np.float32)
        for partial, (own, relaxed, *acyclic) in zip(chosen, queries, strict=True):
            found = AssignedRows(rows[own], np.minimum(rows[own], rows[relaxed]), rows[acyclic[0] if acyclic else None])
            if len(partial[2]) + 1 == len(self.plan.steps):
                self._finish(partial, found, wanted)
            else:
                self._extend(partial, found, self.plan.steps[len(partial[2])])

    def _extend(self, before: Partial, rows: AssignedRows, step: VariableStep) -> None:
        """Note assignments with one more value."""
        _, _, values, product, acyclic = before
        bounds = rows.bounds
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
            products = product * float(rows.own[value]), acyclic * float(rows.acyclic[value])
            partial = (-product * bound, -degree, (*values, value), *products)
            promise = self._promises.get(partial[2])
            if promise is None:
                heapq.heappush(heap, partial)
            else:
                heapq.heappush(self._promised, (-promise, partial))

    def _finish(self, before: Partial, rows: AssignedRows, wanted: int) -> None:
        """Note tuples that are not known; of several values of inner variables the best count."""
        _, _, values, product, acyclic = before
        row = rows.own * self.allowed
        assigned = {step.variable: value for step, value in zip(self.plan.steps, values, strict=False)}
        last = self.plan.steps[-1].variable
        row[self._known.last(self._prefix(assigned))] = 0
        if self._acyclic is not None:
            np.maximum(self._acyclic, acyclic * rows.acyclic, out=self._acyclic)
        few = largest(row, wanted)
        for value in few[row[few] * product > LEAST].tolist():
            assigned[last] = value
            key = tuple(assigned[variable] for variable in self.plan.answers)
            probability, found = product * float(row[value]), self.found.tuples.get(key)
            if found is None or probability > found.probability:
                self.found.tuples[key] = FoundTuple(probability, (*values, value))

    def as_a_set(self, whole: Rows) -> None:
        """Let all values of the inner variables speak for an answer, not only the best ones.

        A network that reads a whole set finds more than from any one of its members. So an answer gets its probability
        in the `whole` pattern without the parts that close cycles, times what those leave of it for the best values.
        """
        if self._acyclic is None:
            return
        for (answer,), one in self.found.tuples.items():
            if (alone := float(self._acyclic[answer])) > 0:
                probability = min(1.0, one.probability / alone) * float(whole[answer])
                self.found.tuples[(answer,)] = replace(one, probability=probability)

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
