"""How much the processes of the engine may take."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from unseen.graph.control_groups import memory_groups

MOST_MEGABYTES = 1024
LEAST_MEGABYTES = 32
QUICK = max(3, min(4, os.cpu_count() or 1))
"""Readers for new queries."""
SLOW = 2
"""Readers more, for queries that take longer."""


def usable_megabytes() -> int:
    """Memory of this machine, or of the smallest control group that the process is in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *(group.limit for group in memory_groups())]) >> 20


def default_megabytes() -> int:
    """A quarter of the memory for all readers together: 51 MB each on a machine with 1 GB and two cores."""
    share = usable_megabytes() // 4 // (QUICK + SLOW)
    return max(LEAST_MEGABYTES, min(MOST_MEGABYTES, share))


@dataclass(frozen=True)
class EngineLimits:
    """What one query or update may take, and how many run at a time."""

    megabytes: int = field(default_factory=default_megabytes)
    """Memory of one query, and of one update, beyond what an idle process takes (about 30 MB)."""
    update_seconds: float = 30.0
    """Longest time of one update."""
    idle_seconds: float = 60.0
    """Longest time in which the writer may do nothing at anything else: it is ended and started again."""
    idle_seconds_beside: float = 8.0
    """The same for what exact queries wait for, checkpoints above all; far less than one of them may take."""
    quick: int = QUICK
    """Readers that take new queries."""
    slow: int = SLOW
    """Queries that may go on after their first slice of time."""
