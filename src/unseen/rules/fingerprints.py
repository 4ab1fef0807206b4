"""Numbers that tell graphs apart: one for the edges of each relation, in whatever order they come."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def fingerprints(graph: KnowledgeGraph) -> NDArray[np.uint64]:
    """For each relation the sum of a mixed number of every edge, by ids; 0 for a relation without edges."""
    mixed = graph.heads.astype(np.uint64) << np.uint64(32) | graph.tails.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    mixed ^= mixed >> np.uint64(31)
    sums = np.zeros(graph.num_relations, np.uint64)
    np.add.at(sums, graph.relations, mixed | np.uint64(1))
    return sums


def checksum(relation_keys: Sequence[str], sums: NDArray[np.uint64]) -> str:
    """A short text for the edges of a graph; equal for equal names and ids."""
    digest = hashlib.blake2b(sums.tobytes(), digest_size=16)
    digest.update("\n".join(relation_keys).encode())
    return digest.hexdigest()
