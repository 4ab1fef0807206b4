"""A replica as the server sees it: a process that answers one thread, and is started again when it has ended."""

from __future__ import annotations

import json
import os
import select
import socket
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.database.engine.frames import FrameBuffer, frame
from unseen.database.engine.process import Child
from unseen.errors import Stopped
from unseen.logic.stopping import check_stop, checked_by, search_time_left
from unseen.server.problems import replica_ended
from unseen.server.replicas.packing import Failure, ReplicaCall, packed, unpacked
from unseen.server.scoring_work import PlannedScores
from unseen.server.workers import log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Lock

    from unseen.database import Database
    from unseen.graph import KnowledgeGraph
    from unseen.server.model_work import Plan, Request, Result
    from unseen.server.predicting import Predictor
    from unseen.server.replicas.feed import GraphFeed
    from unseen.server.server_settings import ServerSettings

MODULE = "unseen.server.replicas.replica_process"
LOOK = 20
"""Milliseconds between two looks at whether anybody still waits."""
PATIENCE = 10.0
"""Seconds that a replica has to end what it was told to stop."""
LONGEST_PAUSE = 30.0
"""Most seconds between two attempts to start it."""
STUCK = 3
"""Starts that fail one after the other before the server says that it is not well."""


class Lost(Exception):
    """The process has ended."""


