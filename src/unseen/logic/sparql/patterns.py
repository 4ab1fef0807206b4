"""What a SPARQL question is made of: groups of patterns, and which variables they bind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from unseen.logic.formula import Conjunction, Disjunction, Equal, Formula, Place, Variable, free_variables
from unseen.logic.values.gathering import value_variables
from unseen.logic.values.test_expressions import Denied

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unseen.logic.values.test_expressions import Expression

    Variables: TypeAlias = frozenset[Variable]


NAMELESS = "[]"
"""What a variable is called that has no name in the question."""


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
    """Removes what the group matches from the solutions before it."""

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


@dataclass(frozen=True)
class Passes:
    """A test of values passes; if it is an error, neither it nor its denial does."""

    expression: Expression


def denied(test: Test) -> Test:
    """The test that passes where another one is false; an error stays one."""
    match test:
        case Passes():
            return Passes(Denied(test.expression))
        case Fails():
            return test.test
        case AllOf():
            return AnyOf(tuple(denied(part) for part in test.tests))
        case AnyOf():
            return AllOf(tuple(denied(part) for part in test.tests))
    return Fails(test)


Part: TypeAlias = Fact | Group | Union | Minus | Filter
Test: TypeAlias = Equal | AllOf | AnyOf | Fails | Found | Passes


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


def values_in(part: Part) -> Variables:
    """The variables of a part that stand for values."""
    match part:
        case Fact():
            return value_variables(part.formula)
        case Group():
            return _union(map(values_in, part.parts))
        case Union():
            return _union(map(values_in, part.groups))
    return frozenset()


def is_blank(variable: Variable) -> bool:
    """Whether a variable stands for a blank node or for a step in the middle of a path."""
    return variable.name == NAMELESS or variable.name.startswith("_:")


def any_of(parts: list[Formula], place: Place) -> Formula:
    """`Disjunction` of the parts, or the only part itself."""
    return parts[0] if len(parts) == 1 else Disjunction(tuple(parts), place)


def all_of(parts: list[Formula], place: Place) -> Formula:
    """`Conjunction` of the parts, or the only part itself."""
    return parts[0] if len(parts) == 1 else Conjunction(tuple(parts), place)


def _union(sets: Iterable[Variables]) -> Variables:
    return frozenset().union(*sets)
