"""A graph as a notebook shows it: counts, relations, and a fact of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.displays import block, heading, note, table
from unseen.graph.attributes.attribute_counts import attribute_counts
from unseen.graph.statistics import top_relations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.displays import Markup
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
    return block(heading(f"KnowledgeGraph: {counts}"), table(header, rows), *rest, *_values(graph))


def _values(graph: KnowledgeGraph) -> Iterator[Markup]:
    """The attributes with most values."""
    found = attribute_counts(graph.attributes, MOST_RELATIONS)
    if found:
        rows = [(one.attribute, f"{one.values:,}", f"{one.entities:,}", one.smallest, one.largest) for one in found]
        yield table(("attribute", "values", "entities", "from", "to"), rows)


def _example(graph: KnowledgeGraph, relation: int) -> str:
    """The first fact of a relation."""
    if graph.num_triples == 0:
        return ""
    place = int(np.argmax(graph.relations == relation))
    if graph.relations[place] != relation:
        return ""
    name = graph.vocabulary.entity_name
    return f"{name(int(graph.heads[place]))} → {name(int(graph.tails[place]))}"
