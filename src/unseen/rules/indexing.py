"""Rules in the order in which they are looked up when they fire."""

from __future__ import annotations

from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.logic.choose import largest
from unseen.rules.evidence import SURE
from unseen.rules.firing import RuleIndex
from unseen.rules.lookups import is_in_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency
    from unseen.rules.rule_set import PathRules

PRIOR_TARGETS = 1000
"""The most frequent targets of a relation, which are candidates for every source."""


def index_of(adjacency: Adjacency, paths: PathRules, smoothing: float) -> RuleIndex:
    """The index of rules over paths, with the statistics of the graph's relations."""
    count = adjacency.num_relations
    confidence = paths.confidence
    firsts = paths.heads.astype(np.int64) * count + paths.steps[:, 0]
    order = np.lexsort((-confidence, firsts))
    keys, starts = np.unique(firsts[order], return_index=True)
    weight = -np.log1p(-np.minimum(confidence[order].astype(np.float64), SURE))
    single = order[paths.steps[order, 1] < 0]
    single = single[np.argsort(firsts[single], kind="stable")]
    sizes = np.diff(adjacency.row_edges)
    return RuleIndex(
        smoothing,
        keys,
        np.append(starts, len(order)).astype(np.int64),
        np.ascontiguousarray(paths.steps[order]),
        paths.support[order],
        paths.pairs[order],
        weight.astype(np.float32),
        *_priors(adjacency, sizes),
        np.diff(adjacency.relation_rows).astype(np.float32),
        firsts[single],
        paths.support[single],
        np.bincount(adjacency.row_relation, weights=sizes, minlength=count).astype(np.float32),
        _loops(adjacency),
    )


def _priors(
    adjacency: Adjacency, sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The most frequent targets of each directed relation, by offsets, and how many sources lead to each."""
    offsets, rows = [0], []
    for relation in range(adjacency.num_relations):
        inverse = relation ^ 1
        own = adjacency.rows_by_relation[adjacency.relation_rows[inverse] : adjacency.relation_rows[inverse + 1]]
        if len(own) > PRIOR_TARGETS:
            own = own[largest(sizes[own].astype(np.float64), PRIOR_TARGETS)]
        rows.append(own)
        offsets.append(offsets[-1] + len(own))
    found = np.concatenate([np.empty(0, np.int32), *rows])
    return np.array(offsets, np.int64), adjacency.row_entity[found], sizes[found].astype(np.float32)


def _loops(adjacency: Adjacency) -> NDArray[np.float32]:
    """How many entities each directed relation links to themselves."""
    loops = np.zeros(adjacency.num_relations, np.float32)
    _count_loops(adjacency, loops)
    return loops


@compiled
@no_type_check
def _count_loops(adjacency, loops):
    for row in range(len(adjacency.row_entity)):
        if is_in_row(adjacency, row, adjacency.row_entity[row]):
            loops[adjacency.row_relation[row]] += 1
