"""Which part of a graph a world is: loose or dense, of all relations or of a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph import KnowledgeGraph, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.methods.zero_shot.pretraining_settings import PretrainingConfig

    Mask = NDArray[np.bool_]

SMALLEST_PART = 50
"""A part with fewer edges is of no use: the neighbourhoods of the entities are taken instead."""
DENSE_SIZES = 12, 400
"""Entities of a dense part, drawn evenly in logarithms."""
PEELED = 0.2
"""Share of the entities that is left out at a time where a dense part is looked for."""
SEEDS, GROWTHS = 3, 60
"""Entities that neighbourhoods grow from, and how often they may grow."""
FEW_RELATIONS, FEW_EDGES = (2, 12), (300, 6000)
"""Relations and edges of a part with few relations, drawn evenly in logarithms."""


def part_of(graph: KnowledgeGraph, config: PretrainingConfig, random: np.random.Generator) -> KnowledgeGraph:
    """A part of at most `largest_world` edges, of a size drawn evenly in logarithms."""
    smallest, largest = config.smallest_world, config.largest_world
    if config.few_relation_worlds and random.random() < config.few_relation_worlds:
        graph, (smallest, largest) = _of_few_relations(graph, random), FEW_EDGES
    largest = min(largest, graph.num_triples)
    smallest = min(smallest, largest)
    wanted = smallest * (largest / smallest) ** random.random()
    if wanted >= 0.9 * graph.num_triples:
        return graph
    if config.dense_worlds and random.random() < config.dense_worlds:
        members = _dense(graph, _grown(graph, wanted, random), random)
    else:
        members = _loose(graph, wanted, random) if random.random() < 0.5 else _grown(graph, wanted, random)
    inside = np.flatnonzero(members[graph.heads] & members[graph.tails])
    if len(inside) < SMALLEST_PART:
        inside = np.flatnonzero(_grown(graph, wanted, random)[graph.heads])
    if len(inside) > largest:
        inside = np.sort(random.choice(inside, largest, replace=False))
    return _renumbered(graph, inside)


def _loose(graph: KnowledgeGraph, wanted: float, random: np.random.Generator) -> Mask:
    """Entities drawn one by one: a share s of them keeps about s² of the edges."""
    members: Mask = random.random(graph.num_entities) < np.sqrt(wanted / graph.num_triples)
    return members


def _grown(graph: KnowledgeGraph, wanted: float, random: np.random.Generator) -> Mask:
    """Some entities and more and more of their neighbours, until they have the edges wanted."""
    members = np.zeros(graph.num_entities, bool)
    members[random.choice(graph.connected_entities, SEEDS)] = True
    for _ in range(GROWTHS):
        left, right = members[graph.heads], members[graph.tails]
        inside = int((left & right).sum())
        if inside >= wanted:
            break
        border = np.unique(np.concatenate([graph.tails[left & ~right], graph.heads[right & ~left]]))
        if len(border) == 0:
            border = random.choice(graph.connected_entities, SEEDS)
        most = max(8, int(members.sum()), len(border) // 8)
        members[random.permutation(border)[:most]] = True
    return members


def _dense(graph: KnowledgeGraph, members: Mask, random: np.random.Generator) -> Mask:
    """What is left of some entities when those with the fewest edges among them are left out again and again."""
    smallest, largest = DENSE_SIZES
    wanted = smallest * (largest / smallest) ** random.random()
    while (count := int(members.sum())) > wanted:
        inside = members[graph.heads] & members[graph.tails]
        degrees = np.bincount(graph.heads[inside], minlength=len(members)).astype(float)
        degrees += np.bincount(graph.tails[inside], minlength=len(members))
        weight = np.where(members, degrees * (0.5 + random.random(len(members))), np.inf)
        left_out = max(1, min(int(PEELED * count), count - int(wanted)))
        members = members.copy()
        members[np.argpartition(weight, left_out - 1)[:left_out]] = False
    return members


def _of_few_relations(graph: KnowledgeGraph, random: np.random.Generator) -> KnowledgeGraph:
    """The edges of a few relations that share entities: a frequent one, and others that its entities have."""
    fewest, most = FEW_RELATIONS
    wanted = round(fewest * (most / fewest) ** random.random())
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    first = int(random.choice(graph.num_relations, p=counts / counts.sum()))
    members = np.zeros(graph.num_entities, bool)
    own = graph.relations == first
    members[graph.heads[own]] = members[graph.tails[own]] = True
    near = np.bincount(graph.relations[members[graph.heads] | members[graph.tails]], minlength=graph.num_relations)
    mass = np.sqrt(near)
    mass[first] = 0
    others = min(wanted - 1, int((mass > 0).sum()))
    chosen = random.choice(graph.num_relations, others, replace=False, p=mass / mass.sum()) if others else []
    kept = np.isin(graph.relations, [first, *chosen])
    return graph if kept.sum() < SMALLEST_PART else _renumbered(graph, np.flatnonzero(kept))


def _renumbered(graph: KnowledgeGraph, edges: NDArray[np.int64]) -> KnowledgeGraph:
    """The graph of some edges, with its own entities and relations only, under new numbers."""
    ends, places = np.unique(np.concatenate([graph.heads[edges], graph.tails[edges]]), return_inverse=True)
    relations, numbers = np.unique(graph.relations[edges], return_inverse=True)
    heads, tails = np.split(places.astype(np.int32), 2)
    return KnowledgeGraph(heads, numbers.astype(np.int32), tails, Vocabulary.numbered(len(ends), len(relations)))
