"""The exact probability of a Boolean expression over events, for all entities at once.

Events have a joint distribution, so every law of probability holds, whatever the expression:

- links from named entities are independent of each other and of all others;
- events about one predicted value, all of them that it is above some bound, rise together too;
- events that come over the same relation from an inner variable rise together: the likelier one happens whenever the
  other does. So what both rest on counts once, and an event never happens without one that it implies.

Parts of a conjunction or disjunction that share no event are combined by product logic. Where parts share some, the
expression is computed for each case of those (Shannon's expansion), and the cases are summed. Cost: operations on all
entities, as many as there are nodes, times the cases of shared events: at most `MOST_CASES`. An expression with more is
computed as if equal events in different parts were independent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.logic.algebra import Anchor, And, Graded, Not, Or, Project, Query
from unseen.logic.events import At, events_of
from unseen.logic.fuzzy import PRODUCT

MOST_CASES = 4096
"""Cases of shared events that are computed one by one."""
Cause = tuple[object, ...]
"""What events that depend on each other have in common."""
Values = Mapping[Query, Tensor]


def cause_of(event: Query) -> Cause | None:
    """What decides an event together with others; None if nothing about it is uncertain."""
    match event:
        case At():
            inner = cause_of(event.event)
            return None if inner is None else (*inner, event.entity)
        case Graded():
            return ("value", event.cause)
        case Project(source=Anchor()):
            return (event,)
        case Project():
            return (event.relation, event.inverse)
    return None


def probability(expression: Query, value: Callable[[Query], Float[Tensor, " entity"]]) -> Float[Tensor, " entity"]:
    """The probability of an expression for every entity; `value` gives that of an event."""
    return _Joint(expression, value).of(expression, {})


class _Joint:
    """One expression: which of its events depend on each other, and the probability of every part."""

    def __init__(self, expression: Query, value: Callable[[Query], Tensor]) -> None:
        self.value = value
        self.causes: dict[Query, frozenset[Cause]] = {}
        self.members: dict[Cause, list[Query]] = {}
        counts = Counter(cause_of(event) for event in events_of(expression))
        repeated = [cause for cause, count in counts.items() if cause is not None and count > 1]
        if repeated:
            self._note_members(expression)
        self.expands = bool(repeated) and prod(1 + len(self.members[cause]) for cause in repeated) <= MOST_CASES

    def _note_members(self, expression: Query) -> None:
        for event in dict.fromkeys(events_of(expression)):
            cause = cause_of(event)
            if cause is not None:
                self.members.setdefault(cause, []).append(event)

    def of(self, node: Query, fixed: Values) -> Tensor:
        """The probability of a node, given that some events have happened (1) or not (0)."""
        match node:
            case Not():
                return PRODUCT.negation(self.of(node.part, fixed))
            case And():
                return PRODUCT.conjunction([self._together(And, some, fixed) for some in self._apart(node, fixed)])
            case Or():
                return PRODUCT.disjunction([self._together(Or, some, fixed) for some in self._apart(node, fixed)])
        found = fixed.get(node)
        return self.value(node) if found is None else found

    def _together(self, kind: type[And | Or], parts: Sequence[Query], fixed: Values) -> Tensor:
        """All of some parts, or any, that depend on each other."""
        if len(parts) == 1:
            return self.of(parts[0], fixed)
        if not any(isinstance(part, And | Or | Not) for part in parts):  # events of one cause
            return reduce(torch.minimum if kind is And else torch.maximum, [self.value(part) for part in parts])
        counts = Counter(cause for part in parts for cause in self._open_causes(part, fixed))
        cause = max(counts, key=lambda one: counts[one])
        node = kind(tuple(parts))
        terms = [weight * self.of(node, {**fixed, **case}) for weight, case in self._cases(self.members[cause])]
        return reduce(torch.add, terms)

    def _cases(self, events: Sequence[Query]) -> list[tuple[Tensor, Values]]:
        """What can happen to events of one cause, each with its probability: the likeliest n happen, others do not."""
        ordered, order = torch.stack([self.value(event) for event in events]).sort(dim=0, descending=True, stable=True)
        places, count = order.argsort(dim=0), len(events)
        edges = torch.cat([torch.ones_like(ordered[:1]), ordered, torch.zeros_like(ordered[:1])])
        return [
            (edges[n] - edges[n + 1], {event: (places[row] < n).to(ordered) for row, event in enumerate(events)})
            for n in range(count + 1)
        ]

    def _apart(self, node: And | Or, fixed: Values) -> list[list[Query]]:
        """The parts of a node in groups that share no cause, in their order."""
        if not self.expands:
            return [[part] for part in node.parts]
        group_of: dict[Cause, int] = {}
        groups: dict[int, list[Query]] = {}
        for place, part in enumerate(node.parts):
            causes = self._open_causes(part, fixed)
            joined = sorted({group_of[cause] for cause in causes if cause in group_of})
            home = joined[0] if joined else place
            groups.setdefault(home, [])
            for other in joined[1:]:
                groups[home] += groups.pop(other)
                group_of |= {cause: home for cause, group in group_of.items() if group == other}
            groups[home].append(part)
            group_of |= dict.fromkeys(causes, home)
        return list(groups.values())

    def _open_causes(self, node: Query, fixed: Values) -> list[Cause]:
        """The causes of what is not fixed yet below a node."""
        known = self.causes.get(node)
        if known is None:
            found = (cause_of(event) for event in events_of(node))
            known = self.causes[node] = frozenset(cause for cause in found if cause is not None)
        return [cause for cause in known if self.members[cause][0] not in fixed]
