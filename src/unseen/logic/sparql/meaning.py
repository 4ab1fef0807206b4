"""What SPARQL patterns mean, as a formula.

Groups join by the names of their variables; a FILTER holds for its whole group, wherever it stands, and sees what that
group binds; MINUS removes from what stands before it, by the variables that both sides bind. What is tested by EXISTS
or removed by MINUS has variables of its own where it does not share them. Where the meaning would hang on a variable
that only some alternatives bind, the question is refused.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, NoReturn

from unseen.errors import QueryRefused, QuestionTooLarge
from unseen.logic.algebra import Project, Query, Repeat, rebuild
from unseen.logic.formula import (
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
    substituted,
)
from unseen.logic.formula import Test as ValueTest
from unseen.logic.pattern import Pattern, checked_pattern
from unseen.logic.sparql.patterns import (
    AllOf,
    AnyOf,
    Bound,
    Fact,
    Fails,
    Filter,
    Found,
    Group,
    Minus,
    Passes,
    Union,
    all_of,
    any_of,
    bound_by,
    is_blank,
)
from unseen.logic.tree import to_query
from unseen.logic.values.gathering import gathered, value_variables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unseen.logic.formula import Term
    from unseen.logic.sparql.patterns import Test, Variables


def query_of(group: Group, answer: Variable, text: str) -> Query:
    """The query whose answers are the values of `answer` where the group matches; `text` is the question as written."""
    _check_bound(answer, bound_by(group), text)
    formula = _Meaning(text).group(group, frozenset())
    try:
        return _tree(formula, answer, text)
    except QueryRefused:
        with suppress(QueryRefused):
            return _tree(_with_constants(formula, answer), answer, text)
        raise


def pattern_of(group: Group, answers: Sequence[Variable], text: str) -> Query | Pattern:
    """The query of a group with one answer variable that is a tree; else its pattern."""
    refusal: QueryRefused | None = None
    if len(answers) == 1:
        try:
            return query_of(group, answers[0], text)
        except QuestionTooLarge:
            raise
        except QueryRefused as error:
            refusal = error
    bound = bound_by(group)
    for answer in answers:
        _check_bound(answer, bound, text)
    formula = _quantified(_Meaning(text).group(group, frozenset()), frozenset(answers))
    try:
        return checked_pattern(Pattern(formula, tuple(answers), text))
    except QueryRefused:
        if refusal is not None:
            raise refusal from None
        raise


def closed_formula(group: Group, text: str) -> Formula:
    """Whether the group matches at all: what it means, for some values of its variables."""
    formula = _Meaning(text).group(group, frozenset())
    variables = _ordered(free_variables(formula))
    return Exists(tuple(variables), formula, group.place) if variables else formula


def _check_bound(answer: Variable, bound: Bound, text: str) -> None:
    where = max(text.find(f"?{answer.name}"), 0)
    if answer not in bound.sometimes:
        reason = f"?{answer.name} is not bound: say what it is by a pattern outside of FILTER and MINUS"
        raise QueryRefused(reason, text=text, position=where)
    if answer not in bound.always:
        raise QueryRefused(f"?{answer.name} is not bound in every alternative of UNION", text=text, position=where)


class _Meaning:
    """One translation; variables that are not shared get a scope of their own."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.scopes = count(1)

    def refuse(self, reason: str, variables: Variables, place: Place) -> NoReturn:
        raise QueryRefused(f"{reason}: {_shown(variables)}", text=self.text, position=place.position, place=place.shown)

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
        """What MINUS excludes; nothing if it shares no variable with the patterns before it."""
        formula = self.group(part.group, outer)
        if known := free_variables(formula) & outer:
            self.refuse("MINUS inside of EXISTS may not use variables from outside of it", known, part.place)
        removed = bound_by(part.group)
        shared = before.sometimes & removed.sometimes
        if doubtful := shared - (before.always & removed.always):
            self.refuse("MINUS may only share variables that every alternative binds", doubtful, part.place)
        return [Negation(self.with_own_variables(formula, shared, part.place), part.place)] if shared else []

    def test(self, test: Test, bound: Bound, outer: Variables, place: Place) -> Formula:
        match test:
            case Equal():
                return self.comparison(test, bound.always | outer, place)
            case AllOf():
                return all_of([self.test(part, bound, outer, place) for part in test.tests], place)
            case AnyOf():
                return any_of([self.test(part, bound, outer, place) for part in test.tests], place)
            case Fails():
                return Negation(self.test(test.test, bound, outer, place), place)
            case Found():
                return self.found(test, bound, outer, place)
            case Passes():
                return self.passes(test, bound.always | outer, place)

    def passes(self, test: Passes, bound: Variables, place: Place) -> Formula:
        made = ValueTest(test.expression, place)
        if unbound := free_variables(made) - bound:
            self.refuse("FILTER tests a variable that its own group does not bind", unbound, place)
        return made

    def comparison(self, test: Equal, bound: Variables, place: Place) -> Formula:
        if test.variable not in bound:
            unbound = frozenset((test.variable,))
            self.refuse("FILTER compares a variable that its own group does not bind", unbound, place)
        return test

    def found(self, test: Found, bound: Bound, outer: Variables, place: Place) -> Formula:
        visible = bound.sometimes | outer
        formula = self.group(test.group, visible)
        shared = free_variables(formula) & visible
        if doubtful := shared - bound.always - outer:
            self.refuse("EXISTS may only share variables that every alternative binds", doubtful, place)
        return self.with_own_variables(formula, shared, place)

    def with_own_variables(self, formula: Formula, shared: Variables, place: Place) -> Formula:
        """The formula with every variable that is not shared made local."""
        hidden = _ordered(free_variables(formula) - shared)
        own = {variable: Variable(variable.name, next(self.scopes)) for variable in hidden}
        return Exists(tuple(own.values()), substituted(formula, own), place) if own else formula


def _tree(formula: Formula, answer: Variable, text: str) -> Query:
    formula = _quantified(formula, frozenset((answer,)))
    values = value_variables(formula)
    if answer in values:
        raise QueryRefused(f"?{answer.name} stands for values")
    formula = gathered(formula, values)
    for part in _walk(formula):
        variables = free_variables(part) if isinstance(part, Negation) else frozenset()
        if len(variables) > 1:
            reason = f"one negation joins {_shown(variables)}; it may share only one variable with the rest"
            raise QueryRefused(reason, text=text, position=part.place.position, place=part.place.shown)
    return _without_blanks(to_query(formula, answer, text))


def _without_blanks(query: Query) -> Query:
    """The query without names for variables that have none in the text."""
    children = tuple(_without_blanks(child) for child in query.children)
    if isinstance(query, Project | Repeat) and query.variable is not None and is_blank(Variable(query.variable)):
        return replace(query, source=children[0], variable=None)
    return rebuild(query, children)


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


def _with_constants(formula: Formula, answer: Variable) -> Formula:
    """The formula with names in place of the variables that stand for just one, which may make it a tree."""
    constants = _constants(formula, answer)
    kept = [p for p in conjuncts(formula) if not (isinstance(p, Equal) and p.variable in constants)]
    return all_of([substituted(part, constants) for part in kept], formula.place)


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


def _ordered(variables: Iterable[Variable]) -> list[Variable]:
    return sorted(variables, key=lambda variable: (variable.name, variable.scope))


def _shown(variables: Iterable[Variable]) -> str:
    return ", ".join(v.name if is_blank(v) else f"?{v.name}" for v in _ordered(variables))
