"""Worlds: small graphs cut out of large ones, with something missing, and questions about what is true in them.

World number i is a function of the seed and i alone:

1. one of the graphs, larger ones more often (by the square root of their edges);
2. a part of it, of a random size: entities drawn one by one, or neighbourhoods grown from a few of them, so that the
   model has seen dense parts and loose ones, small graphs and large ones; ids are new, so nothing can be learned by id;
   if asked for, in some worlds the densest part of a neighbourhood instead, a few entities with many edges among them;
   if asked for, with relations made up of its own (`made_up_relations`);
3. edges to hide, in all but some worlds: a random share of all of them, and of a few relations all but a handful, so
   that it has been asked about relations of which it sees next to nothing; or, where a world is to be one that has
   grown, some edges of some entities and no others;
4. queries of every type whose answers hold in the complete part; where edges are hidden, each has an answer that only
   hidden edges give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.shapes import SHAPES
from unseen.training.pretraining.made_up_relations import with_made_up_relations
from unseen.training.pretraining.world_queries import drawn_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.datasets.query_table import QueryTable
    from unseen.methods.zero_shot.pretraining_settings import PretrainingConfig

    Mask = NDArray[np.bool_]

HANDFUL = 8
"""Most edges that are left of a relation that is hidden but for a few."""
NEW_ENTITIES, MISSING, FEW = 0.6, 0.3, 0.15
"""Where a world has grown: up to which share of its entities are new, up to which share of their edges is missing, and
how small a part of these shares both can be."""
SMALLEST_PART = 50
"""A part with fewer edges is of no use: the neighbourhoods of the entities are taken instead."""
DENSE_SIZES = 12, 400
"""Entities of a dense part, drawn evenly in logarithms."""
PEELED = 0.2
"""Share of the entities that is left out at a time where a dense part is looked for."""
SEEDS, GROWTHS = 3, 60
"""Entities that neighbourhoods grow from, and how often they may grow."""


@dataclass(frozen=True, eq=False)
class World:
    """What a model may see, and questions with all their answers."""

    observed: KnowledgeGraph
    tables: Mapping[str, QueryTable]
    """By the names of their shapes; none is empty."""


def make_world(graphs: Sequence[KnowledgeGraph], config: PretrainingConfig, number: int) -> World:
    """World number `number`; should a part have no questions, another one is cut."""
    for attempt in range(100):
        random = np.random.default_rng([config.seed, 2, number, attempt])
        complete = _part(_chosen(graphs, random), config, random)
        if config.made_up_relations:
            complete = with_made_up_relations(complete, config.made_up_relations, random)
        observed = _observed(complete, config, random)
        asked = max(8, -(-2 * config.batch_size * config.steps_per_world // len(config.types)))
        counts = {SHAPES[name]: min(asked, config.queries_per_type) for name in config.types}
        tables = drawn_tables(SplitGraphs("world", observed, complete), counts, int(random.integers(1 << 31)))
        found = {shape.name: table for shape, table in tables.items() if len(table)}
        if found:
            return World(observed, found)
    raise ValueError("no part of the graphs has a question of the wanted types")


def _chosen(graphs: Sequence[KnowledgeGraph], random: np.random.Generator) -> KnowledgeGraph:
    mass = np.sqrt([graph.num_triples for graph in graphs])
    return graphs[int(random.choice(len(graphs), p=mass / mass.sum()))]


def _part(graph: KnowledgeGraph, config: PretrainingConfig, random: np.random.Generator) -> KnowledgeGraph:
    """A part of at most `largest_world` edges, of a size drawn evenly in logarithms."""
    largest = min(config.largest_world, graph.num_triples)
    smallest = min(config.smallest_world, largest)
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


def _observed(complete: KnowledgeGraph, config: PretrainingConfig, random: np.random.Generator) -> KnowledgeGraph:
    """What is left to see; the part itself where nothing is hidden."""
    if random.random() < config.whole_worlds:
        return complete
    if random.random() < config.growing_worlds:
        hidden = _of_new_entities(complete, random)
        return complete.restricted_to(~hidden) if hidden.any() else complete
    hidden = random.random(complete.num_triples) < config.hidden_share * random.random()
    rare = random.random(complete.num_relations) < config.rare_relations * random.random()
    hidden |= rare[complete.relations]
    hidden &= ~_handful(complete, rare, random)
    if not hidden.any() or hidden.all():
        return complete
    return complete.restricted_to(~hidden)


def _of_new_entities(graph: KnowledgeGraph, random: np.random.Generator) -> Mask:
    """Some edges of new entities; how many are new and how much of them is missing is drawn too."""
    new = _new_entities(graph, random)
    missing: Mask = random.random(graph.num_triples) < MISSING * _part_of_most(random)
    return missing & (new[graph.heads] | new[graph.tails])


def _new_entities(graph: KnowledgeGraph, random: np.random.Generator) -> Mask:
    """Entities that are new, each as likely as the others; few more often than many."""
    new: Mask = random.random(graph.num_entities) < NEW_ENTITIES * _part_of_most(random) ** 2
    return new


def _part_of_most(random: np.random.Generator) -> float:
    """Between `FEW` and 1."""
    return min(1.0, FEW + random.random())


def _handful(graph: KnowledgeGraph, rare: Mask, random: np.random.Generator) -> Mask:
    """Between one and eight edges of each rare relation, which stay."""
    order = random.permutation(graph.num_triples)
    order = order[rare[graph.relations[order]]]
    order = order[np.argsort(graph.relations[order], kind="stable")]
    relations = graph.relations[order]
    starts = np.searchsorted(relations, relations)
    stay = np.zeros(graph.num_triples, bool)
    stay[order[np.arange(len(order)) - starts < random.integers(1, HANDFUL + 1, graph.num_relations)[relations]]] = True
    return stay


def _renumbered(graph: KnowledgeGraph, edges: NDArray[np.int64]) -> KnowledgeGraph:
    """The graph of some edges, with its own entities and relations only, under new numbers."""
    ends, places = np.unique(np.concatenate([graph.heads[edges], graph.tails[edges]]), return_inverse=True)
    relations, numbers = np.unique(graph.relations[edges], return_inverse=True)
    heads, tails = np.split(places.astype(np.int32), 2)
    return KnowledgeGraph(heads, numbers.astype(np.int32), tails, Vocabulary.numbered(len(ends), len(relations)))
