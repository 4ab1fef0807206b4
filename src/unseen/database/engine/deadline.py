"""The time limit of a request: one deadline for everything that is done for it, one stage after the other.

A request runs in a context of its own, and so do the tasks and threads that work for it. Whoever waits asks how much
time is left; work that no request has asked for has all the time of its own limit.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Deadline:
    """When a request must be answered."""

    seconds: float
    """The limit, as it is named to the client."""
    until: float = 0.0

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Give all of the time again: what the client took to send its request does not count."""
        self.until = time.monotonic() + self.seconds

    @property
    def left(self) -> float:
        """Seconds that are left; 0 when it is over."""
        return max(0.0, self.until - time.monotonic())


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Have everything that is done here, and in threads and tasks from here, end in time."""
    token = _CURRENT.set(deadline)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_deadline(seconds: float) -> Deadline:
    """The deadline of the request that is being answered; so many seconds from now if there is none."""
    return _CURRENT.get() or Deadline(seconds)


def time_left(seconds: float) -> float:
    """Seconds that are left to the request that is being answered; so many if there is none."""
    deadline = _CURRENT.get()
    return seconds if deadline is None else deadline.left


def restart_deadline() -> None:
    """Have the time of the request that is being answered begin now."""
    deadline = _CURRENT.get()
    if deadline is not None:
        deadline.restart()
