"""What a graph looks like in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.attributes.attribute_counts import AttributeCount, attribute_counts
from unseen.graph.distinct import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True)
class RelationCount:
    """One relation: its edges, and how many different heads and tails they have."""

    relation: str
    triples: int
    heads: int
    tails: int


@dataclass(frozen=True)
class GraphStatistics:
    """Counts, degrees, relations and components of a graph."""

    entities: int
    relations: int
    triples: int
    isolated_entities: int
    mean_degree: float
    median_degree: float
    largest_degree: int
    largest_hub: str | None
    components: int
    largest_component: int
    top_relations: list[RelationCount]
    values: int = 0
    attributes: list[AttributeCount] = field(default_factory=list)
    """The attributes with most values."""


def statistics(graph: KnowledgeGraph, top: int = 10) -> GraphStatistics:
    """The numbers of a graph; a degree counts edges in both directions, components ignore direction."""
    ends = np.concatenate([graph.heads, graph.tails])
    degrees = np.bincount(ends, minlength=graph.num_entities)
    sizes = component_sizes(graph)
    return GraphStatistics(
        entities=graph.num_entities,
        relations=graph.num_relations,
        triples=graph.num_triples,
        isolated_entities=int((degrees == 0).sum()),
        mean_degree=round(float(degrees.mean()), 2) if len(degrees) else 0.0,
        median_degree=float(np.median(degrees)) if len(degrees) else 0.0,
        largest_degree=int(degrees.max(initial=0)),
        largest_hub=graph.vocabulary.entity_name(int(degrees.argmax())) if len(degrees) else None,
        components=len(sizes),
        largest_component=int(sizes.max(initial=0)),
        top_relations=list(top_relations(graph, top).values()),
        values=len(graph.attributes),
        attributes=attribute_counts(graph.attributes, top),
    )


def component_sizes(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """Sizes of the connected components, an isolated entity being one of its own.

    Every entity starts with its own label; edges pass the smaller label on, and labels are followed to their end, until
    nothing changes.
    """
    labels = np.arange(graph.num_entities)
    while True:
        head_labels, tail_labels = labels[graph.heads], labels[graph.tails]
        differing = head_labels != tail_labels
        if not differing.any():
            return np.unique(labels, return_counts=True)[1]
        low = np.minimum(head_labels, tail_labels)[differing]
        np.minimum.at(labels, head_labels[differing], low)
        np.minimum.at(labels, tail_labels[differing], low)
        labels = _followed(labels)


def _followed(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    while True:
        further = labels[labels]
        if np.array_equal(further, labels):
            return labels
        labels = further


def top_relations(graph: KnowledgeGraph, top: int) -> dict[int, RelationCount]:
    """The relations with most edges, by id, the largest first."""
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    largest = [int(relation) for relation in np.argsort(-counts, kind="stable")[:top]]
    return {relation: _relation_count(graph, relation) for relation in largest}


def _relation_count(graph: KnowledgeGraph, relation: int) -> RelationCount:
    chosen = graph.relations == relation
    return RelationCount(
        relation=graph.vocabulary.relations.name(relation),
        triples=int(chosen.sum()),
        heads=len(distinct(graph.heads[chosen])),
        tails=len(distinct(graph.tails[chosen])),
    )
