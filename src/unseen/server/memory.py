"""Memory of a process that predicts: what is free goes back to the system, and a call that takes too much is ended."""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.database.engine.limits import usable_megabytes
from unseen.server.problems import bad_request

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK = 0.05
"""Seconds between two looks."""
LONG = 0.5
"""Seconds of a call after which memory may be worth giving back."""
_STATM = Path("/proc/self/statm")


def resident_megabytes() -> int:
    """What this process has in memory; 0 where the system does not say."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except OSError:
        return 0


@lru_cache(maxsize=1)
def most_megabytes() -> int:
    """What one call may take beyond what the process had before: half of the machine's memory."""
    return usable_megabytes() // 2


@contextmanager
def given_back() -> Iterator[None]:
    """After a long block, memory that nothing uses any more goes back to the system: the C library may keep it."""
    began = time.monotonic()
    try:
        yield
    finally:
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if time.monotonic() - began > LONG else None
        if trim is not None:
            trim(0)


class MemoryWatch:
    """One call of the model; `check` is called between its steps."""

    def __init__(self) -> None:
        self._before, self._next = resident_megabytes(), 0.0

    def check(self) -> None:
        """End the call by an error if it takes too much."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next, most = now + LOOK, most_megabytes()
        if resident_megabytes() - self._before > most:
            raise bad_request(f"it needs more than {most:,} MB of memory; ask for less", "memory_limit")
