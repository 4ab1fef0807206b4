"""Which nodes become anchors: 40 % by degree, 40 % by personalised PageRank, 20 % at random (NodePiece's mixture).

Degree picks hubs. PageRank is personalised to what they leave out: its walks begin at nodes that are no neighbours of
an anchor picked by degree (at all nodes, if there are none left), with damping 0.85, on edges without direction. What
is picked at random comes from all other nodes that have an edge. Ties go to the smaller number.

Cost: thirty passes over the edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unseen.nn.tokens import loops
from unseen.nn.tokens.neighbours import Neighbours

Nodes = NDArray[np.int64]
Numbers = NDArray[np.float64]

BY_DEGREE, BY_RANK = 0.4, 0.4
DAMPING, PASSES = 0.85, 30


def select_anchors(neighbours: Neighbours, count: int, seed: int = 0) -> Nodes:
    """So many distinct nodes, or all that have an edge if there are fewer; hubs first."""
    degrees = neighbours.degrees
    count = min(count, int((degrees > 0).sum()))
    by_degree = _largest(degrees.astype(np.float64), int(BY_DEGREE * count), np.empty(0, np.int64))
    ranks = personalised_rank(neighbours, _not_covered(neighbours, by_degree))
    by_rank = _largest(np.where(degrees > 0, ranks, -1.0), int(BY_RANK * count), by_degree)
    chosen = np.concatenate([by_degree, by_rank])
    left = np.setdiff1d(np.flatnonzero(degrees > 0), chosen, assume_unique=True)
    at_random = np.random.default_rng(seed).choice(left, count - len(chosen), replace=False)
    return np.concatenate([chosen, np.sort(at_random)])


def personalised_rank(neighbours: Neighbours, begins: NDArray[np.bool_]) -> Numbers:
    """How often a walk that starts over at one of `begins`, again and again, is at each node."""
    restart = begins / max(1, begins.sum())
    degrees = np.maximum(neighbours.degrees, 1)
    ranks: Numbers = restart.copy()
    for _ in range(PASSES):
        following = np.empty_like(ranks)
        neighbours.spread(loops.spread_rank, neighbours.of, ranks / degrees, restart, DAMPING, following)
        ranks = following + restart * (1 - following.sum())  # what stood on nodes without edges starts over
    return ranks


def _not_covered(neighbours: Neighbours, anchors: Nodes) -> NDArray[np.bool_]:
    """Connected nodes that are neither one of the anchors nor next to one; all connected ones if there are none."""
    connected = neighbours.degrees > 0
    covered = np.zeros(neighbours.num_nodes, bool)
    covered[anchors] = True
    for anchor in anchors:
        covered[neighbours.of[neighbours.offsets[anchor] : neighbours.offsets[anchor + 1]]] = True
    left: NDArray[np.bool_] = connected & ~covered
    return left if left.any() else connected


def _largest(values: Numbers, count: int, without: Nodes) -> Nodes:
    """The nodes with the largest values, apart from some."""
    values = values.copy()
    values[without] = -np.inf
    return np.argsort(-values, kind="stable")[:count].astype(np.int64)
