"""Numbers that tell graphs apart: one for the edges of each relation, independent of their order."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.derived import Derived

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.edge_changes import EdgeChange

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_PIECE = 1 << 20
"""Edges that are looked at together."""


def fingerprints(graph: KnowledgeGraph) -> NDArray[np.uint64]:
    """For each relation the sum of a mixed number of every edge, by ids; 0 for a relation without edges."""
    return _SUMS.of(graph)


def _fingerprints(graph: KnowledgeGraph) -> NDArray[np.uint64]:
    sums, view = np.zeros(graph.num_relations, np.uint64), graph.by_head
    for relation in range(graph.num_relations):
        begin, end = int(view.offsets[relation]), int(view.offsets[relation + 1])
        for low in range(begin, end, _PIECE):
            piece = slice(low, min(low + _PIECE, end))
            sums[relation : relation + 1] += _mixed_sum(view.sources[piece], view.targets[piece])
    return sums


def _after(sums: NDArray[np.uint64], change: EdgeChange, graph: KnowledgeGraph) -> NDArray[np.uint64]:
    found = np.zeros(graph.num_relations, np.uint64)
    found[: len(sums)] = sums
    np.subtract.at(found, change.removed[:, 1], _mixed(change.removed[:, 0], change.removed[:, 2]))
    np.add.at(found, change.added[:, 1], _mixed(change.added[:, 0], change.added[:, 2]))
    return found


_SUMS = Derived(_fingerprints, _after)


def _mixed_sum(heads: NDArray[np.int32], tails: NDArray[np.int32]) -> np.uint64:
    return np.uint64(_mixed(heads, tails).sum(dtype=np.uint64))


def _mixed(heads: NDArray[np.int32], tails: NDArray[np.int32]) -> NDArray[np.uint64]:
    mixed = heads.astype(np.uint64) << np.uint64(32) | tails.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed | np.uint64(1)


def relation_keys(graph: KnowledgeGraph) -> tuple[str, ...]:
    """The unique keys of a graph's relations."""
    return tuple(graph.vocabulary.relations.keys.to_pylist())


def counts_of(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """How many edges each relation has."""
    return np.diff(graph.by_head.offsets)


def checksum_of(graph: KnowledgeGraph) -> str:
    """A short text for the edges of a graph; equal for equal names of relations and equal ids."""
    return checksum(relation_keys(graph), fingerprints(graph))


def checksum(relation_keys: Sequence[str], sums: NDArray[np.uint64]) -> str:
    """The same from what it is made of."""
    digest = hashlib.blake2b(sums.tobytes(), digest_size=16)
    digest.update("\n".join(relation_keys).encode())
    return digest.hexdigest()
