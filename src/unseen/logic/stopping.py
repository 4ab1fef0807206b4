"""Stopping work whose result is no longer wanted.

Long work calls `check_stop()` between its steps: relation steps, layers of a network, blocks of rows. Whoever starts
the work may say when it has to end, for this thread and this block only:

    with stop_when(lambda: time.monotonic() > deadline):
        answers = ask_all(graph, questions, method, name)       raises Stopped at the next step after the deadline

Cost of a check where nobody has said anything: one look at a context variable.

A search that could go on for ever, and is the better the longer it takes, asks `search_time_left()` instead, and ends
with what it has found so far.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from unseen.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[], None]

_CHECK: ContextVar[Check | None] = ContextVar("check", default=None)
_ENOUGH: ContextVar[float | None] = ContextVar("enough", default=None)


def _nothing() -> None:
    """The check if no condition is set."""


@contextmanager
def checked_by(check: Check | None) -> Iterator[None]:
    """Inside of the block `check` is called between steps, and ends the work by an error; None turns checks off."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


@contextmanager
def also_checked_by(check: Check) -> Iterator[None]:
    """Inside of the block `check` is called too, after what is called between steps already."""

    def both() -> None:
        check_before()
        check()

    check_before = _CHECK.get() or _nothing
    with checked_by(both):
        yield


@contextmanager
def stop_when(condition: Callable[[], bool]) -> Iterator[None]:
    """Inside of the block work ends with `Stopped` at the first step at which the condition holds."""

    def check() -> None:
        if condition():
            raise Stopped

    with checked_by(check):
        yield


def check_stop() -> None:
    """Called between steps of long work: raises if it has to end."""
    check = _CHECK.get()
    if check is not None:
        check()


@contextmanager
def enough_after(seconds: float) -> Iterator[None]:
    """Inside the block, searches end after `seconds` with what they have found."""
    token = _ENOUGH.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ENOUGH.reset(token)


def search_time_left() -> float:
    """Seconds that a search still has; infinite if no limit is set."""
    until = _ENOUGH.get()
    return math.inf if until is None else until - time.monotonic()
