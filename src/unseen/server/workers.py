"""Threads for writes and for looking things up: a bounded number at work, a bounded number waiting, a time limit.

Nothing that runs here is unbounded: the engine has processes of its own, which are ended when their time is over.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from unseen.database.engine.deadline import time_left
from unseen.errors import UnseenError
from unseen.server.problems import busy, occupied, stopping, too_slow

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
THREADS = "unseen-"
"""How the names of all threads begin that a server starts."""
log = logging.getLogger("unseen.server")


class WorkerThreads:
    """A pool of threads with a bounded queue."""

    def __init__(self, name: str, *, threads: int | None = None, waiting: int = 256) -> None:
        self.threads = threads or min(8, (os.cpu_count() or 1) + 4)
        self.most = self.threads + waiting
        self.inside = 0
        """Actions that wait or run, abandoned ones included."""
        self.abandoned = 0
        """Actions that run although nobody waits for them any more."""
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix=f"{THREADS}{name}")
        self._stopped = False

    @property
    def is_stuck(self) -> bool:
        """Whether every thread is held by an action that ran over its time."""
        return self.abandoned >= self.threads

    async def run(self, action: Callable[[], Result], seconds: float) -> Result:
        """The result of an action, or an error if the queue is full, it did not begin in time or ran over it.

        The time is what is left to the request that is being answered, or so many seconds if there is none.
        """
        taken, future = self._take(action)
        await asyncio.wait([future], timeout=time_left(seconds))
        if future.done():
            return future.result()
        if taken.cancel():
            raise busy()
        self._abandon(future)
        raise too_slow(seconds)

    async def run_to_the_end(self, action: Callable[[], Result], patience: float) -> Result:
        """The result of an action that is never given up once begun, or an error if it does not begin in time."""
        taken, future = self._take(action)
        await asyncio.wait([future], timeout=time_left(patience))
        if not future.done() and taken.cancel():
            raise busy()
        return await asyncio.shield(future)

    def stop(self) -> None:
        """Take nothing new, drop what waits, and do not wait for what cannot be interrupted."""
        self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def drain(self) -> None:
        """Take nothing new, and wait for everything that was taken."""
        self._stopped = True
        self._pool.shutdown(wait=False)
        while self.inside:
            await asyncio.sleep(0.01)

    def _take(self, action: Callable[[], Result]) -> tuple[Future[Result], asyncio.Future[Result]]:
        """Put an action into the queue."""
        if self._stopped:
            raise stopping()
        if self.is_stuck:
            raise occupied()
        if self.inside >= self.most:
            raise busy()
        self.inside += 1
        taken = self._pool.submit(copy_context().run, _without_frames, action)
        future = asyncio.wrap_future(taken)
        future.add_done_callback(self._left)
        return taken, future

    def _abandon(self, future: asyncio.Future[Result]) -> None:
        self.abandoned += 1
        future.add_done_callback(self._ended)

    def _ended(self, _: asyncio.Future[Result]) -> None:
        self.abandoned -= 1

    def _left(self, future: asyncio.Future[Result]) -> None:
        self.inside -= 1
        if not future.cancelled():
            future.exception()  # whoever waited has got it; if nobody did, it is not worth a warning


def _without_frames(action: Callable[[], Result]) -> Result:
    """The result of an action; an error leaves its frames here, as what the store gave must end in its own thread."""
    try:
        return action()
    except Exception as error:
        if not isinstance(error, UnseenError):
            log.error(json.dumps({"event": "error", "error": repr(error)[:500]}), exc_info=error)
        error.__context__ = error.__cause__ = None
        raise error.with_traceback(None) from None
