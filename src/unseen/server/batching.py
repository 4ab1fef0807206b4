"""Questions that arrive at the same time share one call of the model.

While the model is busy, questions wait (`admission`); when it is free, it takes the next batch. So nobody waits for a
batch to fill, and under load batches grow by themselves. A batch for which nobody waits any more is stopped at its next
step. A long batch is interrupted between two steps by quick questions, as long as it ends in time all the same.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from unseen.database.engine.deadline import time_left
from unseen.errors import Stopped
from unseen.logic.stopping import checked_by, enough_after
from unseen.server.admission import Backlog, Bounds, Cost, Ticket
from unseen.server.callers import Caller
from unseen.server.memory import given_back
from unseen.server.problems import Problem, disconnected, stopping, too_slow
from unseen.server.workers import THREADS, log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.server.server_settings import Limits

Item = TypeVar("Item")
Result = TypeVar("Result")
ANYONE = Caller()
SOON = 0.05
"""Seconds after which it is worth watching whether a client is still there."""
MARGIN = 1.25
"""How much longer than estimated a call may take that is interrupted."""
MEASURED_AGAIN = 60.0
"""Seconds between two measurements of a model that seems too slow for what it is asked."""


@dataclass(frozen=True)
class _Asked(Generic[Item, Result]):
    item: Item
    future: asyncio.Future[Result]


_Taken = list[Ticket[_Asked[Item, Result]]]


@dataclass(eq=False)
class _Call(Generic[Item, Result]):
    """One call of the model."""

    batch: _Taken[Item, Result]
    estimate: float
    began: float
    interrupted: float = 0.0
    """Seconds that it has waited for quick questions."""
    is_stopped: bool = False

    def rest(self, now: float) -> float:
        """Seconds that it will still take; one that is late is expected to be late by as much again."""
        return abs(self.began + self.estimate - now)

    def has_left(self, ticket: Ticket[_Asked[Item, Result]]) -> None:
        """Note that one of its questions was abandoned; if it was the last, the call should stop."""
        if ticket in self.batch and all(one.item.future.done() for one in self.batch):
            self.is_stopped = True

    def may_wait(self, now: float, seconds: float) -> bool:
        """Whether it may be interrupted for some seconds: it keeps half of the time, and ends before its deadlines."""
        deadlines = [one.deadline for one in self.batch if not one.item.future.done()]
        ends = now + MARGIN * self.rest(now) + seconds
        return self.interrupted <= (now - self.began) / 2 and ends <= min(deadlines, default=now)

    def was_interrupted(self, seconds: float) -> None:
        """Note that the call ends `seconds` later."""
        self.interrupted += seconds
        self.estimate += seconds


class Batcher(Generic[Item, Result]):
    """One thread that answers lists of items; `answer` gives a result or an error for each."""

    def __init__(
        self,
        answer: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        bounds: Bounds,
        *,
        cost_of: Callable[[Item], Cost] = lambda _: Cost(0.0),
        measure: Callable[[], None] = lambda: None,
        measuring: Callable[[], float] = lambda: 0.0,
        noted: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`measure` finds out how long the model takes; it runs before anything else, and again when in doubt.

        `measuring` says how many seconds that will take, by estimate.
        """
        self._measuring = measuring
        self._answer, self._measure, self._noted, self.bounds = answer, measure, noted, bounds
        self.counts: Counter[str] = Counter()
        self.seconds = {"estimated": 0.0, "actual": 0.0}
        """Of all batches that were answered to the end."""
        self._cost_of = cost_of
        self._backlog: Backlog[_Asked[Item, Result]] = Backlog(self._cost, bounds)
        self._backlog.is_measured = False
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"{THREADS}batch")
        self._arrived = asyncio.Event()
        self._call: _Call[Item, Result] | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = self._in_doubt = self._has_quick = self._begins_again = False
        self._measured = -MEASURED_AGAIN

    def start(self) -> None:
        """Begin to answer."""
        self._call = _Call([], self._measuring(), time.monotonic())
        self._task = asyncio.create_task(self._work())

    def begin_again(self) -> None:
        """Measure the model again after the current call, because it has been replaced."""
        self._begins_again = True
        self._arrived.set()

    @property
    def is_measured(self) -> bool:
        """Whether the model is ready, and how long it takes is known."""
        return self._backlog.is_measured

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return len(self._backlog.waiting)

    @property
    def backlog_seconds(self) -> float:
        """The estimated time until the model has finished accepted questions."""
        with self._lock:
            return self._busy(time.monotonic()) + self._backlog.seconds

    async def submit(self, item: Item, caller: Caller = ANYONE) -> Result:
        """The result for one item, computed together with others."""
        if self._stopped:
            raise stopping()
        asked: _Asked[Item, Result] = _Asked(item, asyncio.get_running_loop().create_future())
        ticket = self._admitted(asked, caller.client)
        self._arrived.set()
        try:
            return await self._awaited(ticket, caller)
        finally:
            self._leave(ticket)

    async def stop(self) -> None:
        """Accept nothing new and finish accepted questions; if cancelled, stop at the next step."""
        self._stopped = True
        self._arrived.set()
        try:
            if self._task is not None:
                await self._task
        except asyncio.CancelledError:
            if self._call is not None:
                self._call.is_stopped = True
            raise
        finally:
            self._thread.shutdown(wait=False)

    def _admitted(self, asked: _Asked[Item, Result], client: str) -> Ticket[_Asked[Item, Result]]:
        now, left = time.monotonic(), time_left(self.bounds.seconds)
        try:
            with self._lock:
                ticket = self._backlog.admit(asked, client, now, self._busy(now), left)
                self._has_quick |= ticket.cost.seconds <= self.bounds.quick
        except Problem as problem:
            self.counts[problem.code] += 1
            if problem.code == "too_costly":
                self._in_doubt = True
                self._arrived.set()
            raise
        return ticket

    def _cost(self, asked: _Asked[Item, Result]) -> Cost:
        """The cost of a question; before anything is measured none is too much, and few may wait."""
        cost, half = self._cost_of(asked.item), self.bounds.seconds / 2
        return cost if self._backlog.is_measured or cost.seconds <= half else cost._replace(seconds=half)

    def _busy(self, now: float) -> float:
        """Seconds until the model is free, by estimate."""
        return 0.0 if self._call is None else self._call.rest(now)

    async def _awaited(self, ticket: Ticket[_Asked[Item, Result]], caller: Caller) -> Result:
        future = ticket.item.future
        done, _ = await asyncio.wait([future], timeout=min(SOON, self._patience(ticket)))
        if done:
            return future.result()
        gone = asyncio.ensure_future(caller.gone())
        either: list[asyncio.Future[Any]] = [future, gone]
        try:
            while not future.done():
                await asyncio.wait(either, timeout=self._patience(ticket), return_when=asyncio.FIRST_COMPLETED)
                if not future.done():
                    self._check_worth_waiting(ticket, is_gone=gone.done())
            return future.result()
        finally:
            gone.cancel()

    def _patience(self, ticket: Ticket[_Asked[Item, Result]]) -> float:
        """How long to wait: until it can no longer be answered in time, or, if it is being answered, to the end."""
        until = ticket.deadline
        if ticket in self._backlog.waiting:
            until -= ticket.cost.seconds
        return max(0.0, until - time.monotonic())

    def _check_worth_waiting(self, ticket: Ticket[_Asked[Item, Result]], *, is_gone: bool) -> None:
        if is_gone:
            self.counts["disconnected"] += 1
            raise disconnected()
        if self._patience(ticket) > 0:
            return
        if ticket in self._backlog.waiting:
            raise self._turned_away(ticket)
        self.counts["time_limit"] += 1
        raise too_slow(self.bounds.seconds)

    def _turned_away(self, ticket: Ticket[_Asked[Item, Result]]) -> Problem:
        """The error of a question that waited too long because others took longer than estimated."""
        self.counts["turned_away"] += 1
        now = time.monotonic()
        with self._lock:
            return self._backlog.too_late(ticket, now, self._busy(now))

    def _leave(self, ticket: Ticket[_Asked[Item, Result]]) -> None:
        """Note that a question is answered or abandoned."""
        if not ticket.item.future.done():
            ticket.item.future.cancel()
        with self._lock:
            self._backlog.leave(ticket)
        if self._call is not None:
            self._call.has_left(ticket)

    async def _work(self) -> None:
        await self._measure_now()
        while True:
            if self._begins_again and not self._stopped:
                self._begins_again = False
                await self._measure_now()
            batch = self._next_batch()
            if batch:
                await self._run(batch)
            elif self._stopped:
                return
            elif self._in_doubt and time.monotonic() - self._measured >= MEASURED_AGAIN:
                await self._measure_now(unless=lambda: self._has_quick or self.waiting > 0)
            else:
                self._arrived.clear()
                await self._arrived.wait()

    def _next_batch(self) -> _Taken[Item, Result]:
        with self._lock:
            late = self._backlog.refresh(time.monotonic())
            batch = self._backlog.take()
            self._has_quick = bool(self._backlog.waiting)
        for ticket in late:
            if not ticket.item.future.done():
                ticket.item.future.set_exception(self._turned_away(ticket))
        return batch

    async def _measure_now(self, unless: Callable[[], bool] = lambda: False) -> None:
        """Find out how long the model takes, unless the server stops or something comes in between."""

        def measure() -> None:
            def check() -> None:
                if self._stopped or unless():
                    raise Stopped

            with checked_by(check):
                self._measure()

        self._call = _Call([], self._measuring(), time.monotonic())
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, measure)
        except Stopped:
            pass
        except Exception as error:  # noqa: BLE001 - what is wrong with the model its questions will say
            log.error(json.dumps({"event": "error", "error": repr(error)[:500]}), exc_info=error)
        self._call, self._in_doubt, self._measured, self._backlog.is_measured = None, False, time.monotonic(), True

    async def _run(self, batch: _Taken[Item, Result]) -> None:
        call = self._call = _Call(batch, _seconds(batch), time.monotonic())
        self._noted(len(batch))
        loop = asyncio.get_running_loop()
        check = partial(self._check, call, loop)
        try:
            results = await loop.run_in_executor(self._thread, self._answered_within, batch, check)
        finally:
            self._call = None
        self._deliver(call, results)

    def _deliver(self, call: _Call[Item, Result], results: Sequence[Result | Exception]) -> None:
        if any(isinstance(result, Stopped) for result in results):
            self.counts["stopped"] += 1
        else:
            self.seconds["estimated"] += call.estimate
            self.seconds["actual"] += time.monotonic() - call.began
        for ticket, result in zip(call.batch, results, strict=True):
            future = ticket.item.future
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(stopping() if isinstance(result, Stopped) else result)
            else:
                future.set_result(result)

    def _check(self, call: _Call[Item, Result], loop: asyncio.AbstractEventLoop | None) -> None:
        """Called between two steps in the model's thread: stops abandoned calls, lets quick questions pass."""
        if call.is_stopped:
            raise Stopped
        is_long = self.bounds.interrupted and call.estimate > self.bounds.batch_seconds
        if loop is not None and self._has_quick and is_long:
            self._let_pass(call, loop)

    def _let_pass(self, call: _Call[Item, Result], loop: asyncio.AbstractEventLoop) -> None:
        """Answer quick questions while a long call waits, if it has the time."""
        began = time.monotonic()
        with self._lock:
            if not call.may_wait(began, self.bounds.batch_seconds):
                return
            batch = self._backlog.take(quick=True)
            self._has_quick = bool(batch and self._backlog.waiting)
        if not batch:
            return
        quick = _Call(batch, _seconds(batch), began)
        results = self._answered_within(batch, partial(self._check, quick, None))
        call.was_interrupted(time.monotonic() - began)
        loop.call_soon_threadsafe(self._deliver, quick, results)

    def _answered_within(self, batch: _Taken[Item, Result], check: Callable[[], None]) -> Sequence[Result | Exception]:
        first = min(ticket.deadline for ticket in batch) - time.monotonic()
        with given_back(), checked_by(check), enough_after(first):
            return self._answered([ticket.item.item for ticket in batch])

    def _answered(self, items: Sequence[Item]) -> Sequence[Result | Exception]:
        """A result or an error for each item; if the call itself fails, each alone, so that only one suffers."""
        try:
            return [without_frames(result) for result in self._answer(items)]
        except Stopped as stopped:
            return [stopped] * len(items)
        except Exception as error:  # noqa: BLE001 - whatever it is, everyone who waits must hear of it
            log.error(json.dumps({"event": "error", "error": repr(error)[:500]}), exc_info=error)
            if len(items) == 1:
                return [without_frames(error)]
            return [result for item in items for result in self._answered([item])]


def without_frames(result: Result | Exception) -> Result | Exception:
    """A result; an error without its frames, which could keep hundreds of megabytes alive."""
    if isinstance(result, Exception):
        result.__context__ = result.__cause__ = None
        return result.with_traceback(None)
    return result


def bounds_of(limits: Limits, lanes: int = 1) -> Bounds:
    """The bounds of one of some queues that share the limits of a server."""
    waiting = max(1, limits.waiting // lanes)
    return Bounds(limits.seconds, waiting, limits.batch, limits.batch_seconds)


def _seconds(batch: Sequence[Ticket[Any]]) -> float:
    return sum(ticket.cost.seconds for ticket in batch)
