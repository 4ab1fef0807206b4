"""Worlds: small graphs cut out of large ones, with something missing, and questions about what is true in them.

World number i is a function of the seed and i alone:

1. one of the graphs, larger ones more often (by the square root of their edges);
2. a part of it, of a random size: entities drawn one by one, or neighbourhoods grown from a few of them, so that the
   model has seen dense parts and loose ones, small graphs and large ones; ids are new, so nothing can be learned by id;
   if asked for, in some worlds the densest part of a neighbourhood instead, a few entities with many edges among them;
   or a small part with few relations (`world_parts`);
   if asked for, with relations made up of its own (`made_up_relations`);
3. edges to hide, in all but some worlds: a random share of all of them, and of a few relations all but a handful, so
   that it has been asked about relations of which it sees next to nothing; or, where a world is to be one that has
   grown, some edges of some entities and no others; where it is to be nearly complete, few edges of few entities, and
   questions with many known answers are drawn more often than others;
4. queries of every type whose answers hold in the complete part; where edges are hidden, each has an answer that only
   hidden edges give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.logic.shapes import SHAPES
from unseen.training.pretraining.made_up_relations import with_made_up_relations
from unseen.training.pretraining.world_parts import part_of
from unseen.training.pretraining.world_queries import drawn_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.datasets.query_table import QueryTable
    from unseen.graph import KnowledgeGraph
    from unseen.methods.zero_shot.pretraining_settings import PretrainingConfig

    Mask = NDArray[np.bool_]

HANDFUL = 8
"""Most edges that are left of a relation that is hidden but for a few."""
NEW_ENTITIES, MISSING, FEW = 0.6, 0.3, 0.15
"""Where a world has grown: up to which share of its entities are new, up to which share of their edges is missing, and
how small a part of these shares both can be."""
MOST_NEW = 0.25
"""Where a world is nearly complete: about the largest share of its entities that are new."""


@dataclass(frozen=True, eq=False)
class World:
    """What a model may see, and questions with all their answers."""

    observed: KnowledgeGraph
    tables: Mapping[str, QueryTable]
    """By the names of their shapes; none is empty."""
    from_hubs: bool = False
    """Whether questions with many known answers are drawn more often."""


def make_world(graphs: Sequence[KnowledgeGraph], config: PretrainingConfig, number: int) -> World:
    """World number `number`; should a part have no questions, another one is cut."""
    for attempt in range(100):
        random = np.random.default_rng([config.seed, 2, number, attempt])
        complete = part_of(_chosen(graphs, random), config, random)
        if config.made_up_relations:
            complete = with_made_up_relations(complete, config.made_up_relations, random)
        from_hubs = config.hub_worlds > 0 and random.random() < config.hub_worlds
        observed = _nearly_complete(complete, random) if from_hubs else _observed(complete, config, random)
        asked = max(8, -(-2 * config.batch_size * config.steps_per_world // len(config.types)))
        counts = {SHAPES[name]: min(asked, config.queries_per_type) for name in config.types}
        tables = drawn_tables(SplitGraphs("world", observed, complete), counts, int(random.integers(1 << 31)))
        found = {shape.name: table for shape, table in tables.items() if len(table)}
        if found:
            return World(observed, found, from_hubs)
    raise ValueError("no part of the graphs has a question of the wanted types")


def _chosen(graphs: Sequence[KnowledgeGraph], random: np.random.Generator) -> KnowledgeGraph:
    mass = np.sqrt([graph.num_triples for graph in graphs])
    return graphs[int(random.choice(len(graphs), p=mass / mass.sum()))]


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


def _nearly_complete(complete: KnowledgeGraph, random: np.random.Generator) -> KnowledgeGraph:
    """What is left to see where few entities are new and few of their edges are missing."""
    new = random.random(complete.num_entities) < MOST_NEW * (FEW + random.random())
    missing = random.random(complete.num_triples) < MISSING * _part_of_most(random)
    hidden = missing & (new[complete.heads] | new[complete.tails])
    return complete.restricted_to(~hidden) if hidden.any() and not hidden.all() else complete


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
