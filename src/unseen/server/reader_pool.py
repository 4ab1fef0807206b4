"""Exact queries: a few processes that read, a queue before them, limits on time and memory.

New queries go to quick readers. One that takes longer than a slice of time goes on as a slow one, behind all others,
and a fresh reader takes its place; when there are as many slow ones as allowed, it is ended and told to come again.
So quick queries wait for about a slice, and under pressure oldest and newest go in turns. What exceeds its time, or
whose client has gone, is killed with its process.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.database.engine.deadline import current_deadline
from unseen.database.engine.process import Child
from unseen.server.checkpoints import Checkpoints
from unseen.server.problems import busy, held, stopping, too_slow
from unseen.server.reader_endings import complaint, crowded, too_much_planning, why_it_ended
from unseen.server.reader_process import Job, ReaderProcess
from unseen.server.spool import Spool
from unseen.server.workers import THREADS, log

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from unseen.database import Database
    from unseen.database.engine.frames import Header
    from unseen.server.reader_process import Reply
    from unseen.server.server_settings import ServerSettings

TICK = 0.05
SLICE = 0.5
"""Seconds of work after which a query is a slow one."""
SLICE_WHEN_OTHERS_WAIT = 0.2
LONG_WAIT = 0.25
"""Seconds of waiting after which those who came last are let in too."""
SLOWEST_START = 30.0
CAUSES = ("time", "memory", "nesting", "crowded", "gone", "crash")
"""Why a query was ended: over its time or memory, too deep, too many slow ones, its client left, the engine failed."""


class Readers:
    """The readers of one server."""

    def __init__(self, database: Database, settings: ServerSettings) -> None:
        limits = settings.limits
        self.limits, self.engine = limits, settings.engine
        self.counts: Counter[str] = Counter()
        """How often readers were started, and queries ended, by cause."""
        self._most_waiting_bytes = 2 * limits.body_bytes
        self.spool = Spool(database.path / "serving", limits.spool_bytes)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"{THREADS}checkpoint")
        self.checkpoints = Checkpoints(database, self.spool, self._thread)
        self._all: set[ReaderProcess] = set()
        self._idle: list[ReaderProcess] = []
        self._dying: dict[ReaderProcess, Job | None] = {}
        self._waiting: deque[Job] = deque()
        self._waiting_bytes = 0
        self._failed_starts, self._next_start = 0, 0.0
        self._ticking: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._stopped = self._was_ready = self._takes_newest = False

    def start(self) -> None:
        """Start the processes."""
        self._loop = asyncio.get_running_loop()
        self._ticking = asyncio.create_task(self._tick_for_ever())
        self._fill()

    async def stop(self) -> None:
        """End all readers; everyone who waits gets an error."""
        self._stopped = True
        if self._ticking is not None:
            self._ticking.cancel()
        for job in [*self._waiting, *(reader.job for reader in self._all if reader.job is not None)]:
            job.fail(stopping())
        for reader in (*self._all, *self._dying):
            reader.close()
        while self._all or self._dying:
            ended = {reader for reader in (*self._all, *self._dying) if reader.has_ended}
            self._all -= ended
            self._dying = {reader: job for reader, job in self._dying.items() if reader not in ended}
            await asyncio.sleep(0.005)
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.spool.remove()

    @property
    def is_stuck(self) -> bool:
        """Whether no reader can be started."""
        return self._failed_starts >= 3

    @property
    def running(self) -> int:
        """Queries that run or wait."""
        return len(self._waiting) + sum(reader.job is not None for reader in self._all)

    @property
    def slow(self) -> int:
        """Queries that run for longer than a slice."""
        return sum(reader.is_slow for reader in self._all)

    async def ask(
        self,
        header: Header,
        body: bytes,
        *,
        needs_store: bool = True,
        gone: Callable[[], Awaitable[None]] | None = None,
        text: str | None = None,
        most_work: float | None = None,
    ) -> Reply:
        """What a reader answers; `text` is for error messages, `gone` returns when the client has left."""
        self._admit(body)
        deadline = current_deadline(self.limits.seconds)
        job = Job(header, body, self._loop.create_future(), deadline, needs_store, gone, most_work)
        try:
            told, result = await self._reply(job)
            while "behind" in told:
                self.checkpoints.give_up()
                job = replace(job, future=self._loop.create_future(), used_before=None)
                told, result = await self._reply(job)
            if "error" in told:
                self.counts["memory"] += told["error"]["kind"] == "MemoryError"
                raise complaint(told["error"], text, self.engine.megabytes)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                self._abandon(job)
            _delete_spool(header)
            raise
        return told, result

    async def _reply(self, job: Job) -> Reply:
        """What a reader says that has every write which is done by now."""
        if job.needs_store and not self.checkpoints.follow():
            await self._fresh_checkpoint(job)
        self._take(job)
        return await job.future

    def _admit(self, body: bytes) -> None:
        if self._stopped:
            raise stopping()
        if self.is_stuck:
            raise held()
        if len(self._waiting) >= self.limits.waiting or (
            self._waiting and self._waiting_bytes + len(body) > self._most_waiting_bytes
        ):
            raise busy()

    async def _fresh_checkpoint(self, job: Job) -> None:
        try:
            async with asyncio.timeout(job.deadline.left):
                await self.checkpoints.fresh()
        except TimeoutError:
            raise too_slow(self.limits.seconds) from None
        for reader in self._idle:
            self._show_newest(reader)

    def _show_newest(self, reader: ReaderProcess) -> None:
        """Have a reader see every write that is done, or as many as the newest checkpoint can tell of."""
        self.checkpoints.follow()
        if self.checkpoints.newest is not None:
            reader.show(self.checkpoints.newest)

    def _take(self, job: Job) -> None:
        """Send a job to a reader that is idle, or let it wait."""
        if self._idle:
            self._begin(self._idle.pop(), job)
        else:
            self._waiting.append(job)
            self._waiting_bytes += len(job.body)

    def _begin(self, reader: ReaderProcess, job: Job) -> None:
        if job.needs_store:
            self._show_newest(reader)
        else:
            reader.tell_prefixes(self.checkpoints.prefixes)
        reader.begin(job)

    def _free(self, reader: ReaderProcess) -> None:
        """Give a reader the next job that someone waits for."""
        while self._waiting:
            job = self._next()
            self._waiting_bytes -= len(job.body)
            if not job.future.done():
                self._begin(reader, job)
                return
        self._idle.append(reader)

    def _next(self) -> Job:
        """The job that has waited longest; in turns with the newest when that was long, so that not all are late."""
        waited = time.monotonic() - self._waiting[0].asked
        self._takes_newest = waited > LONG_WAIT and not self._takes_newest
        return self._waiting.pop() if self._takes_newest else self._waiting.popleft()

    def _heard(self, reader: ReaderProcess, header: Header, body: bytes) -> None:
        if "ready" in header:
            reader.is_ready, self._failed_starts = True, 0
            self._start_clocks()
            self._free(reader)
            return
        job, reader.job = reader.job, None
        if job is not None:
            job.finish((header, body))
        if reader.is_slow or "retires" in header:
            self._dismiss(reader, None)
        else:
            self._free(reader)

    def _start_clocks(self) -> None:
        """Requests that arrived before the first reader get their full time from now on."""
        if not self._was_ready:
            self._was_ready = True
            for job in self._waiting:
                job.deadline.restart()

    def _lost(self, reader: ReaderProcess) -> None:
        """A reader has ended by itself: its job hears why as soon as the system says so."""
        if not reader.is_ready:
            self._failed_starts += 1
            self._next_start = time.monotonic() + min(5.0, 0.2 * 2**self._failed_starts)
        job, reader.job = reader.job, None
        self._loop.call_later(1.0, reader.child.process.kill)
        self._dismiss(reader, job, kill=False)

    def _dismiss(self, reader: ReaderProcess, job: Job | None, *, kill: bool = True) -> None:
        """Part with a reader, and start another one where one is missing."""
        self._all.discard(reader)
        if reader in self._idle:
            self._idle.remove(reader)
        if kill:
            reader.close()
        self._dying[reader] = job
        self._loop.call_later(0.002, self._reap)
        self._fill()

    def _reap(self) -> None:
        """Find the processes that have ended, and report the reason to everyone who waited for them."""
        ended = [reader for reader in self._dying if reader.has_ended]
        for reader in ended:
            job = self._dying.pop(reader)
            reader.close()
            self._thread.submit(shutil.rmtree, reader.copy, ignore_errors=True)
            if job is not None:
                cause, error = why_it_ended(reader.child, self.engine.megabytes)
                self.counts[cause] += 1
                job.fail(error)
        if self._dying and not self._stopped:
            self._loop.call_later(0.01, self._reap)

    def _end(self, reader: ReaderProcess, error: Exception, cause: str) -> None:
        """Kill a reader in the middle of its job."""
        self.counts[cause] += 1
        job, reader.job = reader.job, None
        if job is not None:
            job.fail(error)
        self._dismiss(reader, None)

    def _abandon(self, job: Job) -> None:
        for reader in self._all:
            if reader.job is job:
                self._end(reader, stopping(), "gone")
                return

    def _fill(self) -> None:
        """Start readers until there are enough for new queries."""
        quick = sum(not reader.is_slow for reader in self._all)
        while quick < self.engine.quick and not self._stopped and time.monotonic() >= self._next_start:
            try:
                reader = self._started()
            except OSError as error:
                self._failed_starts += 1
                self._next_start = time.monotonic() + 1.0
                log.error(json.dumps({"event": "reader", "error": str(error)[:200]}))
                return
            self._all.add(reader)
            self.counts["started"] += 1
            quick += 1

    def _started(self) -> ReaderProcess:
        copy = self.spool.path("copy")
        child = Child.start("reader", {"memory": self.engine.megabytes, "copy": str(copy)})
        return ReaderProcess(self._loop, child, copy, self._heard, self._lost)

    async def _tick_for_ever(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            try:
                self._tick(time.monotonic())
            except Exception as error:  # noqa: BLE001 - limits must go on being watched
                log.error(json.dumps({"event": "error", "error": repr(error)[:500]}), exc_info=error)

    def _tick(self, now: float) -> None:
        for reader in list(self._all):
            if reader.job is not None:
                self._watch(reader, reader.job, now)
            elif not reader.is_ready and now - reader.started > SLOWEST_START:
                self._lost(reader)
                reader.close()
        for job in [job for job in self._waiting if self.is_stuck or self._is_late(job, now)]:
            self._waiting.remove(job)
            self._waiting_bytes -= len(job.body)
            job.fail(held() if self.is_stuck else busy())
        self._watch_spool()
        self._fill()
        self._sweep()

    def _is_late(self, job: Job, now: float) -> bool:
        """Whether a job that waits need not begin any more."""
        return (self._was_ready and now > job.deadline.until) or job.future.done()

    def _watch(self, reader: ReaderProcess, job: Job, now: float) -> None:
        if now > job.deadline.until:
            self._end(reader, busy() if reader.is_behind else too_slow(self.limits.seconds), "time")
        elif job.most_work is not None and reader.seconds_used() > job.most_work:
            self._end(reader, too_much_planning(job.most_work), "time")
        elif reader.is_slow:
            reader.let_others_first(SLICE_WHEN_OTHERS_WAIT)
        elif now - job.began > TICK and reader.seconds_at_work(now) > self._slice:
            self._make_slow(reader, job)

    def _watch_spool(self) -> None:
        """End the reader with the largest unfinished file if all files together are too much."""
        writing = {reader: _written(reader.job) for reader in self._all if reader.job is not None}
        if writing and self.spool.is_over(sum(writing.values())):
            reader = max(writing, key=lambda reader: writing[reader])
            if writing[reader]:
                self._end(reader, busy(), "crowded")

    @property
    def _slice(self) -> float:
        return SLICE_WHEN_OTHERS_WAIT if self._waiting else SLICE

    def _make_slow(self, reader: ReaderProcess, job: Job) -> None:
        if self.slow >= self.engine.slow:
            self._end(reader, crowded(), "crowded")
            return
        reader.is_slow = True
        if job.gone is not None:
            job.watch = asyncio.create_task(self._end_when_gone(reader, job, job.gone))
        self._fill()

    async def _end_when_gone(self, reader: ReaderProcess, job: Job, gone: Callable[[], Awaitable[None]]) -> None:
        await gone()
        job.watch = None
        if reader.job is job:
            self._end(reader, stopping(), "gone")

    def _sweep(self) -> None:
        """Delete checkpoints that no reader has open."""
        if self._sweeping is not None and not self._sweeping.done():
            return
        if self.checkpoints.has_older:
            used = {reader.checkpoint for reader in (*self._all, *self._dying)}
            self._sweeping = asyncio.create_task(self.checkpoints.remove_unused(used))


def _written(job: Job) -> int:
    """Bytes of the file that a request is writing."""
    try:
        return Path(job.header["spool"]).stat().st_size if "spool" in job.header else 0
    except OSError:  # there is none, or not any more
        return 0


def _delete_spool(header: Header) -> None:
    """Delete what a request that has failed may have written."""
    if "spool" in header:
        Path(header["spool"]).unlink(missing_ok=True)
