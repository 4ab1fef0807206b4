"""A graph as a notebook shows it: counts, relations, and a fact of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.displays import block, heading, note, table
from unseen.graph.statistics import top_relations

if TYPE_CHECKING:
    from unseen.graph.knowledge_graph import KnowledgeGraph

MOST_RELATIONS = 10


def graph_html(graph: KnowledgeGraph) -> str:
    """Counts, and the relations with most facts, each with an example."""
    counts = f"{graph.num_entities:,} entities, {graph.num_relations:,} relations, {graph.num_triples:,} triples"
    found = top_relations(graph, MOST_RELATIONS)
    rows = [
        (one.relation, f"{one.triples:,}", f"{one.heads:,}", f"{one.tails:,}", _example(graph, relation))
        for relation, one in found.items()
    ]
    more = graph.num_relations - len(rows)
    rest = [note(f"… and {more:,} more relations")] if more > 0 else []
    header = ("relation", "triples", "heads", "tails", "for example")
    return block(heading(f"KnowledgeGraph: {counts}"), table(header, rows), *rest)


def _example(graph: KnowledgeGraph, relation: int) -> str:
    """The first fact of a relation."""
    if graph.num_triples == 0:
        return ""
    place = int(np.argmax(graph.relations == relation))
    if graph.relations[place] != relation:
        return ""
    name = graph.vocabulary.entity_name
    return f"{name(int(graph.heads[place]))} → {name(int(graph.tails[place]))}"
