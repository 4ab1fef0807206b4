"""Which questions are taken, in which order, and which share a call of the model. All by estimated seconds.

**Order.** Each client has its turn. A question's tag is where its client's last one ended, or the tag that is served
now, whichever is later, plus its own seconds; the smallest tag goes first. So a flood waits behind itself, and a cheap
question passes expensive ones. The quick and the long questions of a client count as two clients.

**Admission.** A question is taken if it can be answered within the time limit, if no question that was taken before
becomes late by it, and if its client takes no more room than there is left. Otherwise it is refused at once, and told
when to come again; questions of one client that are refused together are told one after the other. As long as costs
are guesses, all are told to come again soon.

**Batches.** A batch takes the next questions while its estimate stays under some seconds and some memory.

Nothing here waits or runs: times are arguments.
"""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from unseen.server.problems import busy, too_costly

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.server.problems import Problem

Item = TypeVar("Item")
MARGIN = 1.25
"""How much longer than estimated what comes before a question may take."""
LONGEST_RETRY = 10
"""In time limits: the longest time that a refused client is sent away for."""
UNMEASURED_RETRY = 5
"""Seconds: the longest time that a refused client is sent away for while costs are guesses."""
MOST_REMEMBERED = 1024
"""Clients, and refusals, that are kept in mind."""


class Cost(NamedTuple):
    """The estimated cost of an answer."""

    seconds: float
    cells: int = 0
    """Memberships that are held at a time."""


@dataclass(frozen=True)
class Bounds:
    """How much may wait and run together."""

    seconds: float = 30.0
    """From the arrival of a question to its answer."""
    waiting: int = 256
    """Most questions that wait."""
    batch: int = 64
    """Most questions in a batch."""
    batch_seconds: float = 2.0
    """A batch takes no further question beyond this."""
    batch_cells: int = 1 << 28
    """A batch takes no further question beyond so many memberships: a gigabyte."""
    interrupted: bool = True
    """Whether quick questions may be answered in the middle of a long batch."""
    keeps_promises: bool = True
    """Whether a question is refused that would make one late that was taken before."""

    @property
    def quick(self) -> float:
        """Seconds of a question that is quick: many of them fit into a batch."""
        return min(self.batch_seconds, self.seconds) / 4


@dataclass(eq=False)
class Ticket(Generic[Item]):
    """One question that was taken."""

    item: Item
    client: str
    deadline: float
    cost: Cost
    tag: float


