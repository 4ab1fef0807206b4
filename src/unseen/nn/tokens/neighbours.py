"""The neighbours of each entity by any relation, in rows, and threads that share the rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nn.tokens import loops

Positions = NDArray[np.int64]
Ids = NDArray[np.int32]

PIECES_PER_THREAD = 8


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Row v is `of[offsets[v]:offsets[v + 1]]`: once for every edge that v has, in either direction."""

    offsets: Positions
    of: Ids

    @classmethod
    def along(cls, sources: NDArray[Any], targets: NDArray[Any], num_nodes: int) -> Neighbours:
        """The neighbours along edges, each given once. Cost: two passes over the edges, 1.5 s for 17 million."""
        offsets = np.zeros(num_nodes + 1, np.int64)
        loops.count_ends(sources, targets, offsets[1:])
        np.cumsum(offsets, out=offsets)
        found = np.empty(offsets[-1], np.int32)
        loops.fill_neighbours(sources, targets, offsets[:-1].copy(), found)
        return cls(offsets, found)

    @property
    def num_nodes(self) -> int:
        """Nodes, with or without an edge."""
        return len(self.offsets) - 1

    @property
    def degrees(self) -> Positions:
        """How many edges each node has."""
        return np.diff(self.offsets)

    def spread(self, kernel: Callable[..., Any], *operands: Any) -> None:
        """Call `kernel(low, high, offsets, ...)` for ranges of nodes of about equal cost, on all cores."""
        spread(kernel, self.offsets, *operands)


def spread(kernel: Callable[..., Any], offsets: Positions, *operands: Any) -> None:
    """Call `kernel(low, high, offsets, ...)` for ranges of rows of about equal cost, on all cores."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    cost = offsets + np.arange(len(offsets))
    shares = np.linspace(0, cost[-1], threads * PIECES_PER_THREAD + 1)
    cuts = np.unique(np.searchsorted(cost, shares)).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: kernel(*part, offsets, *operands), pairwise(cuts)))
