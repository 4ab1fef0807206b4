"""Rules in the order in which they are looked up when they fire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.graph.derived import Derived
from unseen.graph.vocabulary import undirected_relation
from unseen.logic.choose import largest
from unseen.rules.adjacency import adjacency_of
from unseen.rules.evidence import SURE
from unseen.rules.firing import RuleIndex
from unseen.rules.lookups import is_in_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.edge_changes import EdgeChange
    from unseen.rules.adjacency import Adjacency
    from unseen.rules.rule_set import PathRules

PRIOR_TARGETS = 1000
"""The most frequent targets of a relation, which are candidates for every source."""


@dataclass(frozen=True, eq=False)
class Tallies:
    """Statistics of directed relations."""

    targets: list[tuple[NDArray[np.int32], NDArray[np.float32]]]
    """The most frequent targets of each, and how many sources lead to each of these."""
    facts: NDArray[np.float64]
    loops: NDArray[np.float64]
    """How many entities each links to themselves."""


def index_of(adjacency: Adjacency, paths: PathRules, smoothing: float, tallies: Tallies | None = None) -> RuleIndex:
    """The index of rules over paths, with the statistics of the graph's relations."""
    found = tallies or _tallies(adjacency)
    count = adjacency.num_relations
    confidence = paths.confidence
    firsts = paths.heads.astype(np.int64) * count + paths.steps[:, 0]
    order = np.lexsort((-confidence, firsts))
    keys, starts = np.unique(firsts[order], return_index=True)
    weight = -np.log1p(-np.minimum(confidence[order].astype(np.float64), SURE))
    single = order[paths.steps[order, 1] < 0]
    single = single[np.argsort(firsts[single], kind="stable")]
    return RuleIndex(
        smoothing,
        keys,
        np.append(starts, len(order)).astype(np.int64),
        np.ascontiguousarray(paths.steps[order]),
        paths.support[order],
        paths.pairs[order],
        weight.astype(np.float32),
        np.append(0, np.cumsum([len(entities) for entities, _ in found.targets])).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *(entities for entities, _ in found.targets)]),
        np.concatenate([np.empty(0, np.float32), *(counts for _, counts in found.targets)]),
        np.diff(adjacency.relation_rows).astype(np.float32),
        firsts[single],
        paths.support[single],
        found.facts.astype(np.float32),
        found.loops.astype(np.float32),
    )


def tallies_of(graph: KnowledgeGraph) -> Tallies:
    """The statistics of a graph's relations; after a change, those of changed relations are rebuilt."""
    return _TALLIES.of(graph)


def _tallies(adjacency: Adjacency) -> Tallies:
    count = adjacency.num_relations
    facts = np.bincount(adjacency.row_relation, weights=np.diff(adjacency.row_edges), minlength=count).astype(
        np.float64
    )
    loops = np.zeros(count)
    _count_loops(adjacency, loops)
    return Tallies([_targets(adjacency, relation) for relation in range(count)], facts, loops)


def _after(known: Tallies, change: EdgeChange, graph: KnowledgeGraph) -> Tallies:
    adjacency, before = adjacency_of(graph), len(known.targets)
    facts, loops = np.zeros((2, adjacency.num_relations))
    facts[:before], loops[:before] = known.facts, known.loops
    for rows, sign in ((change.removed, -1), (change.added, 1)):
        for way in (0, 1):
            directed = 2 * rows[:, 1] + way
            np.add.at(facts, directed, sign)
            np.add.at(loops, directed[rows[:, 0] == rows[:, 2]], sign)
    changed = {*change.removed[:, 1].tolist(), *change.added[:, 1].tolist()}
    targets = [
        known.targets[directed]
        if directed < before and undirected_relation(directed) not in changed
        else _targets(adjacency, directed)
        for directed in range(adjacency.num_relations)
    ]
    return Tallies(targets, facts, loops)


_TALLIES = Derived(lambda graph: _tallies(adjacency_of(graph)), _after)


def _targets(adjacency: Adjacency, relation: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The most frequent targets of a directed relation, and how many sources lead to each."""
    inverse = relation ^ 1
    own = adjacency.rows_by_relation[adjacency.relation_rows[inverse] : adjacency.relation_rows[inverse + 1]]
    sizes = adjacency.row_edges[own + 1] - adjacency.row_edges[own]
    if len(own) > PRIOR_TARGETS:
        chosen = largest(sizes.astype(np.float64), PRIOR_TARGETS)
        own, sizes = own[chosen], sizes[chosen]
    return adjacency.row_entity[own], sizes.astype(np.float32)


@compiled
@no_type_check
def _count_loops(adjacency, loops):
    for row in range(len(adjacency.row_entity)):
        if is_in_row(adjacency, row, adjacency.row_entity[row]):
            loops[adjacency.row_relation[row]] += 1
