"""How the loops of this room are compiled and shared among threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numba

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Item = TypeVar("Item")
    Result = TypeVar("Result")


def compiled(function: Callable[..., Any]) -> Any:
    """The function as machine code that releases the interpreter lock, kept on disk where a folder can be written."""
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function": no folder can be written
        return numba.njit(nogil=True)(function)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], leave: Callable[[], object] = lambda: None
) -> Iterator[Result]:
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
