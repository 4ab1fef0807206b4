"""Threads for exact queries: a bounded number at work, a bounded number waiting, and a time limit for each.

The store's engine cannot be interrupted while it plans or counts; a query that runs over its time is answered with an
error, its thread goes on in the background, and its place is free again only when it has ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from unseen.errors import UnseenError
from unseen.server.problems import busy, stopping, too_slow

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
log = logging.getLogger("unseen.server")


class Workers:
    """A pool of threads with a bounded queue."""

    def __init__(self, name: str, *, threads: int | None = None, waiting: int = 256) -> None:
        self.threads = threads or min(8, (os.cpu_count() or 1) + 4)
        self.most = self.threads + waiting
        self.inside = 0
        """Actions that wait or run, abandoned ones included."""
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix=name)
        self._stopped = False

    async def run(self, action: Callable[[], Result], seconds: float | None) -> Result:
        """The result of an action, or an error if the queue is full or the time has passed."""
        if self._stopped:
            raise stopping()
        if self.inside >= self.most:
            raise busy()
        self.inside += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, _without_frames, action)
        future.add_done_callback(self._left)
        try:
            return await asyncio.wait_for(asyncio.shield(future), seconds)
        except TimeoutError:
            if future.done():
                raise
            raise too_slow(seconds or 0) from None

    def stop(self) -> None:
        """Take nothing new, drop what waits, and do not wait for what cannot be interrupted."""
        self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def drain(self) -> None:
        """Take nothing new, and wait for everything that was taken."""
        self._stopped = True
        await asyncio.get_running_loop().run_in_executor(None, self._pool.shutdown)

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
