"""What SPARQL patterns mean, as a formula.

Groups join by the names of their variables; a FILTER holds for its whole group, wherever it stands, and sees what that
group binds; MINUS removes from what stands before it, by the variables that both sides bind. What is tested by EXISTS
or removed by MINUS has variables of its own where it does not share them. Where the meaning would hang on a variable
that only some alternatives bind, the question is refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from unseen.errors import QueryRefused
from unseen.logic.formula import (
    Atom,
    Conjunction,
    Disjunction,
    Equal,
    Exists,
    Formula,
    Negation,
    Place,
    Variable,
    conjuncts,
    free_variables,
)
from unseen.logic.tree import to_query

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from unseen.logic.algebra import Query
    from unseen.logic.formula import Term

    Variables: TypeAlias = frozenset[Variable]


@dataclass(frozen=True)
class Fact:
    """A triple pattern or VALUES: a formula that binds all its variables."""

    formula: Formula


@dataclass(frozen=True)
class Group:
    """`{ ... }`: all parts hold."""

    parts: tuple[Part, ...]
    place: Place


@dataclass(frozen=True)
class Union:
    """At least one of the groups holds."""

    groups: tuple[Group, ...]
    place: Place


@dataclass(frozen=True)
class Minus:
    """What the group matches is removed from what stands before."""

    group: Group
    place: Place


@dataclass(frozen=True)
class Filter:
    """What does not pass the test is removed from the whole group."""

    test: Test
    place: Place


@dataclass(frozen=True)
class AllOf:
    """All tests pass."""

    tests: tuple[Test, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one test passes."""

    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Fails:
    """The test does not pass."""

    test: Test


@dataclass(frozen=True)
class Found:
    """EXISTS: the group matches."""

    group: Group


Part: TypeAlias = Fact | Group | Union | Minus | Filter
Test: TypeAlias = Equal | AllOf | AnyOf | Fails | Found


@dataclass(frozen=True)
class Bound:
    """The variables that a pattern binds in every match, and those that it binds in some."""

    always: Variables = frozenset()
    sometimes: Variables = frozenset()

    def joined_with(self, other: Bound) -> Bound:
        """What both patterns together bind."""
        return Bound(self.always | other.always, self.sometimes | other.sometimes)


def bound_by(part: Part) -> Bound:
    """The variables a part of a group binds; blank nodes are never seen from elsewhere."""
    match part:
        case Fact():
            named = frozenset(v for v in free_variables(part.formula) if not is_blank(v))
            return Bound(named, named)
        case Group():
            inner = [bound_by(inner) for inner in part.parts]
            return Bound(_union(bound.always for bound in inner), _union(bound.sometimes for bound in inner))
        case Union():
            inner = [bound_by(group) for group in part.groups]
            always = frozenset.intersection(*(bound.always for bound in inner))
            return Bound(always, _union(bound.sometimes for bound in inner))
    return Bound()


def is_blank(variable: Variable) -> bool:
    """Whether a variable stands for a blank node or for a step in the middle of a path."""
    return variable.name.startswith("_:")


def query_of(group: Group, answer: Variable, text: str) -> Query:
    """The query whose answers are the values of `answer` where the group matches; `text` is the question as written."""
    formula = _Meaning(text).group(group, frozenset())
    try:
        return _tree(formula, answer, text)
    except QueryRefused:
        constants = _constants(formula, answer)
        if not constants:
            raise
        try:
            return _tree(_with_constants(formula, constants), answer, text)
        except QueryRefused:
            pass
        raise


