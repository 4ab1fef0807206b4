"""Rules whose bodies have an edge of a relation that changed: proposed by those edges, not by facts of the head.

For an edge a(x, y), every relation that links x and y is a head of the body a. For some edges b(y, z), every relation
that links x and z is a head of the body a, b. A rule read backwards is a rule too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.lookups import first_edge, place_near, sampled_place
from unseen.rules.proposing import noted
from unseen.rules.tally import EMPTY, new_tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.rules.rounds import Round

EDGES_PER_SAMPLE, MOST_EDGES = 10, 1000
"""Edges of a changed relation that propose rules, the newest ones."""
WIDTH = 64
"""Edges that are tried as the second of a body."""


def proposed_through(
    this: Round, graph: KnowledgeGraph, changed: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Heads that have not changed, and bodies of one or two edges with a relation that has; met twice at least."""
    heads, bodies = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    base = this.adjacency.num_relations + 1
    for relation in np.flatnonzero(changed).tolist():
        edges = np.flatnonzero(graph.relations == relation)[-min(EDGES_PER_SAMPLE * this.samples, MOST_EDGES) :]
        ends = graph.heads[edges], graph.tails[edges]
        for directed, (sources, targets) in ((2 * relation, ends), (2 * relation + 1, ends[::-1])):
            table, _ = _count_rules(
                this.adjacency, directed, sources, targets, np.repeat(changed, 2), new_tally(256), 0
            )
            keys = table[0][(table[0] != EMPTY) & (table[1] >= 2)]
            heads.append((keys % base).astype(np.int32))
            bodies.append(keys // base)
    return np.concatenate(heads), np.concatenate(bodies)


@compiled
@no_type_check
def _count_rules(adjacency, relation, sources, targets, changed, table, used):
    """Rules with a body that begins with the relation, as numbers: body times base plus head."""
    for fact in range(len(sources)):
        x, y = sources[fact], targets[fact]
        if x == y:
            continue
        table, used = _note_heads(adjacency, x, y, relation, -1, changed, fact, table, used)
        low, high = first_edge(adjacency, y), first_edge(adjacency, y + 1)
        look = min(high - low, WIDTH)
        for number in range(look):
            edge = low + sampled_place(high - low, look, number, np.uint64(y))
            z = adjacency.near[edge]
            if z not in (x, y):
                second = adjacency.near_relation[edge]
                table, used = _note_heads(adjacency, x, z, relation, second, changed, fact, table, used)
    return table, used


@inner
@no_type_check
def _note_heads(adjacency, x, z, first, second, changed, fact, table, used):
    """Count all unchanged relations that link x and z as heads of a body, and the same read backwards."""
    base = np.int64(len(adjacency.relation_rows))
    place, end = place_near(adjacency, x, z), first_edge(adjacency, x + 1)
    while 0 <= place < end and adjacency.near[place] == z:
        head = np.int64(adjacency.near_relation[place])
        place += 1
        if changed[head]:
            continue
        body = np.int64(first) + (np.int64(second) + 1) * base
        table, used = noted(table, used, body * base + head, fact, 1.0)
        backwards = np.int64(first ^ 1)
        if second >= 0:
            backwards = np.int64(second ^ 1) + (backwards + 1) * base
        table, used = noted(table, used, backwards * base + (head ^ 1), fact, 1.0)
    return table, used
