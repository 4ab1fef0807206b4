"""All connections of a server: how many there may be, how long they may wait, how much memory they may hold.

Above the cap the connection that has kept us waiting for longest is closed in favour of a new one: an idle one at once,
a half-sent request or an unread answer after a second of silence. If there is none, the new one gets 503. Requests that
are being answered are never given up. From this machine a few more may come, for whoever looks after the server.

Connections whose chunked bodies are parsed in pieces take turns, some milliseconds in each turn of the event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from unseen.server.problems import busy
from unseen.server.server_settings import is_loopback

if TYPE_CHECKING:
    from unseen.server.http_connection import HttpConnection
    from unseen.server.server_settings import ConnectionLimits

MOST_BY_DEFAULT = 1000
FOR_THIS_MACHINE = 8
"""Connections from this machine above the cap."""
SILENCE = 1.0
"""Seconds after which a connection that is not idle may have to make room."""

TURN = 0.005
"""Seconds of parsing in a turn of the event loop, for all connections together."""


class ConnectionWatch:
    """The connections of a server."""

    def __init__(self, limits: ConnectionLimits, *, largest_body: int = 0, largest_answer: int = 0) -> None:
        self.limits = limits
        self.most = limits.most or default_cap()
        self.connections: set[HttpConnection] = set()
        self.incoming = self.outgoing = 0
        """Bytes of requests, and of large answers, in memory."""
        self._most_incoming = max(limits.incoming_bytes, 2 * largest_body)
        self._most_outgoing = max(limits.outgoing_bytes, 2 * largest_answer)
        self._is_watching = self._is_taking_turns = False
        self._turns: deque[HttpConnection] = deque()
        """Connections that hold a piece to be parsed."""
        shortest = min(limits.head_seconds, limits.body_seconds, limits.idle_seconds, limits.unread_seconds)
        self._period = min(1.0, shortest / 4)

    @property
    def has_too_much(self) -> bool:
        """Whether requests that are not answered yet fill the memory for them."""
        return self.incoming > self._most_incoming

    def enter(self, connection: HttpConnection) -> bool:
        """Take in a connection; False if there is no room."""
        peer = connection.client
        allowed = self.most + (FOR_THIS_MACHINE if peer is not None and is_loopback(peer[0]) else 0)
        if len(self.connections) >= self.most and not self._make_room() and len(self.connections) >= allowed:
            return False
        self.connections.add(connection)
        if not self._is_watching:
            self._is_watching = True
            connection.loop.call_later(self._period, self._look, connection.loop)
        return True

    def leave(self, connection: HttpConnection) -> None:
        """A connection has ended."""
        self.connections.discard(connection)

    def take_turn(self, connection: HttpConnection) -> None:
        """Let a connection go on when it is its turn."""
        self._turns.append(connection)
        if not self._is_taking_turns:
            self._is_taking_turns = True
            connection.loop.call_soon(self._take_turns, connection.loop)

    def _take_turns(self, loop: asyncio.AbstractEventLoop) -> None:
        until = loop.time() + TURN
        while self._turns and loop.time() < until:
            self._turns.popleft().go_on()
        self._is_taking_turns = bool(self._turns)
        if self._turns:
            loop.call_soon(self._take_turns, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End connections that have taken too long."""
        now = loop.time()
        for connection in list(self.connections):
            connection.check(now)
        self._is_watching = bool(self.connections)
        if self._is_watching:
            loop.call_later(self._period, self._look, loop)

    def _make_room(self) -> bool:
        """Give up the connection that has kept us waiting for longest, if there is one."""
        now = next(iter(self.connections)).loop.time()
        idle = [one for one in self.connections if one.is_idle]
        waiting = idle or [one for one in self.connections if now - (one.waits_since() or now) > SILENCE]
        return self._give_up_longest(waiting)

    def _give_up_longest(self, waiting: list[HttpConnection]) -> bool:
        if not waiting:
            return False
        longest = min(waiting, key=lambda one: one.waits_since() or 0.0)
        self.connections.discard(longest)
        longest.transport.abort()
        return True

    async def reserve(self, size: int) -> None:
        """Take memory for a large answer, if need be that of a client that does not read its own; or an error."""
        while self.outgoing and self.outgoing + size > self._most_outgoing:
            now = asyncio.get_running_loop().time()
            unread = [one for one in self.connections if one.unread_since and now - one.unread_since > SILENCE]
            if not self._give_up_longest(unread):
                raise busy()
            await asyncio.sleep(0.01)  # until the answer that was given up is gone
        self.outgoing += size

    def release(self, size: int) -> None:
        """Give the memory of an answer back."""
        self.outgoing -= size


def default_cap() -> int:
    """How many connections to take: half of the files that may be open, at most a thousand."""
    return max(16, min(MOST_BY_DEFAULT, open_files() // 2))


def open_files() -> int:
    """How many files and connections this process may have open."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 2 * MOST_BY_DEFAULT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 30 if soft == resource.RLIM_INFINITY else soft


def allow_open_files(wanted: int) -> None:
    """Raise the limit of open files to the number wanted, as far as the system allows."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
