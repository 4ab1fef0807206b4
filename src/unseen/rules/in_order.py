"""Work on all cores, its results in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from unseen.graph.compiling import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    Item = TypeVar("Item")
    Result = TypeVar("Result")


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], leave: Callable[[], object] = lambda: None
) -> Generator[Result, None, None]:
    """The results in order of the items, computed on all cores.

    Leaving the loop, also by Ctrl-C, drops what has not begun, calls `leave` and waits for what has.
    """
    work = list(items)
    if len(work) <= 1 or available_cores() == 1:
        yield from map(function, work)
        return
    pool = ThreadPoolExecutor(available_cores(), thread_name_prefix="unseen-rules")
    try:
        yield from pool.map(function, work)
    finally:
        leave()
        pool.shutdown(wait=True, cancel_futures=True)