class _Meaning:
    """One translation; variables that are not shared get a scope of their own."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.scopes = count(1)

    def refuse(self, reason: str, variables: Variables, place: Place) -> NoReturn:
        raise QueryRefused(f"{_shown(variables)} {reason}", text=self.text, position=place.position, place=place.shown)

    def group(self, group: Group, outer: Variables) -> Formula:
        """The formula of a group; `outer` are the variables that a surrounding EXISTS has given a value."""
        formulas: list[Formula] = []
        bound = Bound()
        for part in group.parts:
            if isinstance(part, Minus):
                formulas += self.minus(part, bound, outer)
            elif not isinstance(part, Filter):
                formulas.append(self.positive(part, outer))
                bound = bound.joined_with(bound_by(part))
        tests = [self.test(part.test, bound, outer, part.place) for part in group.parts if isinstance(part, Filter)]
        return all_of([*formulas, *tests], group.place)

    def positive(self, part: Fact | Group | Union, outer: Variables) -> Formula:
        match part:
            case Fact():
                return part.formula
            case Group():
                return self.group(part, outer)
            case Union():
                return Disjunction(tuple(self.group(group, outer) for group in part.groups), part.place)

    def minus(self, part: Minus, before: Bound, outer: Variables) -> list[Formula]:
        """What MINUS excludes; nothing if it shares no variable with what stands before it."""
        formula = self.group(part.group, outer)
        if known := free_variables(formula) & outer:
            self.refuse("comes from outside of EXISTS, where MINUS has no clear meaning", known, part.place)
        removed = bound_by(part.group)
        shared = before.sometimes & removed.sometimes
        if doubtful := shared - (before.always & removed.always):
            self.refuse("is not bound in every alternative, which MINUS needs", doubtful, part.place)
        return [Negation(self.with_own_variables(formula, shared, part.place), part.place)] if shared else []

    def test(self, test: Test, bound: Bound, outer: Variables, place: Place) -> Formula:
        match test:
            case Equal():
                if unbound := {test.variable} - bound.always - outer:
                    self.refuse("is not bound in the group of this FILTER", frozenset(unbound), place)
                return test
            case AllOf():
                return all_of([self.test(part, bound, outer, place) for part in test.tests], place)
            case AnyOf():
                return any_of([self.test(part, bound, outer, place) for part in test.tests], place)
            case Fails():
                return Negation(self.test(test.test, bound, outer, place), place)
            case Found():
                return self.found(test, bound, outer, place)

    def found(self, test: Found, bound: Bound, outer: Variables, place: Place) -> Formula:
        visible = bound.sometimes | outer
        formula = self.group(test.group, visible)
        shared = free_variables(formula) & visible
        if doubtful := shared - bound.always - outer:
            self.refuse("is not bound in every alternative, which EXISTS needs", doubtful, place)
        return self.with_own_variables(formula, shared, place)

    def with_own_variables(self, formula: Formula, shared: Variables, place: Place) -> Formula:
        """The formula with every variable that is not shared made local."""
        scope = next(self.scopes)
        own = {variable: Variable(variable.name, scope) for variable in _ordered(free_variables(formula) - shared)}
        return Exists(tuple(own.values()), _substituted(formula, own), place) if own else formula


def _tree(formula: Formula, answer: Variable, text: str) -> Query:
    for part in _walk(formula):
        variables = free_variables(part) if isinstance(part, Negation) else frozenset()
        if len(variables) > 1:
            reason = f"one negation joins {_shown(variables)}; it may share only one variable with the rest"
            raise QueryRefused(reason, text=text, position=part.place.position, place=part.place.shown)
    return to_query(_quantified(formula, frozenset((answer,))), answer, text)


def _quantified(formula: Formula, outside: Variables) -> Formula:
    """The formula with an `Exists` in each alternative for the variables that occur nowhere else."""
    match formula:
        case Conjunction():
            occurrences = Counter(variable for part in formula.parts for variable in free_variables(part))
            shared = outside | {variable for variable, number in occurrences.items() if number > 1}
            return replace(formula, parts=tuple(_quantified(part, shared) for part in formula.parts))
        case Disjunction():
            return replace(formula, parts=tuple(_alternative(part, outside) for part in formula.parts))
        case Negation() | Exists():
            return replace(formula, part=_quantified(formula.part, outside))
    return formula


def _alternative(formula: Formula, outside: Variables) -> Formula:
    own = _ordered(free_variables(formula) - outside)
    inner = _quantified(formula, outside)
    return Exists(tuple(own), inner, formula.place) if own else inner


def _constants(formula: Formula, answer: Variable) -> dict[Variable, Term]:
    """The variables, other than the answer, that have one value and are compared with nothing else."""
    compared = Counter(part.variable for part in _walk(formula) if isinstance(part, Equal))
    values = {part.variable: part.constant for part in conjuncts(formula) if isinstance(part, Equal)}
    return {v: value for v, value in values.items() if v != answer and compared[v] == 1}


def _with_constants(formula: Formula, constants: Mapping[Variable, Term]) -> Formula:
    """The formula with constants in place of the variables that name them."""
    kept = [p for p in conjuncts(formula) if not (isinstance(p, Equal) and p.variable in constants)]
    return all_of([_substituted(part, constants) for part in kept], formula.place)


def _substituted(formula: Formula, terms: Mapping[Variable, Term]) -> Formula:
    """The formula with free variables replaced."""
    match formula:
        case Atom():
            return replace(formula, subject=_replaced(formula.subject, terms), object=_replaced(formula.object, terms))
        case Equal():
            variable = _replaced(formula.variable, terms)
            return replace(formula, variable=variable) if isinstance(variable, Variable) else formula
        case Negation() | Exists():
            return replace(formula, part=_substituted(formula.part, terms))
    return replace(formula, parts=tuple(_substituted(part, terms) for part in formula.parts))


def _replaced(term: Term, terms: Mapping[Variable, Term]) -> Term:
    return terms.get(term, term) if isinstance(term, Variable) else term


def _walk(formula: Formula) -> Iterator[Formula]:
    pending = [formula]
    while pending:
        part = pending.pop()
        yield part
        match part:
            case Negation() | Exists():
                pending.append(part.part)
            case Conjunction() | Disjunction():
                pending.extend(reversed(part.parts))


def any_of(parts: list[Formula], place: Place) -> Formula:
    """`Disjunction` of the parts, or the only part itself."""
    return parts[0] if len(parts) == 1 else Disjunction(tuple(parts), place)


def all_of(parts: list[Formula], place: Place) -> Formula:
    """`Conjunction` of the parts, or the only part itself."""
    return parts[0] if len(parts) == 1 else Conjunction(tuple(parts), place)


def _union(sets: Iterable[Variables]) -> Variables:
    return frozenset().union(*sets)


def _ordered(variables: Iterable[Variable]) -> list[Variable]:
    return sorted(variables, key=lambda variable: (variable.name, variable.scope))


def _shown(variables: Iterable[Variable]) -> str:
    return ", ".join("a blank node" if is_blank(v) else f"?{v.name}" for v in _ordered(variables))
