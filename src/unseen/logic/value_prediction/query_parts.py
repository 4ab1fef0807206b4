"""Comparisons of values that are not recorded, as sets of entities by probability.

Every comparison with a number or date is made of events *the value is above a bound*. For one entity and attribute they
are events of one cause (`joint_probability`): the larger the bound, the fewer of them happen. So every law of
probability holds, whatever comparisons a question combines: `a(x) > 1 & a(x) < 5` is as probable as a value between
the two. Entities are taken to have one value of an attribute that is not recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.attributes.value_kinds import IN_TIME, Kind
from unseen.logic.algebra import And, Degrees, Given, Graded, Members, Not, Or, Query, Unrecorded
from unseen.logic.formula import Exists, HasValue, Test, Variable, conjuncts
from unseen.logic.value_prediction.predictor import predicted_values
from unseen.logic.values.attribute_names import attribute_id
from unseen.logic.values.test_expressions import TURNED, Both, Compare, Denied, Either, Literal
from unseen.logic.values.times import ends_of, is_year, start_of_year

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Valued
    from unseen.logic.value_prediction.predictor import PredictedValues
    from unseen.logic.values.test_expressions import Expression


class NotPredicted(Exception):
    """A test of something else than numbers and dates."""


def with_predictions(graph: KnowledgeGraph, query: Valued, recorded: Given) -> Query:
    """The entities that pass a test by a recorded value, or by a predicted one where none is recorded."""
    found = _tested_value(query)
    if found is None:
        return recorded
    part, expressions = found
    attribute = attribute_id(graph, part.attribute, part.place)
    predicted = predicted_values(graph, attribute)
    if predicted is None:
        return recorded
    events = _Events(predicted, part.attribute, _kind(graph, attribute))
    try:
        tests = [events.of(expression) for expression in expressions]
    except NotPredicted:
        return recorded
    likely = Given(Members(predicted.entities.astype(np.int32)), recorded.text)
    return Or((recorded, Unrecorded(And((likely, *tests)))))


def _tested_value(query: Valued) -> tuple[HasValue, list[Expression]] | None:
    """The value of the entity that is tested, and the tests; None if it is about anything else too."""
    part = query.part.part
    parts = conjuncts(part) if isinstance(part, Exists) else [part]
    values = [one for one in parts if isinstance(one, HasValue)]
    tests = [one.expression for one in parts if isinstance(one, Test)]
    if len(values) != 1 or len(values) + len(tests) != len(parts) or values[0].subject != query.variable:
        return None
    return values[0], tests or [Compare("=", values[0].value, values[0].value)]


def _kind(graph: KnowledgeGraph, attribute: int) -> Kind:
    """What kind the values of an attribute mostly are."""
    kinds = graph.attributes.literals.kinds[graph.attributes.of_attribute(attribute)[1]]
    return Kind(int(np.bincount(kinds).argmax()))


class _Events:
    """Tests of one predicted value as queries."""

    def __init__(self, predicted: PredictedValues, attribute: str, kind: Kind) -> None:
        self.predicted, self.attribute, self.kind = predicted, attribute, kind

    def of(self, expression: Expression) -> Query:
        """The entities for which a test is true, by probability."""
        match expression:
            case Both():
                return And(tuple(self.of(part) for part in expression.parts))
            case Either():
                return Or(tuple(self.of(part) for part in expression.parts))
            case Denied():
                return Not(self.of(expression.part))
            case Compare():
                return self._compared(expression)
        raise NotPredicted

    def _compared(self, compare: Compare) -> Query:
        left, right, sign = compare.left, compare.right, compare.sign
        if isinstance(left, Literal):
            left, right, sign = right, left, TURNED[sign]
        if not isinstance(left, Variable) or not isinstance(right, Literal):
            if left == right and sign in ("=", "<=", ">="):
                return self.above(-np.inf, inclusive=True)
            raise NotPredicted
        first, last = self._span(right)
        closed = first == last
        match sign:
            case ">=":
                return self.above(first, inclusive=True)
            case ">":
                return self.above(last, inclusive=not closed)
            case "<":
                return Not(self.above(first, inclusive=True))
            case "<=":
                return Not(self.above(last, inclusive=not closed))
        inside = And((self.above(first, inclusive=True), Not(self.above(last, inclusive=not closed))))
        return inside if sign == "=" else Not(inside)

    def above(self, bound: float, *, inclusive: bool) -> Graded:
        """That the value is above a bound, or at it."""
        below = self.predicted.probability_below(bound, inclusive=not inclusive)
        degrees = (1 - below).astype(np.float32)
        return Graded(Degrees(self.predicted.entities.astype(np.int32), degrees), self.attribute)

    def _span(self, literal: Literal) -> tuple[float, float]:
        """Where what a literal says begins and ends: a year is more than a moment."""
        from unseen.graph.attributes.literal_table import LiteralTable

        table = LiteralTable.of_pairs([(literal.text, literal.tag)])
        kind, number = Kind(int(table.kinds[0])), table.numbers[:1]
        if kind == Kind.NUMBER and self.kind in IN_TIME and is_year(number)[0]:
            kind, number = Kind.YEAR, start_of_year(number)
        if (kind in IN_TIME) != (self.kind in IN_TIME) or kind not in (Kind.NUMBER, *IN_TIME):
            raise NotPredicted
        if kind == Kind.NUMBER:
            return float(number[0]), float(number[0])
        return float(number[0]), float(ends_of(np.array([kind], np.uint8), number)[0])
