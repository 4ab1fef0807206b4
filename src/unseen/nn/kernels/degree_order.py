"""Nodes by degree: those of one degree are scaled alike, so that a layer can treat them together."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

COST_OF_A_ROW = 40
"""What the update of a node costs, in messages."""


@dataclass(frozen=True, eq=False)
class DegreeOrder:
    """All nodes, those with the fewest incoming edges first; `cost[i]` is what the first i of them take."""

    nodes: NDArray[np.int32]
    degrees: NDArray[np.int32]
    """By node."""
    cost: NDArray[np.int64]
    _cuts: dict[int, list[tuple[int, int]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, offsets: NDArray[np.int32], whole: NDArray[np.int32] | None = None) -> DegreeOrder:
        """The order of nodes whose edges are rows with these offsets; by their degrees in a `whole` graph, if given."""
        lengths = np.diff(offsets).astype(np.int64)
        degrees = lengths if whole is None else whole
        nodes = np.argsort(degrees, kind="stable")
        cost = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[nodes] + COST_OF_A_ROW)])
        return cls(nodes.astype(np.int32), degrees.astype(np.int32), cost)

    def pieces(self, count: int) -> list[tuple[int, int]]:
        """Ranges of the order that cost about the same, at most so many."""
        if count not in self._cuts:
            wanted = self.cost[-1] * np.arange(count + 1) // count
            cuts = np.searchsorted(self.cost, wanted).tolist()
            self._cuts[count] = [(first, last) for first, last in pairwise(cuts) if last > first]
        return self._cuts[count]
