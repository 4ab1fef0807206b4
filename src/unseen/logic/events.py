"""The events of a question: what the probability of an entity is made of.

For one value of a variable, every branch is an event: a link from a named entity, or an inner `exists`. A question is a
Boolean expression over its events, and an event has the same form however the question is written:

- what is said about an inner variable becomes its `alternatives`, and `exists` of alternatives becomes alternatives
  of `exists`: an event is a relation and a conjunction;
- `exists y . y = c & A(y) & r(y, x)` is `A(c) & r(c, x)`: a link from c, and a fact about c (`At`).

Written out are at most `MOST_TERMS` alternatives; a variable with more stays one event, as it is written.

A conjunction implies each part of it, so `weaker` lists what an event implies: no event may be likelier than those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, Unrecorded, conjunction, disjunction
from unseen.logic.alternatives import Everything, Term, TooManyTerms, alternatives

MOST_TERMS = 16
"""Alternatives of an inner variable that become events of their own."""
MOST_WEAKER = 32
"""Events that an event is compared with; one that implies more is taken as it is."""


@dataclass(frozen=True)
class At(Query):
    """A fact about a named entity, the same for every answer: whether `event` holds for it."""

    event: Query
    entity: str | int

    @property
    def children(self) -> tuple[Query, ...]:
        """The event."""
        return (self.event,)

    def __str__(self) -> str:
        return f"[{self.event} at {self.entity}]"


def over_events(query: Query) -> Query:
    """The query as a Boolean expression over its events."""
    match query:
        case And():
            return conjunction(list(dict.fromkeys(_opened(query.parts, And))))
        case Or():
            return disjunction(list(dict.fromkeys(_opened(query.parts, Or))))
        case Not():
            return Not(over_events(query.part))
        case Unrecorded():
            return over_events(query.part)
        case Project():
            return _existing(query, over_events(query.source))
    return query


def events_of(expression: Query) -> Iterator[Query]:
    """The events of a Boolean expression, repeated where they are repeated."""
    if isinstance(expression, And | Or | Not):
        for part in expression.children:
            yield from events_of(part)
    else:
        yield expression


def weaker(event: Query) -> list[Project]:
    """The events that an event implies because they say less about an inner variable; none if they are too many."""
    found: dict[Project, None] = {}
    pending = list(_one_step_weaker(event))
    while pending:
        one = pending.pop()
        if one in found:
            continue
        found[one] = None
        if len(found) > MOST_WEAKER:
            return []
        pending.extend(_one_step_weaker(one))
    return list(found)


def _opened(parts: tuple[Query, ...], kind: type[And | Or]) -> Iterator[Query]:
    """The parts over events, those of the same operator opened."""
    for part in parts:
        expression = over_events(part)
        yield from expression.children if isinstance(expression, kind) else (expression,)


def _existing(query: Project, source: Query) -> Query:
    """Whether there is a member of `source`, given over events, from which the relation of `query` leads on."""
    try:
        terms = alternatives(source, MOST_TERMS)
    except TooManyTerms:
        return Project(query.relation, source, query.inverse, query.variable)
    if not terms:
        return Not(Everything())
    return disjunction(sorted((_event(query, term) for term in terms), key=str))


def _event(query: Project, term: Term) -> Query:
    """Whether there is a value for which all literals hold, and from which the relation leads on."""
    closed = [literal(atom, holds=holds) for atom, holds in term if isinstance(atom, At)]
    about = [(atom, holds) for atom, holds in term if not isinstance(atom, At)]
    named = next((atom for atom, holds in about if holds and isinstance(atom, Anchor)), None)
    if named is not None:
        facts = [literal(At(atom, named.entity), holds=holds) for atom, holds in about if atom is not named]
        parts = [Project(query.relation, named, query.inverse), *sorted(closed + facts, key=str)]
        return conjunction(parts)
    source = all_literals([literal(atom, holds=holds) for atom, holds in about])
    event = Project(query.relation, source, query.inverse, query.variable)
    return conjunction([event, *sorted(closed, key=str)])


def literal(atom: Query, *, holds: bool) -> Query:
    """The atom or its negation."""
    return atom if holds else Not(atom)


def all_literals(literals: list[Query]) -> Query:
    """The literals in an order of their own; everything, if there is none."""
    return conjunction(sorted(dict.fromkeys(literals), key=str)) if literals else Everything()


def _one_step_weaker(event: Query) -> Iterator[Project]:
    """The event with one literal of its source left out, or itself weaker.

    What is left must say what a value is, not only what it is not.
    """
    if not isinstance(event, Project):
        return
    literals = list(event.source.children) if isinstance(event.source, And) else [event.source]
    for place, literal in enumerate(literals):
        others = literals[:place] + literals[place + 1 :]
        if any(not isinstance(other, Not) for other in others):
            yield Project(event.relation, all_literals(others), event.inverse)
        for less in _one_step_weaker(literal):
            yield Project(event.relation, all_literals([*others, less]), event.inverse)
