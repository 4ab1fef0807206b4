"""Stopping work that nobody waits for any more.

Long work calls `check_stop()` between its steps: relation steps, layers of a network, blocks of rows. Whoever starts
the work may say when it has to end, for this thread and this block only:

    with stop_when(lambda: time.monotonic() > deadline):
        answers = ask_all(graph, questions, method, name)       raises Stopped at the next step after the deadline

Cost of a check where nobody has said anything: one look at a context variable.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from unseen.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[], None]

_CHECK: ContextVar[Check | None] = ContextVar("check", default=None)


@contextmanager
def checked_by(check: Check | None) -> Iterator[None]:
    """Inside of the block `check` is called between steps, and ends the work by an error; None turns checks off."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


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