class Backlog(Generic[Item]):
    """The questions that wait; `cost_of` estimates the cost of one."""

    def __init__(self, cost_of: Callable[[Item], Cost], bounds: Bounds) -> None:
        self.cost_of, self.bounds = cost_of, bounds
        self.is_measured = True
        """Whether costs follow from measurements; a guess may be far too long, so it sends nobody away for long."""
        self.waiting: list[Ticket[Item]] = []
        """In the order of their turns."""
        self._served = 0.0
        self._last_tags: dict[tuple[str, bool], float] = {}
        self._sent_away: list[tuple[float, str, float]] = []

    @property
    def seconds(self) -> float:
        """What all that wait will take."""
        return sum(ticket.cost.seconds for ticket in self.waiting)

    def refresh(self, now: float) -> list[Ticket[Item]]:
        """Renew the estimates of waiting questions after each call; remove those that would be late."""
        for ticket in self.waiting:
            ticket.cost = self.cost_of(ticket.item)
        late = [ticket for ticket in self.waiting if now + ticket.cost.seconds > ticket.deadline]
        if late:
            self.waiting = [ticket for ticket in self.waiting if ticket not in late]
        return late

    def admit(
        self, item: Item, client: str, now: float, running: float = 0.0, left: float | None = None
    ) -> Ticket[Item]:
        """Take a question while the model is busy for `running` more seconds, or refuse it; `left` is its time."""
        cost = self.cost_of(item)
        own = cost.seconds
        if own > self.bounds.seconds:
            raise too_costly(own, self.bounds.seconds)
        key = (client, own <= self.bounds.quick)
        tag = max(self._served, self._last_tags.get(key, 0.0)) + own
        ticket = Ticket(item, client, now + (self.bounds.seconds if left is None else left), cost, tag)
        excess = self._excess(ticket, now, running)
        if excess > 0:
            raise self.refusal(client, own, now, excess)
        self._remember(key, tag)
        insort(self.waiting, ticket, key=attrgetter("tag"))
        return ticket

    def leave(self, ticket: Ticket[Item]) -> None:
        """Remove an abandoned question."""
        if ticket in self.waiting:
            self.waiting.remove(ticket)

    def take(self, *, quick: bool = False) -> list[Ticket[Item]]:
        """The next batch: at least one question, if there is any; only quick ones if asked for."""
        taken: list[Ticket[Item]] = []
        seconds, cells = 0.0, 0
        for ticket in self.waiting:
            cost = ticket.cost
            if quick and cost.seconds > self.bounds.quick:
                continue
            seconds, cells = seconds + cost.seconds, cells + cost.cells
            if taken and (seconds > self.bounds.batch_seconds or cells > self.bounds.batch_cells):
                break
            taken.append(ticket)
            self._served = max(self._served, ticket.tag - cost.seconds)
            if len(taken) == self.bounds.batch:
                break
        gone = set(map(id, taken))
        self.waiting = [ticket for ticket in self.waiting if id(ticket) not in gone]
        if taken and not self.waiting:  # everybody has had their turn
            self._served = max(self._served, *(ticket.tag for ticket in taken))
            self._last_tags.clear()
        return taken

    def too_late(self, ticket: Ticket[Item], now: float, running: float) -> Problem:
        """Why a question that was taken cannot be answered after all."""
        own, limit = ticket.cost.seconds, self.bounds.seconds
        return too_costly(own, limit) if own > limit else self.refusal(ticket.client, own, now, running + self.seconds)

    def refusal(self, client: str, own: float, now: float, seconds: float) -> Problem:
        """Why a question is refused, and when to try again: after earlier refusals of the same client."""
        if not self.is_measured:
            return busy(max(1, math.ceil(min(seconds, UNMEASURED_RETRY))))
        self._sent_away = [one for one in self._sent_away if one[0] > now][-MOST_REMEMBERED:]
        before = sum(cost for _, other, cost in self._sent_away if other == client)
        after = min(seconds + before, LONGEST_RETRY * self.bounds.seconds)
        self._sent_away.append((now + after, client, own))
        return busy(max(1, math.ceil(after)))

    def _excess(self, ticket: Ticket[Item], now: float, running: float) -> float:
        """For how many seconds a question cannot be taken; none if it can."""
        if len(self.waiting) >= self.bounds.waiting:
            return 0.5
        own, finish, ahead, late = ticket.cost.seconds, running, running, 0.0
        for other in self.waiting:
            finish += other.cost.seconds
            if other.tag <= ticket.tag:
                ahead = finish
            elif self.bounds.keeps_promises:
                late = max(late, now + finish + own - other.deadline)
        too_late = ahead - (ticket.deadline - now - own) / MARGIN
        return max(late, too_late, self._over_share(ticket, self.bounds.seconds - finish))

    def _over_share(self, ticket: Ticket[Item], room: float) -> float:
        """By how many seconds a client that has questions waiting would take more than the room that is left."""
        quick, own = self.bounds.quick, ticket.cost.seconds
        mine = sum(
            other.cost.seconds
            for other in self.waiting
            if other.client == ticket.client and (other.cost.seconds <= quick) == (own <= quick)
        )
        return mine + own - room if mine else 0.0

    def _remember(self, key: tuple[str, bool], tag: float) -> None:
        self._last_tags.pop(key, None)
        if len(self._last_tags) >= MOST_REMEMBERED:
            del self._last_tags[next(iter(self._last_tags))]
        self._last_tags[key] = tag
