"""One or more steps of one relation in a row: the pairs of entities that the graph joins so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused
from unseen.graph.distinct import distinct, union
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int32]
    Keys = NDArray[np.int64]

MOST_PAIRS = 10_000_000
"""Pairs from which on a question is refused."""


def repeated_steps(graph: KnowledgeGraph, directed: int, sign: str, starts: Ids | None = None) -> tuple[Ids, Ids]:
    """The pairs that a relation joins in one step or more (`+`), any number (`*`), one or none (`?`), sorted.

    Without `starts` they begin anywhere. Cost: the pairs, and the edges that lead on from each of them.
    """
    size = np.int64(graph.num_entities)
    if starts is None:
        starts = graph.connected_entities if sign in "*?" else distinct(graph.edges_from(directed)[0])
    itself = starts.astype(np.int64) * size + starts
    frontier = _one_step_on(graph, directed, itself, size)
    found = frontier
    while len(frontier) and sign != "?":
        check_stop()
        frontier = np.setdiff1d(_one_step_on(graph, directed, frontier, size), found, assume_unique=True)
        found = union(found, frontier)
        if len(found) > MOST_PAIRS:
            raise QueryRefused(f"it has more than {MOST_PAIRS:,} matches on the way: name an entity, or say more")
    if sign in "*?":
        found = union(found, itself)
    return (found // size).astype(np.int32), (found % size).astype(np.int32)


def reached(graph: KnowledgeGraph, directed: int, members: Ids) -> Ids:
    """Sorted ids of what one step or more lead to from any of some entities."""
    from unseen.logic.traverse import step

    found = frontier = step(graph, directed, members)
    while len(frontier):
        check_stop()
        frontier = np.setdiff1d(step(graph, directed, frontier), found)
        found = union(found, frontier)
    return found.astype(np.int32)


def _one_step_on(graph: KnowledgeGraph, directed: int, pairs: Keys, size: np.int64) -> Keys:
    """The distinct pairs that one more step makes of pairs (start * size + end)."""
    sources, targets = graph.edges_from(directed)
    ends = pairs % size
    first, last = np.searchsorted(sources, ends), np.searchsorted(sources, ends, side="right")
    lengths = last - first
    if int(lengths.sum()) > MOST_PAIRS:
        raise QueryRefused(f"it has more than {MOST_PAIRS:,} matches on the way: name an entity, or say more")
    edges = np.repeat(first - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
    return distinct((np.repeat(pairs - ends, lengths) + targets[edges]).astype(np.int64, copy=False))
