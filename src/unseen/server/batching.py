"""Questions that come at the same time share one call of the model.

While the model is busy, questions wait; when it is free, it takes all that wait, up to a number. So nobody waits for a
batch to fill, and under load batches grow by themselves. The queue is bounded: what does not fit is turned away.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from unseen.server.problems import busy, stopping, too_slow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Waiting(Generic[Item, Result]):
    item: Item
    future: asyncio.Future[Result]


class Batcher(Generic[Item, Result]):
    """One thread that answers lists of items; `answer` gives a result or an error for each."""

    def __init__(
        self,
        answer: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        most: int,
        waiting: int,
        noted: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._answer, self._most, self._noted = answer, most, noted
        self._queue: asyncio.Queue[_Waiting[Item, Result] | None] = asyncio.Queue(waiting)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    def start(self) -> None:
        """Begin to answer."""
        self._task = asyncio.create_task(self._work())

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return self._queue.qsize()

    async def submit(self, item: Item, seconds: float) -> Result:
        """The result for one item, computed together with others."""
        if self._stopped:
            raise stopping()
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        try:
            self._queue.put_nowait(_Waiting(item, future))
        except asyncio.QueueFull:
            raise busy() from None
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            raise too_slow(seconds) from None

    async def stop(self) -> None:
        """Take nothing new, and finish what was taken."""
        self._stopped = True
        if self._task is not None:
            await self._queue.put(None)
            await self._task
        self._thread.shutdown(wait=True)

    async def _work(self) -> None:
        while (first := await self._queue.get()) is not None:
            batch = [first, *self._more()]
            wanted = [one for one in batch if not one.future.done()]
            if wanted:
                self._noted(len(wanted))
                await self._run(wanted)

    def _more(self) -> list[_Waiting[Item, Result]]:
        """What else waits, up to the size of a batch."""
        found: list[_Waiting[Item, Result]] = []
        while len(found) < self._most - 1 and not self._queue.empty():
            one = self._queue.get_nowait()
            if one is None:
                self._queue.put_nowait(None)
                break
            found.append(one)
        return found

    async def _run(self, batch: list[_Waiting[Item, Result]]) -> None:
        items = [one.item for one in batch]
        loop = asyncio.get_running_loop()
        try:
            results = await loop.run_in_executor(self._thread, self._answer, items)
        except Exception as error:  # noqa: BLE001 - whatever it is, everyone who waits must hear of it
            results = [error] * len(batch)
        for one, result in zip(batch, results, strict=True):
            if one.future.done():
                continue
            if isinstance(result, Exception):
                one.future.set_exception(result)
            else:
                one.future.set_result(result)
