"""What a graph says about pairs of its relations: how often one follows from the other, or from a path that it begins.

For directed relations q (asked for) and a (any), with n(a) the edges of a, and k = 5 added to every denominator:

    implied       share of the edges of a that are edges of q as well, and of those of q that are edges of a
    shared ends   |heads of a ∩ heads of q| over the heads of a, over the heads of q; likewise tails of both, tails of a
                  with heads of q, heads of a with tails of q
    begins, ends  the best confidence of a rule q(x, z) <- a(x, y), b(y, z) over all b; of q(x, z) <- b(x, y), a(y, z)
    coverage      share of the edges of q that have such a path, whatever b is
    of a alone    heads per edge, tails per edge, logarithm of the number of edges

A network that knows these can tell a symmetric relation from an asymmetric one and a composition from a coincidence,
which the bits of `relation_graph` cannot. Confidences of paths are counted on paths, of at most `SAMPLED` edges of q.

Cost: the sum over entities of the squared number of distinct relations there, and for each sampled edge the degrees of
its ends; (2R)² numbers of every kind.
"""

from __future__ import annotations

from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from unseen.graph import KnowledgeGraph
from unseen.nn.relation_statistics_loops import count_compositions, count_ends, count_parallel

NUM_STATISTICS = 17
SMOOTHING = 5.0
SAMPLED = 300
"""Edges of a relation whose paths are looked at."""

Table = NDArray[np.float32]
Directed = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
"""All directed edges by source, then target: where those of each entity begin, targets, relations."""

_known: WeakKeyDictionary[KnowledgeGraph, NDArray[np.float16]] = WeakKeyDictionary()
_lock = Lock()


def relation_statistics(graph: KnowledgeGraph, directed: Directed | None = None) -> NDArray[np.float16]:
    """All statistics of a graph, [query relation, relation, statistic]; made once for each graph.

    `directed` has its edges as they are looked at, for whoever has them sorted already.
    """
    with _lock:
        found = _known.get(graph)
    if found is None:
        found = _made(graph, directed)
        with _lock:
            _known[graph] = found
    return found


def _made(graph: KnowledgeGraph, directed: Directed | None) -> NDArray[np.float16]:
    count = graph.vocabulary.num_directed_relations
    if count == 0:
        return np.zeros((0, 0, NUM_STATISTICS), np.float16)
    offsets, targets, relations = directed or _directed(graph)
    ends, paths = np.zeros((count, count), np.float32), np.zeros((count, count), np.float32)
    count_ends(offsets, relations, ends, paths)
    parallel = np.zeros((count, count), np.float32)
    count_parallel(offsets, targets, relations, parallel)
    composed = _compositions(graph, offsets, targets, relations, paths)
    return _stacked(graph, ends, parallel, composed)


def _directed(graph: KnowledgeGraph) -> Directed:
    """Every edge in both directions, sorted by source, then by target."""
    forward = 2 * graph.relations.astype(np.int32)
    sources, targets = np.concatenate([graph.heads, graph.tails]), np.concatenate([graph.tails, graph.heads])
    relations = np.concatenate([forward, forward + 1])
    order = np.argsort(sources.astype(np.int64) * graph.num_entities + targets, kind="stable")
    return np.searchsorted(sources[order], np.arange(graph.num_entities + 1)), targets[order], relations[order]


def _compositions(
    graph: KnowledgeGraph,
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    relations: NDArray[np.int32],
    paths: Table,
) -> NDArray[np.float32]:
    """`begins`, `ends` and coverage as first and as second relation, [4, query relation, relation]."""
    order = np.random.default_rng(0).permutation(graph.num_triples)
    order = order[np.argsort(graph.relations[order], kind="stable")]
    starts = np.searchsorted(graph.relations[order], np.arange(graph.num_relations + 1))
    found = np.zeros((4, *paths.shape), np.float32)
    heads, tails = graph.heads[order].astype(np.int32), graph.tails[order].astype(np.int32)
    count_compositions(starts, heads, tails, offsets, targets, relations, paths, SAMPLED, SMOOTHING, found)
    return found


def _stacked(graph: KnowledgeGraph, ends: Table, parallel: Table, composed: Table) -> NDArray[np.float16]:
    """The statistics of all pairs, from counts."""
    number = np.repeat(np.bincount(graph.relations, minlength=graph.num_relations), 2).astype(np.float32)
    inverse = np.arange(len(number)) ^ 1
    heads = np.diagonal(ends).copy()
    tails = heads[inverse]
    np.fill_diagonal(parallel, 0.0)
    of_a, of_q = (None, slice(None)), (slice(None), None)

    def shares(table: Table, left: Table, right: Table) -> list[Table]:
        """Counts over those of a, and over those of q."""
        return [table / (left[of_a] + SMOOTHING), table / (right[of_q] + SMOOTHING)]

    pairs = [
        *shares(parallel, number, number),
        *shares(ends, heads, heads),
        *shares(ends[inverse][:, inverse], tails, tails),
        *shares(ends[:, inverse], tails, heads),
        *shares(ends[inverse], heads, tails),
        *composed,
    ]
    alone = [heads / np.maximum(number, 1), tails / np.maximum(number, 1), np.log1p(number) / 10]
    alone_tables = [np.broadcast_to(value[of_a], parallel.shape) for value in alone]
    return np.stack([*pairs, *alone_tables], axis=2).astype(np.float16)
