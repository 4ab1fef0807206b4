"""What pre-training never sees of a graph: some entities, some relations, and questions about them.

A share of the entities and rare relations are set aside with all their edges. What is left is learned from. The
validation graph has everything back but a seventh of the edges that were set aside, so every missing edge has an entity
or a relation that no training step ever met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.datasets.split import InductiveSplit
from unseen.logic.shapes import SHAPES
from unseen.training.pretraining.world_queries import drawn_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.training.pretraining.source_graphs import NamedGraph

    Mask = NDArray[np.bool_]

MISSING_SHARE = 1 / 7
LARGEST_SHARE_OF_EDGES = 0.05
"""Of all edges, what the relations that are set aside may have together."""
FEWEST_RELATIONS = 4
"""With fewer of them, none is set aside."""


def held_out_split(source: NamedGraph, share: float, seed: int) -> Dataset:
    """A dataset without queries: its training graph is to learn from, its validation graph to judge by."""
    graph, random = source.graph, np.random.default_rng([seed, 1])
    aside = _touches(graph, _entities(graph, share, random)) | _relations(graph, share, random)[graph.relations]
    missing = aside & (random.random(graph.num_triples) < MISSING_SHARE)
    inference = aside & ~missing
    missing &= ~_touches(graph, _left_alone(graph, ~missing))
    edges = np.stack([graph.heads, graph.relations, graph.tails], axis=1)
    nothing = edges[:0]
    inference = aside & ~missing
    split = InductiveSplit(graph.vocabulary, edges[~aside], edges[inference], edges[missing], nothing, nothing)
    return Dataset(source.name, split, manifest={"answers": "true"})


def with_validation(dataset: Dataset, types: tuple[str, ...], count: int, seed: int) -> Dataset:
    """The same with validation queries of these types, always the same for a seed."""
    graphs = SplitGraphs("valid", dataset.observed("valid"), dataset.complete("valid"))
    tables = drawn_tables(graphs, {SHAPES[name]: count for name in types}, seed)
    found = {shape.name: table for shape, table in tables.items() if len(table)}
    return dataset.with_queries({"valid": found}, {})


def _entities(graph: KnowledgeGraph, share: float, random: np.random.Generator) -> Mask:
    chosen = np.zeros(graph.num_entities, bool)
    chosen[graph.connected_entities] = random.random(len(graph.connected_entities)) < share
    return chosen


def _relations(graph: KnowledgeGraph, share: float, random: np.random.Generator) -> Mask:
    """At most a share of the relations, in random order, as long as they have few edges together."""
    chosen, counts = np.zeros(graph.num_relations, bool), np.bincount(graph.relations, minlength=graph.num_relations)
    if graph.num_relations < FEWEST_RELATIONS or share == 0:
        return chosen
    left = LARGEST_SHARE_OF_EDGES * graph.num_triples
    for relation in random.permutation(graph.num_relations):
        if counts[relation] <= left and chosen.sum() < max(1, share * graph.num_relations):
            chosen[relation] = True
            left -= counts[relation]
    return chosen


def _touches(graph: KnowledgeGraph, entities: Mask) -> Mask:
    touches: Mask = entities[graph.heads] | entities[graph.tails]
    return touches


def _left_alone(graph: KnowledgeGraph, kept: Mask) -> Mask:
    """The entities that no kept edge touches."""
    alone = np.ones(graph.num_entities, bool)
    alone[graph.heads[kept]] = alone[graph.tails[kept]] = False
    return alone
