"""Who works on what, when several commands share the folder of a grid: locks that the system drops when a process dies.

| file in `DIR/locks` | who holds it |
| --- | --- |
| `175-gnn-qe` | the process that runs cells of that method on that ratio |
| `dataset-175` | the process that prepares the dataset |
| `device` | every process while it runs a task, together; one that measures time, alone |
| `device-wanted` | every process until it has `device`: who wants it alone keeps those out who come later |

So one that measures time waits for the tasks that run, and not for those that begin meanwhile.
Where a system has no such locks (Windows), every lock is free.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL = 0.2
"""Seconds between two looks at a lock that someone else holds."""


@contextmanager
def tried(path: Path) -> Iterator[bool]:
    """Whether the lock was free; if so it is held."""
    with _opened(path) as stream:
        yield take(stream)


@contextmanager
def waited_for(path: Path, check: Callable[[], None], *, together: bool = False) -> Iterator[None]:
    """Hold a lock, alone or together with others who do not mind; `check` is called in between and may raise."""
    with _opened(path) as stream:
        while not take(stream, together=together):
            check()
            time.sleep(POLL)
        yield


@contextmanager
def device_held(device: Path, check: Callable[[], None], *, alone: bool) -> Iterator[None]:
    """Hold the device, alone or together with others, behind whoever waits for it alone; see `waited_for`."""
    wanted, together = device.with_name(f"{device.name}-wanted"), not alone
    with ExitStack() as stack:
        with waited_for(wanted, check, together=together):
            stack.enter_context(waited_for(device, check, together=together))
        yield


def take(stream: IO[Any], *, together: bool = False) -> bool:
    """Lock an open file for as long as it, or a process that was given it, lives; whether that was possible."""
    try:
        import fcntl
    except ImportError:
        return True
    kind = fcntl.LOCK_SH if together else fcntl.LOCK_EX
    with suppress(BlockingIOError):
        fcntl.flock(stream.fileno(), kind | fcntl.LOCK_NB)
        return True
    return False


def _opened(path: Path) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("ab")
