"""Tests of values as written: comparisons and tests of texts, combined by and, or, not, with SPARQL's errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from unseen.graph.attributes.value_kinds import STRING, Tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unseen.logic.formula import Constant, Variable

SIGNS = ("<=", ">=", "!=", "<", ">", "=")
ORDER = ("<", "<=", ">", ">=")
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


@dataclass(frozen=True)
class Literal:
    """A value written in the question."""

    text: str
    tag: Tag = STRING


@dataclass(frozen=True)
class TextOf:
    """`STR`: the text of a value, or the IRI of an entity; `LANG`: the language of a text."""

    part: str
    operand: Operand


@dataclass(frozen=True)
class Compare:
    """Two values side by side. `loose`: as in formulas, dates of any kind and texts whatever their language."""

    sign: str
    left: Operand
    right: Operand
    loose: bool = False


@dataclass(frozen=True)
class Text:
    """A test of a text against another: `regex`, `starts`, `ends`, `contains`, `language`."""

    test: str
    operand: Operand
    pattern: Literal
    flags: str = ""
    loose: bool = False


@dataclass(frozen=True)
class IsKind:
    """Whether something is a `literal`, an `iri`, a `blank` node or `numeric`."""

    kind: str
    operand: Operand


@dataclass(frozen=True)
class Both:
    """All parts hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Either:
    """At least one part holds."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Denied:
    """The part is false; neither holds where the part is an error."""

    part: Expression


Operand: TypeAlias = "Variable | Constant | Literal | TextOf"
Expression: TypeAlias = Compare | Text | IsKind | Both | Either | Denied


def operands_of(expression: Expression) -> Iterator[Variable | Constant | Literal]:
    """What an expression compares, with repetitions."""
    match expression:
        case Both() | Either():
            for part in expression.parts:
                yield from operands_of(part)
        case Denied():
            yield from operands_of(expression.part)
        case Compare():
            yield _bare(expression.left)
            yield _bare(expression.right)
        case Text() | IsKind():
            yield _bare(expression.operand)


def with_operands(expression: Expression, terms: Mapping[Variable, Variable | Constant]) -> Expression:
    """The expression with variables replaced."""
    match expression:
        case Both() | Either():
            return replace(expression, parts=tuple(with_operands(part, terms) for part in expression.parts))
        case Denied():
            return Denied(with_operands(expression.part, terms))
        case Compare():
            return replace(expression, left=_replaced(expression.left, terms), right=_replaced(expression.right, terms))
    return replace(expression, operand=_replaced(expression.operand, terms))


def _bare(operand: Operand) -> Variable | Constant | Literal:
    return _bare(operand.operand) if isinstance(operand, TextOf) else operand


def _replaced(operand: Operand, terms: Mapping[Variable, Variable | Constant]) -> Operand:
    if isinstance(operand, TextOf):
        return TextOf(operand.part, _replaced(operand.operand, terms))
    return terms.get(operand, operand)  # type: ignore[arg-type]  # what is no variable is not among them
