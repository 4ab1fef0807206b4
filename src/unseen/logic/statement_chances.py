"""How likely a statement is, by the calculus that answers questions.

A statement becomes a Boolean expression over events: facts about named entities, and `Some` of alternatives. Facts have
the joint distribution of `joint_probability`. `Some` happens if any entity is a member, and different entities are
independent of each other; what is said of one entity together has the joint distribution of its events. So a fact
never happens without the `exists` that it proves, and every law of probability holds.

Cost: the memberships of all events; with n events of which some are `Some`, 2ⁿ passes over the entities.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import torch

from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, And, Not, Or, Query, conjunction, disjunction
from unseen.logic.alternatives import Everything, Term, TooManyTerms, alternatives
from unseen.logic.closed import Some
from unseen.logic.events import MOST_TERMS, At, all_literals, events_of, literal, over_events
from unseen.logic.joint_probability import probability

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    Memberships = Callable[[Query], Tensor]

MOST_EVENTS = 10
"""Events of a statement with `exists` whose cases are computed one by one."""
ALWAYS = Everything()
NEVER = Not(ALWAYS)


def expression_of(statement: Query) -> Query:
    """A statement, with ids, as a Boolean expression over events: facts, `Some`, and `Everything` for what is true."""
    match statement:
        case At(entity=int(entity)):
            return _at(over_events(statement.event), entity)
        case Some():
            return _some(over_events(statement.part))
        case And():
            return conjunction(list(dict.fromkeys(map(expression_of, statement.parts))))
        case Or():
            return disjunction(list(dict.fromkeys(map(expression_of, statement.parts))))
        case Not():
            return Not(expression_of(statement.part))
    return statement


class StatementChance:
    """The probability of one statement: which sets it needs, and what follows from their memberships."""

    def __init__(self, statement: Query) -> None:
        self.expression = expression_of(statement)
        events = list(dict.fromkeys(events_of(self.expression)))
        self._some = [event for event in events if isinstance(event, Some)]
        self._facts = [event for event in events if isinstance(event, At)]
        if self._some and len(self._some) + len(self._facts) > MOST_EVENTS:
            raise QueryRefused(f"it has `exists` and more than {MOST_EVENTS} different facts and alternatives")

    @property
    def needed(self) -> list[Query]:
        """The queries whose memberships `of` asks for."""
        if not self._some:
            return list(dict.fromkeys(one.event for one in self._facts))
        found = [self._any_of(chosen) for chosen in self._choices() if chosen]
        found += [query for facts in self._by_entity().values() for query in self._together(facts)]
        return list(dict.fromkeys(found))

    def of(self, memberships: Memberships, candidates: NDArray[np.bool_]) -> float:
        """The probability; `candidates` are the entities that may be values of variables."""
        if not self._some:
            return float(probability(self.expression, lambda event: _value(event, memberships)).reshape(-1)[0])
        return self._enumerated(memberships, candidates)

    def _enumerated(self, memberships: Memberships, candidates: NDArray[np.bool_]) -> float:
        """The sum over all cases of all events in which the expression holds."""
        by_entity = self._by_entity()
        elsewhere = candidates.copy()
        elsewhere[list(by_entity)] = False
        nowhere = {chosen: self._nowhere(chosen, memberships, elsewhere) for chosen in self._choices()}
        total = 0.0
        for case in product((False, True), repeat=len(self._facts)):
            happened: dict[Query, bool] = dict(zip(self._facts, case, strict=True))
            chances = {
                chosen: value * self._here(chosen, happened, by_entity, memberships)
                for chosen, value in nowhere.items()
            }
            for some in self._choices():
                truth: dict[Query, bool] = happened | {event: event in some for event in self._some}
                if _holds(self.expression, truth):
                    total += self._exactly(some, chances)
        return min(max(total, 0.0), 1.0)

    def _exactly(self, some: tuple[Query, ...], chances: Mapping[tuple[Query, ...], float]) -> float:
        """The chance that just these `Some` happen, by the chances that none of a choice does."""
        total = 0.0
        for kept in product((False, True), repeat=len(some)):
            absent = {event for event, is_kept in zip(some, kept, strict=True) if is_kept}
            none = tuple(event for event in self._some if event not in some or event in absent)
            total += (-1) ** sum(kept) * chances[none]
        return total

    def _nowhere(self, chosen: tuple[Query, ...], memberships: Memberships, candidates: NDArray[np.bool_]) -> float:
        """The chance that no candidate is a member of any of the sets."""
        if not chosen:
            return 1.0
        values = memberships(self._any_of(chosen)).double().cpu().numpy()[candidates]
        with np.errstate(divide="ignore"):
            return float(np.exp(np.log1p(-values.clip(0, 1)).sum()))

    def _here(
        self,
        chosen: tuple[Query, ...],
        happened: Mapping[Query, bool],
        by_entity: Mapping[int, Sequence[At]],
        memberships: Memberships,
    ) -> float:
        """The chance that the facts are as given, and that their entities are in none of the sets."""
        chance = 1.0
        for entity, facts in by_entity.items():
            query = self._case(facts, [happened[one] for one in facts], chosen)
            chance *= float(memberships(query)[entity])
        return chance

    def _together(self, facts: Sequence[At]) -> list[Query]:
        cases = product((False, True), repeat=len(facts))
        return [self._case(facts, case, chosen) for case in cases for chosen in self._choices()]

    def _case(self, facts: Sequence[At], case: Sequence[bool], chosen: tuple[Query, ...]) -> Query:
        parts = [literal(one.event, holds=holds) for one, holds in zip(facts, case, strict=True)]
        return conjunction([*parts, Not(self._any_of(chosen))] if chosen else parts)

    def _any_of(self, chosen: tuple[Query, ...]) -> Query:
        return disjunction([event.part for event in chosen if isinstance(event, Some)])

    def _by_entity(self) -> dict[int, list[At]]:
        found: dict[int, list[At]] = {}
        for one in self._facts:
            found.setdefault(int(one.entity), []).append(one)
        return found

    def _choices(self) -> list[tuple[Query, ...]]:
        cases = product((False, True), repeat=len(self._some))
        return [tuple(event for event, kept in zip(self._some, case, strict=True) if kept) for case in cases]


def _value(event: Query, memberships: Memberships) -> Tensor:
    if isinstance(event, At):
        entity = int(event.entity)
        return memberships(event.event)[entity : entity + 1].double()
    return torch.ones(1, dtype=torch.float64)


def _holds(expression: Query, truth: Mapping[Query, bool]) -> bool:
    match expression:
        case And():
            return all(_holds(part, truth) for part in expression.parts)
        case Or():
            return any(_holds(part, truth) for part in expression.parts)
        case Not():
            return not _holds(expression.part, truth)
    return truth.get(expression, True)


def _at(expression: Query, entity: int) -> Query:
    """What an expression over events says of one entity."""
    match expression:
        case And():
            return conjunction(list(dict.fromkeys(_at(part, entity) for part in expression.parts)))
        case Or():
            return disjunction(list(dict.fromkeys(_at(part, entity) for part in expression.parts)))
        case Not():
            return Not(_at(expression.part, entity))
        case Anchor():
            return ALWAYS if expression.entity == entity else NEVER
        case At() | Everything():
            return expression
    return At(expression, entity)


def _some(expression: Query) -> Query:
    """Whether an expression over events has a member: any of its alternatives, in an order of their own."""
    try:
        terms = alternatives(expression, MOST_TERMS)
    except TooManyTerms:
        return Some(expression)
    return disjunction(sorted(map(_some_term, terms), key=str)) if terms else NEVER


def _some_term(term: Term) -> Query:
    """Whether there is a value for which all literals hold."""
    closed = [literal(atom, holds=holds) for atom, holds in term if isinstance(atom, At)]
    about = [(atom, holds) for atom, holds in term if not isinstance(atom, At)]
    named = next((atom for atom, holds in about if holds and isinstance(atom, Anchor)), None)
    if isinstance(named, Anchor):
        facts = [literal(At(atom, named.entity), holds=holds) for atom, holds in about if atom is not named]
        return conjunction(sorted(closed + facts, key=str)) if closed or facts else ALWAYS
    source = all_literals([literal(atom, holds=holds) for atom, holds in about])
    return conjunction([Some(source), *sorted(closed, key=str)])