@dataclass(frozen=True)
class ReplicaSettings:
    """The settings of a replica."""

    server: ServerSettings
    threads: int

    @property
    def environment(self) -> dict[str, str]:
        """Its share of the cores, unless the user has said how many threads there are."""
        threads = str(self.threads)
        return {"OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads, **os.environ}

    @property
    def options(self) -> dict[str, Any]:
        """As its command line has it."""
        server = self.server
        return {"model": server.model, "effort": server.effort, "seconds": server.limits.seconds}


class Replica:
    """One replica; everything but its state is called from the one thread that batches its questions."""

    def __init__(
        self, database: Database, feed: GraphFeed, predictor: Predictor, settings: ReplicaSettings, turn: Lock
    ) -> None:
        """`turn` is held while a replica starts: the next one finds the rules that it has mined."""
        self._database, self._feed, self._predictor, self._settings = database, feed, predictor, settings
        self._turn = turn
        self._child: Child | None = None
        self._connection: socket.socket
        self._place: int | None = None
        self._calls = 0
        self._replies: dict[int, bytes] = {}
        self.is_ready = self.is_starting = self._is_closed = False
        self.started = self.failed = 0
        self._next_start = 0.0

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        child = self._child
        return None if child is None else child.process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has a process."""
        child = self._child
        return child is not None and child.process.poll() is None

    @property
    def is_missing(self) -> bool:
        """Whether it is time to start it again."""
        return not (self.is_running or self.is_starting or self._is_closed) and time.monotonic() >= self._next_start

    def measure(self) -> None:
        """Start it if it does not run, and find out how long its model takes."""
        if self.is_running:
            try:
                self._measure()
            except Lost:
                self._ended()
            return
        self.is_starting = True
        try:
            while not self._turn.acquire(timeout=0.1):
                check_stop()
            try:
                self._start()
            finally:
                self._turn.release()
        finally:
            self.is_starting = False

    def answer_all(self, plans: Sequence[Plan]) -> list[Result | Exception]:
        """A result or an error for each; if the process ends meanwhile, or does not run, that is the error of all."""
        if not self.is_ready:
            return [replica_ended()] * len(plans)
        try:
            version, graph = self._database.version, self._brought_up_to_date()
            requests = tuple(_request_of(plan) for plan in plans)
            asked = ReplicaCall(requests, self._place or 0, search_time_left())
            found, measured = self._call("answer", asked, graph)
        except Lost:
            self._ended()
            return [replica_ended()] * len(plans)
        self._predictor.learn_from(measured, graph, version)
        return [one.error() if isinstance(one, Failure) else one for one in found]

    def close(self) -> None:
        """End its process at once, and start no other one."""
        self._is_closed = True
        child = self._child
        if child is not None:
            child.kill()

    def _start(self) -> None:
        """A new process with the graph of now and the model, measured."""
        if self._is_closed:
            raise Stopped
        self._next_start = time.monotonic() + min(LONGEST_PAUSE, 2.0**self.failed)
        self.failed += 1
        self._let_go()
        settings = self._settings
        self._child = Child.start("replica", settings.options, module=MODULE, environment=settings.environment)
        self.started += 1
        (self._connection,) = self._child.connections
        self._buffer, self._place = FrameBuffer(), None
        self._replies.clear()
        try:
            self._measure()
        except Lost:
            self._ended()
            raise replica_ended() from None
        except BaseException:
            self._let_go()
            raise
        self.failed, self.is_ready = 0, True

    def _measure(self) -> None:
        version, graph = self._database.version, self._brought_up_to_date()
        _, measured = self._call("measure", None, graph)
        self._predictor.learn_from(measured, graph, version)

    def _ended(self) -> None:
        """Note that the process has ended."""
        if self._child is not None and not self._is_closed:
            log.warning(json.dumps({"event": "replica", "message": f"replica process {self.pid} has ended"}))
        self._let_go()

    def _let_go(self) -> None:
        child, self._child, self.is_ready = self._child, None, False
        if child is not None:
            child.kill()
            child.process.wait()

    def _brought_up_to_date(self) -> KnowledgeGraph:
        """Send every write that is done by now; the graph that the replica then has."""
        state = self._database.graph_after(self._place)
        while state.steps is None:
            with self._feed.base() as base, nullcontext() if self.is_starting else checked_by(None):
                self._call("open", base, state.graph)  # no quick question may come in between: it would wait for this
                self._place = base.place
            state = self._database.graph_after(self._place)
        for step in state.steps:
            self._send(frame({"do": "step"}, packed(step)))
        self._place = state.place
        return state.graph

    def _call(self, do: str, content: Any, graph: KnowledgeGraph) -> tuple[Any, Any]:
        """What a call gives, and how long everything takes by now; one that is stopped here is stopped there."""
        self._calls += 1
        call = self._calls
        self._send(frame({"do": do, "call": call}, packed(content)))
        try:
            while call not in self._replies:
                self._wait(select.POLLIN)
                check_stop()
        except Stopped:
            self._stop(call)
            raise
        found, measured = unpacked(self._replies.pop(call), graph)
        if isinstance(found, Failure):
            raise found.error()
        return found, measured

    def _stop(self, call: int) -> None:
        """Stop a call at its next step; a process that does not get there in time, or is new, is ended."""
        until = time.monotonic() + (0.0 if self.is_starting else PATIENCE)
        try:
            self._send(frame({"do": "stop", "call": call}))
            while call not in self._replies:
                if time.monotonic() > until:
                    raise Lost
                self._wait(select.POLLIN)
            del self._replies[call]
        except Lost:
            self._ended()

    def _send(self, data: bytes) -> None:
        """Send all of it and read meanwhile, so that neither end waits for the other forever."""
        left = memoryview(data)
        while left:
            if self._wait(select.POLLIN | select.POLLOUT) & select.POLLOUT:
                with suppress(BlockingIOError):
                    try:
                        left = left[self._connection.send(left[: 1 << 18], socket.MSG_DONTWAIT) :]
                    except ConnectionError:
                        raise Lost from None

    def _wait(self, events: int) -> int:
        """Wait a moment for the connection, read what has arrived, and return what it is ready for."""
        poll = select.poll()
        try:
            poll.register(self._connection, events)
            ready = poll.poll(LOOK)
            if not ready:
                return 0
            if ready[0][1] & ~select.POLLOUT:
                data = self._connection.recv(1 << 18)
                if not data:
                    raise Lost
                self._buffer.feed(data)
        except (OSError, ValueError):  # it has died, or was closed
            raise Lost from None
        while (found := self._buffer.take()) is not None:
            self._replies[found[0]["call"]] = found[1]
        return ready[0][1]


def _request_of(plan: Plan) -> Request:
    """What a plan was made of: the replica makes its own, because trees are too deep to travel."""
    return plan.stated if isinstance(plan, PlannedScores) else plan.asked
