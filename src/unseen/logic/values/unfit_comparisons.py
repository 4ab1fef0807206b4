"""Comparisons that no recorded value can pass, because the attribute has values of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.attributes.value_kinds import IN_TIME, TEXTS, Kind, kind_of
from unseen.logic.formula import Conjunction, Disjunction, Exists, HasValue, Negation, Recorded, Test, Variable
from unseen.logic.values.attribute_names import attribute_id
from unseen.logic.values.test_expressions import Both, Compare, Denied, Either, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.formula import Formula
    from unseen.logic.values.test_expressions import Expression

_WORDS = {Kind.NUMBER: "number", Kind.BOOLEAN: "boolean"}
_WORDS |= {**dict.fromkeys(TEXTS, "text"), **dict.fromkeys(IN_TIME, "date")}


def unfit_comparisons(graph: KnowledgeGraph, formulas: Sequence[Formula]) -> Iterator[str]:
    """A warning for each comparison of an attribute with a value of a kind that it does not have."""
    parts = [part for formula in formulas for part in _parts(formula)]
    attributes = {part.value: part.attribute for part in parts if isinstance(part, HasValue)}
    for one in (compared for part in parts if isinstance(part, Test) for compared in _compared(part.expression)):
        left, right = (one.right, one.left) if isinstance(one.left, Literal) else (one.left, one.right)
        if isinstance(left, Variable) and isinstance(right, Literal) and left in attributes:
            yield from _warning(graph, attributes[left], right, is_loose=one.loose)


def _warning(graph: KnowledgeGraph, name: str, literal: Literal, *, is_loose: bool) -> Iterator[str]:
    kinds = graph.attributes.literals.kinds[graph.attributes.of_attribute(attribute_id(graph, name))[1]]
    there = {_WORDS.get(Kind(kind), "other") for kind in np.unique(kinds).tolist()}
    given = _WORDS.get(kind_of(literal.text, literal.tag)[0], "other")
    fits = {given} | ({"date"} if given == "number" and is_loose else set())  # 1871 is a year too
    if there & fits or "other" in {*there, given}:
        return
    said = f'"{literal.text}" is a text' if given == "text" else f"{literal.text} is a {given}"
    hint = ""
    if given == "text" and literal.text[:1].isdigit() and (is_loose or there == {"number"}):
        hint = ": write it without quotation marks"
    elif given == "number" and there == {"date"}:
        hint = ": compare YEAR(...) of it"
    yield f"`{name}` has {' and '.join(f'{kind}s' for kind in sorted(there))}, and {said}{hint}"


def _parts(formula: Formula) -> Iterator[Formula]:
    match formula:
        case Conjunction() | Disjunction():
            for part in formula.parts:
                yield from _parts(part)
        case Negation() | Exists() | Recorded():
            yield from _parts(formula.part)
    yield formula


def _compared(expression: Expression) -> Iterator[Compare]:
    match expression:
        case Compare():
            yield expression
        case Both() | Either():
            for part in expression.parts:
                yield from _compared(part)
        case Denied():
            yield from _compared(expression.part)
