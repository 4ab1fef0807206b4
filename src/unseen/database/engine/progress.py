"""How long the writer may take: every operation has a limit, and none may go on while its process does nothing."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.database.engine.deadline import time_left

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.database.engine.limits import EngineLimits

QUICK_SECONDS, LONG_SECONDS = 60.0, 600.0
LEAST_SECONDS = 0.1
"""What an update gets whose request has hardly any time left."""
SLOWEST = 100_000
"""Bytes a second, of statements or of the store, that even a slow machine gets through."""
LEAST_WORK = 0.01
"""Share of a processor that a process takes at least when it computes."""
LEAST_TRAFFIC = 50_000
"""Bytes a second that a process reads and writes at least when it is busy with files."""
_TICKS = os.sysconf("SC_CLK_TCK")
LONG = ("flush", "bulk_load", "load_into", "dump", "count", "size", "backup")
"""What grows with the database."""
BESIDE = ("labels_of", "backup", "graph_names", "holds")
"""What must not wait behind an update: exact queries wait for it."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for one operation."""

    seconds: float
    """Longest time in all."""
    idle: float
    """Longest time in which the process neither computes nor reads nor writes."""
    limit: float | None = None
    """The limit as it is named, if a part of it has been used before."""


def patience_for(kind: str, limits: EngineLimits, size: Callable[[], int]) -> Patience:
    """How long an operation may take; `size` is how many bytes it is about, asked for where it matters."""
    left = max(LEAST_SECONDS, min(limits.update_seconds, time_left(limits.update_seconds)))
    if kind == "update":
        return Patience(left, left, limits.update_seconds)
    idle = limits.idle_seconds_beside if kind in BESIDE else limits.idle_seconds
    if kind == "update_with":
        more = size() / SLOWEST
        return Patience(left + more, idle, limits.update_seconds + more)
    return Patience((LONG_SECONDS if kind in LONG else QUICK_SECONDS) + size() / SLOWEST, idle)


class Watch:
    """Looks now and then whether an operation is over its time, or its process has stopped working."""

    def __init__(self, pid: int, patience: Patience) -> None:
        self._pid, self._patience = pid, patience
        self._began = self._looked = time.monotonic()
        self._work = work_of(pid)

    def complaint(self) -> str | None:
        """Why not to wait any longer; None: it may go on."""
        now = time.monotonic()
        if now - self._began > self._patience.seconds:
            return f"it took longer than {self._patience.limit or self._patience.seconds:,.3g} seconds"
        passed = now - self._looked
        if passed > self._patience.idle:
            work, before = work_of(self._pid), self._work
            if work is not None and before is not None and not _has_worked(before, work, passed):
                return f"it did nothing for {self._patience.idle:,.3g} seconds"
            self._looked, self._work = now, work
        return None


def _has_worked(before: tuple[float, int], after: tuple[float, int], seconds: float) -> bool:
    return after[0] - before[0] >= LEAST_WORK * seconds or after[1] - before[1] >= LEAST_TRAFFIC * seconds


def work_of(pid: int) -> tuple[float, int] | None:
    """Processor seconds of a process and bytes that it has read and written; None where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return processor_seconds(pid), sum(int(line.split()[1]) for line in lines if line.startswith(("rchar", "wchar")))


def processor_seconds(pid: int, *, main_thread: bool = False) -> float:
    """Processor time that a process, or its main thread alone, has used; 0 where the system does not say."""
    try:
        path = Path(f"/proc/{pid}/task/{pid}/stat" if main_thread else f"/proc/{pid}/stat")
        fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:  # no such system, or no such process any more
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS
