"""What it takes to predict values of an attribute for the first time on a graph: seconds, and then they are kept.

That is far more than a relation step, so it counts in the estimate of a question, and is measured as it goes.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import ref

from unseen.errors import Stopped
from unseen.logic.algebra import Valued, walk
from unseen.logic.formula import HasValue
from unseen.logic.outer_form import OuterForm
from unseen.logic.pattern import Pattern
from unseen.logic.value_prediction.predictor import learned_attributes
from unseen.server.pace import FIXED, Pace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from weakref import ReferenceType

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.formula import Formula
    from unseen.server.predicting import Planned

GUESS = 2e-5
"""Seconds for an edge before anything is measured."""
TRIED_AGAIN = 600.0
"""Seconds after which it is tried again if it took too long: the machine may have had other work."""


class LearningValues:
    """How long it takes to learn what predicts the values of an attribute."""

    def __init__(self) -> None:
        self._pace = Pace(GUESS)
        self._elsewhere: tuple[ReferenceType[KnowledgeGraph], frozenset[int]] | None = None
        """What another process has learned that answers in place of this one."""
        self._given_up: float | None = None
        """When learning was stopped last, unless it has been done to the end since."""

    def seconds(self, graph: KnowledgeGraph, planned: Planned) -> float:
        """What the attributes of a question will take that nobody has asked for yet."""
        pace, given_up = self._pace.seconds, self._given_up
        if given_up is not None and time.perf_counter() > given_up + TRIED_AGAIN:
            pace = min(pace, GUESS)
        return pace * self._units(graph, planned)

    def note_learned(self, graph: KnowledgeGraph, attributes: frozenset[int]) -> None:
        """Another process, which answers in place of this one, has learned some attributes of a graph."""
        self._elsewhere = ref(graph), attributes

    @contextmanager
    def measured(self, graph: KnowledgeGraph, planned: Planned) -> Iterator[None]:
        """Note how long the block takes if it learns anything, even if it is stopped before its end."""
        units, began = self._units(graph, planned), time.perf_counter()
        try:
            yield
        except Stopped:
            if units:
                self._pace.note_unfinished(units, time.perf_counter() - began)
                self._given_up = time.perf_counter()
            raise
        if units:
            self._pace.note(units, time.perf_counter() - began)
            self._given_up = None

    def _units(self, graph: KnowledgeGraph, planned: Planned) -> int:
        """Edges that are looked at, once for each attribute that is not learned."""
        if not planned.asked.predict_values:
            return 0
        names, order = {found.attribute for found in _values_in(planned.query)}, planned.asked.order_by
        names |= set(order.split()) if order else {one.key for one in planned.order}
        found = graph.attributes.names.find_all(sorted(names)).tolist() if names else []
        learned = learned_attributes(graph)
        if self._elsewhere is not None and self._elsewhere[0]() is graph:
            learned |= self._elsewhere[1]
        return len({attribute for attribute in found if attribute >= 0} - learned) * (graph.num_triples + FIXED)


def _values_in(query: Query | Pattern | OuterForm) -> Iterator[HasValue]:
    if isinstance(query, Pattern):
        yield from _patterns(query.formula)
    elif not isinstance(query, OuterForm):
        for node in walk(query):
            if isinstance(node, Valued):
                yield from _patterns(node.part)


def _patterns(formula: Formula) -> Iterator[HasValue]:
    """The patterns of values in a formula, wherever they stand."""
    if isinstance(formula, HasValue):
        yield formula
    for part in (getattr(formula, "part", None), *getattr(formula, "parts", ())):
        if part is not None:
            yield from _patterns(part)
