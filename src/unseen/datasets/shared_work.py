"""Work shared among threads; compiled loops release the interpreter lock, so it is shared for good."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, TypeVar

from unseen.graph.compiling import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Item = TypeVar("Item")
    Result = TypeVar("Result")

_THREAD = local()


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None) -> list[Result]:
    """The results in order of the items; inside another such call, or with one thread, all in the calling thread.

    When one item fails or the user interrupts, those not yet begun are dropped, and those begun are not waited for.
    """
    work = list(items)
    if threads == 1:
        with _busy():
            return [function(item) for item in work]
    count = min(threads or available_cores(), len(work))
    if count <= 1 or getattr(_THREAD, "busy", False):
        return [function(item) for item in work]
    pool = ThreadPoolExecutor(count, initializer=_mark_busy)
    try:
        return list(pool.map(function, work))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def batches(count: int, size: int) -> Iterator[slice]:
    """The rows from 0 to `count`, so many at a time."""
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))


def _mark_busy() -> None:
    _THREAD.busy = True


@contextmanager
def _busy() -> Iterator[None]:
    """This thread starts no others."""
    before = getattr(_THREAD, "busy", False)
    _mark_busy()
    try:
        yield
    finally:
        _THREAD.busy = before
