"""First-order formulas as written: what both readable syntaxes are parsed into, before they become a query tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from unseen.logic.values.test_expressions import Literal, operands_of, with_operands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unseen.logic.values.test_expressions import Expression

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
"""The relation of `x a Kind`; a graph may have another one for it."""


@dataclass(frozen=True)
class Place:
    """A place in the question: a position in its text, or the pattern itself in words."""

    position: int | None = None
    shown: str = ""


@dataclass(frozen=True)
class Variable:
    """A variable; `scope` tells variables of one name apart."""

    name: str
    scope: int = 0


@dataclass(frozen=True)
class Constant:
    """The name of an entity."""

    name: str


Term: TypeAlias = Variable | Constant


@dataclass(frozen=True)
class Atom:
    """relation(subject, object)."""

    relation: str
    subject: Term
    object: Term
    place: Place
    repeat: str = ""
    """How many steps: `+` one or more, `*` any number, `?` one or none; by default one."""


@dataclass(frozen=True)
class Equal:
    """variable = constant."""

    variable: Variable
    constant: Constant
    place: Place


@dataclass(frozen=True)
class Conjunction:
    """All parts hold."""

    parts: tuple[Formula, ...]
    place: Place


@dataclass(frozen=True)
class Disjunction:
    """At least one part holds."""

    parts: tuple[Formula, ...]
    place: Place


@dataclass(frozen=True)
class Negation:
    """The part does not hold."""

    part: Formula
    place: Place


@dataclass(frozen=True)
class Exists:
    """The part holds for some value of the variables."""

    variables: tuple[Variable, ...]
    part: Formula
    place: Place


@dataclass(frozen=True)
class HasValue:
    """A recorded value of an attribute."""

    attribute: str
    subject: Term
    value: Variable | Literal
    place: Place


@dataclass(frozen=True)
class Test:
    """A test of values that other parts bind."""

    __test__ = False
    expression: Expression
    place: Place


@dataclass(frozen=True)
class Recorded:
    """A part about recorded values; it holds as the graph says, and nothing about it is predicted unless wanted."""

    part: Formula
    place: Place
    written: tuple[str, str] = ("", "")
    """The attribute, and what a formula says about it: `("population", "> 1000000")`."""


Formula: TypeAlias = Atom | Equal | Conjunction | Disjunction | Negation | Exists | HasValue | Test | Recorded


def free_variables(formula: Formula) -> frozenset[Variable]:  # noqa: PLR0911 - a table
    """The variables of a formula that no `Exists` inside it binds."""
    match formula:
        case Atom():
            return frozenset(term for term in (formula.subject, formula.object) if isinstance(term, Variable))
        case Equal():
            return frozenset((formula.variable,))
        case Negation() | Recorded():
            return free_variables(formula.part)
        case HasValue():
            return frozenset(term for term in (formula.subject, formula.value) if isinstance(term, Variable))
        case Test():
            return frozenset(one for one in operands_of(formula.expression) if isinstance(one, Variable))
        case Exists():
            return free_variables(formula.part) - set(formula.variables)
    return frozenset().union(*(free_variables(part) for part in formula.parts))


def every_variable(formula: Formula) -> set[Variable]:
    """All variables that occur in a formula, free or bound."""
    found: set[Variable] = set()
    pending = [formula]
    while pending:
        part = pending.pop()
        match part:
            case Atom() | Equal() | HasValue() | Test():
                found |= free_variables(part)
            case Negation() | Exists() | Recorded():
                pending.append(part.part)
            case Conjunction() | Disjunction():
                pending.extend(part.parts)
    return found


def links_of(formula: Formula, *, positive: bool = False) -> Iterator[Atom | Equal]:
    """The links and equalities of a formula; if wanted, only those outside of negation."""
    match formula:
        case Atom() | Equal():
            yield formula
        case HasValue() | Test():
            return
        case Negation():
            if not positive:
                yield from links_of(formula.part)
        case Recorded():
            yield from links_of(formula.part, positive=positive)
        case Exists():
            yield from links_of(formula.part, positive=positive)
        case _:
            for part in formula.parts:
                yield from links_of(part, positive=positive)


def constants_of(formula: Formula, *, positive: bool = False) -> Iterator[Constant]:
    """The entities that a formula names, with repetitions; if wanted, only those outside of negation."""
    for part in links_of(formula, positive=positive):
        terms = (part.constant,) if isinstance(part, Equal) else (part.subject, part.object)
        yield from (term for term in terms if isinstance(term, Constant))
    yield from _valued_constants(formula)


def _valued_constants(formula: Formula) -> Iterator[Constant]:
    """The entities whose values a formula tests."""
    match formula:
        case HasValue(subject=Constant() as subject):
            yield subject
        case Test():
            yield from (one for one in operands_of(formula.expression) if isinstance(one, Constant))
        case Negation() | Exists() | Recorded():
            yield from _valued_constants(formula.part)
        case Conjunction() | Disjunction():
            for part in formula.parts:
                yield from _valued_constants(part)


def quantified_in(formula: Formula) -> list[Variable]:
    """The variables of the quantifiers that `conjuncts` opens."""
    match formula:
        case Conjunction():
            return [variable for part in formula.parts for variable in quantified_in(part)]
        case Exists():
            return [*formula.variables, *quantified_in(formula.part)]
    return []


def conjuncts(formula: Formula) -> list[Formula]:
    """The parts that all must hold, nested conjunctions and existential quantifiers opened; order kept."""
    opened: list[Formula] = []
    pending = [formula]
    while pending:
        part = pending.pop()
        if isinstance(part, Conjunction):
            pending.extend(reversed(part.parts))
        elif isinstance(part, Exists):
            pending.append(part.part)
        else:
            opened.append(part)
    return opened


def binds(formula: Formula, positive: bool = True) -> bool:
    """Whether a formula (or its negation) names the things it holds for, rather than only what it excludes."""
    match formula:
        case Atom() | Equal() | HasValue() | Recorded():
            return positive
        case Test():
            return False
        case Negation():
            return binds(formula.part, not positive)
        case Exists():
            return positive and binds(formula.part)
        case Conjunction():
            return (any if positive else all)(binds(part, positive) for part in formula.parts)
    return (all if positive else any)(binds(part, positive) for part in formula.parts)


def substituted(formula: Formula, terms: Mapping[Variable, Term]) -> Formula:
    """The formula with free variables replaced."""
    match formula:
        case Atom():
            return replace(formula, subject=_replaced(formula.subject, terms), object=_replaced(formula.object, terms))
        case Equal():
            variable = _replaced(formula.variable, terms)
            return replace(formula, variable=variable) if isinstance(variable, Variable) else formula
        case HasValue():
            value = formula.value if isinstance(formula.value, Literal) else _replaced(formula.value, terms)
            return replace(formula, subject=_replaced(formula.subject, terms), value=value)  # type: ignore[arg-type]
        case Test():
            return replace(formula, expression=with_operands(formula.expression, terms))
        case Negation() | Exists() | Recorded():
            return replace(formula, part=substituted(formula.part, terms))
    return replace(formula, parts=tuple(substituted(part, terms) for part in formula.parts))


def _replaced(term: Term, terms: Mapping[Variable, Term]) -> Term:
    return terms.get(term, term) if isinstance(term, Variable) else term
