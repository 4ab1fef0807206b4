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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unseen.graph import KnowledgeGraph
from unseen.graph.derived import Derived
from unseen.graph.edge_changes import EdgeChange
from unseen.nn.end_counts import Directed, EdgeSample, EndCounts
from unseen.nn.relation_statistics_loops import count_compositions

NUM_STATISTICS = 17
SMOOTHING = 5.0
SAMPLED = 300
"""Edges of a relation whose paths are looked at."""

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class KnownStatistics:
    """What is counted of a graph, and what comes of it."""

    counts: EndCounts
    sample: EdgeSample
    statistics: NDArray[np.float16]


def relation_statistics(graph: KnowledgeGraph, directed: Directed | None = None) -> NDArray[np.float16]:
    """All statistics of a graph, [query relation, relation, statistic]; made once for each graph.

    `directed` has its edges as they are looked at, for whoever has them sorted already. After a change of the graph,
    entities at changed edges are counted again; of a relation with many edges the sample stays, as far as it can.
    """
    return _KEPT.of(graph, directed).statistics


def _made(graph: KnowledgeGraph, directed: Directed | None) -> KnownStatistics:
    count = graph.vocabulary.num_directed_relations
    if count == 0:
        nothing = np.zeros((0, 0, NUM_STATISTICS), np.float16)
        return KnownStatistics(EndCounts.none(0), EdgeSample.drawn(graph, SAMPLED), nothing)
    edges = directed or _directed(graph)
    return _counted(graph, edges, EndCounts.of(edges, count), EdgeSample.drawn(graph, SAMPLED))


def _after(
    known: KnownStatistics, change: EdgeChange, graph: KnowledgeGraph, directed: Directed | None
) -> KnownStatistics:
    count = graph.vocabulary.num_directed_relations
    if not len(change) and count == len(known.statistics):
        return known
    edges = directed or _directed(graph)
    counts = known.counts.after(change, edges, count)
    return _counted(graph, edges, counts, known.sample.after(change, graph, SAMPLED))


def _counted(graph: KnowledgeGraph, edges: Directed, counts: EndCounts, sample: EdgeSample) -> KnownStatistics:
    ends, paths, parallel = (table.astype(np.float32) for table in (counts.ends, counts.paths, counts.parallel))
    found = np.zeros((4, *paths.shape), np.float32)
    numbers = np.diff(graph.by_head.offsets)
    count_compositions(numbers, sample.starts, sample.heads, sample.tails, *edges, paths, SMOOTHING, found)
    return KnownStatistics(counts, sample, _stacked(numbers, ends, parallel, found))


_KEPT = Derived(_made, _after)


def _directed(graph: KnowledgeGraph) -> Directed:
    """Every edge in both directions, sorted by source, then by target."""
    forward = 2 * graph.relations.astype(np.int32)
    sources, targets = np.concatenate([graph.heads, graph.tails]), np.concatenate([graph.tails, graph.heads])
    relations = np.concatenate([forward, forward + 1])
    order = np.argsort(sources.astype(np.int64) * graph.num_entities + targets, kind="stable")
    return np.searchsorted(sources[order], np.arange(graph.num_entities + 1)), targets[order], relations[order]


def _stacked(numbers: NDArray[np.int64], ends: Table, parallel: Table, composed: Table) -> NDArray[np.float16]:
    """The statistics of all pairs, from counts; `numbers` are those of the edges of relations."""
    number = np.repeat(numbers, 2).astype(np.float32)
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
