"""Questions that are not trees: several answer variables, cycles, several edges between two variables.

A `Pattern` is the formula itself, with the variables whose values are asked for. What it means is the same as for a
tree: a tuple is known if the graph satisfies the formula with it, and its probability is the product over the parts,
for the best values of the inner variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from unseen.errors import QueryRefused, QuestionTooLarge
from unseen.logic.formula import (
    Atom,
    Conjunction,
    Constant,
    Disjunction,
    Equal,
    Formula,
    Negation,
    Place,
    Variable,
    binds,
    conjuncts,
    every_variable,
    free_variables,
    links_of,
)
from unseen.logic.tree import to_query

if TYPE_CHECKING:
    from unseen.logic.algebra import Query

MOST_VARIABLES = 64
MOST_PARTS = 256
"""Links between things, wherever they stand."""
MOST_NAMED = 8192
"""Links and equalities."""


@dataclass(frozen=True)
class Pattern:
    """A formula with names, and its answer variables in order."""

    formula: Formula
    answers: tuple[Variable, ...]
    text: str | None = None
    """The question as written, to show the place of an error."""
    hidden: int = 0
    """How many of the last answer variables only order the others."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the question calls its answers."""
        return tuple(variable.name for variable in self.answers[: len(self.answers) - self.hidden])

    @property
    def parts(self) -> list[Formula]:
        """What must hold, part by part."""
        return conjuncts(self.formula)

    @property
    def links(self) -> int:
        """How many links between things it has, in alternatives and negations too."""
        return sum(isinstance(link, Atom) for link in links_of(self.formula))


def query_or_pattern(pattern: Pattern) -> Query | Pattern:
    """The tree that a pattern describes, if it is one with a single answer variable; else the pattern, checked."""
    if len(pattern.answers) > 1:
        return checked_pattern(pattern)
    try:
        return to_query(pattern.formula, pattern.answers[0], pattern.text)
    except QuestionTooLarge:
        raise
    except QueryRefused as refusal:
        try:
            return checked_pattern(pattern)
        except QueryRefused:
            raise refusal from None


def checked_pattern(pattern: Pattern) -> Pattern:
    """The pattern; an error if a variable is not bound, or an answer not connected with the others."""
    if any(isinstance(part, Atom) and not free_variables(part) for part in pattern.parts):
        pattern = _without_ground_links(pattern)
    _require_few(pattern)
    parts = pattern.parts
    bound = bound_variables(parts)
    for variable in pattern.answers:
        if variable not in bound:
            place = next((part.place for part in parts if variable in free_variables(part)), pattern.formula.place)
            _refuse(pattern, f"say what ?{variable.name} is, not only what it is not", place)
    for part in parts:
        if unbound := free_variables(part) - bound:
            names = ", ".join(sorted(f"?{variable.name}" for variable in unbound))
            _refuse(pattern, f"negation must be bound: say what {names} is, not only what it is not", part.place)
    _require_connection(pattern, parts)
    return pattern


def _require_few(pattern: Pattern) -> None:
    """Refuse a formula with a part that is too large."""
    if pattern.links > MOST_PARTS or len(every_variable(pattern.formula)) > MOST_VARIABLES:
        _refuse(pattern, f"it has more than {MOST_VARIABLES} variables or {MOST_PARTS} parts", pattern.formula.place)
    if sum(1 for _ in links_of(pattern.formula)) > MOST_NAMED:
        _refuse(pattern, f"it compares with more than {MOST_NAMED:,} names", pattern.formula.place)


def bound_variables(parts: list[Formula]) -> frozenset[Variable]:
    """The variables that some part gives a value."""
    return frozenset(
        variable for part in parts if not isinstance(part, Negation) and binds(part) for variable in always_bound(part)
    )


def always_bound(part: Formula) -> frozenset[Variable]:
    """The free variables that every alternative of a part binds."""
    if isinstance(part, Disjunction):
        return frozenset.intersection(*(bound_variables(conjuncts(one)) & free_variables(one) for one in part.parts))
    return free_variables(part)


def _require_connection(pattern: Pattern, parts: list[Formula]) -> None:
    """Refuse answers that nothing joins with the first one: every value of one would go with each of the other.

    Other variables may be apart: what is said about them holds or not, whatever the answers are.
    """
    reached, pending = {pattern.answers[0]}, list(parts)
    while joined := [part for part in pending if free_variables(part) & reached]:
        pending = [part for part in pending if part not in joined]
        reached |= frozenset().union(*(free_variables(part) for part in joined))
    for part in pending:
        if not free_variables(part):
            _refuse(pattern, "it says nothing about a variable", part.place)
    apart = [variable for variable in pattern.answers if variable not in reached]
    for part in pending:
        if free_variables(part) & frozenset(apart):
            names = ", ".join(f"?{variable.name}" for variable in apart)
            reason = f"{names} has no connection with ?{pattern.answers[0].name}: ask about each in its own question"
            _refuse(pattern, reason, part.place)


def _without_ground_links(pattern: Pattern) -> Pattern:
    """The pattern with a variable at one end of each link between two names, and that name as its value."""
    parts: list[Formula] = []
    for number, part in enumerate(pattern.parts):
        if isinstance(part, Atom) and isinstance(part.object, Constant) and not free_variables(part):
            end = Variable("_:given", -1 - number)
            parts += [replace(part, object=end), Equal(end, part.object, part.place)]
        else:
            parts.append(part)
    return replace(pattern, formula=Conjunction(tuple(parts), pattern.formula.place))


def _refuse(pattern: Pattern, reason: str, place: Place) -> NoReturn:
    raise QueryRefused(reason, text=pattern.text, position=place.position, place=place.shown)
