"""A replica from within: it keeps its copy of the graph, and answers what the server asks.

Messages are carried out in the order in which they come. While the model is at work it looks between two steps whether
there are more: a quick question in the middle of a long one, or the word to stop.
"""

from __future__ import annotations

import json
import select
import socket
import sys
from collections import deque
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.database.engine.child import end_with_server, leave, leave_ending_to_server
from unseen.database.engine.frames import Closed, FrameBuffer, frame
from unseen.errors import Stopped
from unseen.logic.stopping import checked_by, enough_after
from unseen.server.memory import given_back
from unseen.server.replicas.packing import Base, Failure, ReplicaCall, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.database.engine.frames import Header
    from unseen.graph import KnowledgeGraph
    from unseen.graph.deltas import Delta
    from unseen.server.model_work import ModelWork, Request, Result
    from unseen.server.predicting import Predictor


def main() -> None:
    """Become the process that the command line describes."""
    _, options, number = sys.argv[1:]
    settings = json.loads(options)
    connection = socket.socket(fileno=int(number))
    leave_ending_to_server()
    end_with_server(settings["parent"], connection)
    with suppress(Closed):
        _Replica(connection, settings).serve()
    leave()


class _Content:
    """The copy of the graph, as the predictor sees it; its version is its place."""

    def __init__(self, graph: KnowledgeGraph, place: int) -> None:
        self.graph, self.version = graph, place


class _Replica:
    """One connection and the work that it asks for."""

    def __init__(self, connection: socket.socket, settings: dict[str, Any]) -> None:
        self._connection, self._settings = connection, settings
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._buffer = FrameBuffer()
        self._messages: deque[tuple[Header, bytes]] = deque()
        self._stopped: set[int] = set()
        self._content: _Content
        self._predictor: Predictor | None = None
        self._work: ModelWork

    def serve(self) -> None:
        """Do what is asked until the connection ends."""
        while True:
            self._hear(None)
            self._do_all()

    def _hear(self, wait: int | None) -> None:
        """Read what has arrived; None waits for something."""
        while self._poll.poll(wait):
            try:
                data = self._connection.recv(1 << 18)
            except ConnectionError:
                data = b""
            if not data:
                raise Closed
            self._buffer.feed(data)
            while (found := self._buffer.take()) is not None:
                if found[0]["do"] == "stop":
                    self._stopped.add(found[0]["call"])
                else:
                    self._messages.append(found)
            wait = 0

    def _do_all(self) -> None:
        while self._messages:
            header, body = self._messages.popleft()
            if header["do"] == "step":
                self._step(unpacked(body))
                continue
            actions: dict[str, Callable[[Any], Any]] = {
                "open": self._open,
                "measure": self._measure,
                "answer": self._answer,
            }
            with given_back():
                self._reply(header["call"], partial(actions[header["do"]], unpacked(body)))
            self._stopped.discard(header["call"])

    def _reply(self, call: int, action: Callable[[], Any]) -> None:
        """Carry out a call, and send what it gives, or its error, with how long everything takes by now."""
        try:
            with checked_by(partial(self._check, call)):
                found = action()
        except Closed:
            raise
        except Exception as error:  # noqa: BLE001 - it is raised where the call came from
            found = Failure.of(error)
        measured = None if self._predictor is None else self._predictor.measured
        try:
            self._connection.sendall(frame({"call": call}, packed((found, measured))))
        except ConnectionError:
            raise Closed from None

    def _check(self, call: int) -> None:
        """Between two steps of a call."""
        self._hear(0)
        self._do_all()
        if call in self._stopped:
            raise Stopped

    def _open(self, base: Base) -> None:
        """Begin with a graph from the disk; the first time also with the model."""
        from unseen.database.snapshots import read_snapshot
        from unseen.rules.origins import note_source
        from unseen.server.model_work import ModelWork
        from unseen.server.predicting import Predictor

        graph = read_snapshot(Path(base.path))
        if base.is_sourced:
            note_source(graph, None if base.source is None else Path(base.source))
        if self._predictor is None:
            self._content = _Content(graph, base.place)
            settings = self._settings
            self._predictor = Predictor(self._content, settings["model"], settings["seconds"], settings["effort"])
            self._work = ModelWork(self._predictor)
        self._content.graph, self._content.version = graph, base.place

    def _step(self, step: Delta) -> None:
        """Follow a write."""
        from unseen.graph.deltas import changed

        self._content.graph = changed(self._content.graph, step)
        self._content.version += 1

    def _measure(self, _nothing: None) -> None:
        assert self._predictor is not None  # noqa: S101 - it is opened before
        self._predictor.measure()

    def _answer(self, asked: ReplicaCall) -> list[Result | Failure]:
        """A result or an error for each request."""
        if self._content.version < asked.place:
            raise RuntimeError(f"the graph is at {self._content.version}, and the answer must have seen {asked.place}")
        plans = [self._planned(request) for request in asked.requests]
        good = [plan for plan in plans if not isinstance(plan, Failure)]
        with enough_after(asked.seconds):
            results = iter(self._work.answer_all(good))
        found = [plan if isinstance(plan, Failure) else next(results) for plan in plans]
        return [Failure.of(one) if isinstance(one, Exception) else one for one in found]

    def _planned(self, request: Request) -> Any:
        """A plan, or what is wrong with it on the graph of now."""
        try:
            return self._work.plan(request)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - whoever asked must hear of it
            return Failure.of(error)
