"""A clock for limited work that goes slower while other programs keep its threads from running.

What is found in a given time should not depend on what else the machine does. Where Linux says how long threads ran
and how long they waited for a core, only their share of the time counts, but a third of it at least. Elsewhere it is an
ordinary clock.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from threading import Lock

LEAST_SHARE = 1 / 3
LOOK = 0.25
"""Seconds between two looks at what threads had."""
_TASKS = Path("/proc/self/task")


class FairClock:
    """Seconds that go on and on; only differences mean something."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._looked = self._fair = time.monotonic()
        self._share, self._had = 1.0, had_by_threads()

    def now(self) -> float:
        """The time of this clock."""
        with self._lock:
            since = time.monotonic() - self._looked
            if since >= LOOK:
                self._look()
                self._looked, self._fair, since = self._looked + since, self._fair + since * self._share, 0.0
            return self._fair + since * self._share

    def _look(self) -> None:
        had = had_by_threads()
        ran, waited = had[0] - self._had[0], had[1] - self._had[1]
        self._had = had
        if ran > 0 and waited >= 0:  # else threads have ended
            self._share = max(LEAST_SHARE, ran / (ran + waited))


def had_by_threads() -> tuple[int, int]:
    """For how many nanoseconds the threads of this process have run, and waited for a core; zeros if nobody says."""
    ran = waited = 0
    with suppress(OSError):
        for task in _TASKS.iterdir():
            with suppress(OSError, ValueError, IndexError):
                first, second = (task / "schedstat").read_text(encoding="ascii").split()[:2]
                ran, waited = ran + int(first), waited + int(second)
    return ran, waited


CLOCK = FairClock()
"""The one of this process."""
