"""The edges of one entity, and what its neighbours are: by a pass over all edges, a millisecond for a million."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.distinct import distinct
from unseen.graph.vocabulary import directed_relation
from unseen.logic.traverse import step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int32]


def edges_of(graph: KnowledgeGraph, entity: int) -> dict[int, Ids]:
    """For each directed relation that leads away from an entity: where it leads to, in the order of the graph."""
    found: dict[int, Ids] = {}
    for inverse, near, far in ((False, graph.heads, graph.tails), (True, graph.tails, graph.heads)):
        places = np.flatnonzero(near == entity)
        relations, others = graph.relations[places], far[places]
        for relation in np.unique(relations).tolist():
            found[directed_relation(relation, inverse)] = others[relations == relation]
    return found


def has_edge(graph: KnowledgeGraph, source: int, directed: int, target: int) -> bool:
    """Whether a directed relation leads from one entity to another."""
    return bool(np.isin(target, step(graph, directed, np.array([source], np.int32))))


def related_to(graph: KnowledgeGraph, entities: list[int]) -> NDArray[np.bool_]:
    """For every entity of the graph, whether it shares an edge with one of some entities, or is one of them."""
    is_named = np.zeros(graph.num_entities, bool)
    is_named[entities] = True
    related = is_named.copy()
    related[graph.tails[is_named[graph.heads]]] = True
    related[graph.heads[is_named[graph.tails]]] = True
    return related


def usual_relations(graph: KnowledgeGraph, edges: dict[int, Ids], *, looked_at: int = 60) -> list[int]:
    """Directed relations that an entity with these edges lacks, though a fifth of those like it have them.

    Entities are alike if they share the rarest relation of the one.
    """
    if not edges:
        return []
    rarest = min(edges, key=lambda directed: len(graph.edges_from(directed)[0]))
    alike = distinct(graph.edges_from(rarest)[0])
    chosen = alike[np.linspace(0, len(alike) - 1, min(looked_at, len(alike))).astype(int)]
    counts = np.zeros(graph.vocabulary.num_directed_relations, np.int64)
    is_chosen = np.zeros(graph.num_entities, bool)
    is_chosen[chosen] = True
    for inverse, near in ((False, graph.heads), (True, graph.tails)):
        places = is_chosen[near]
        pairs = np.unique(np.stack([graph.relations[places], near[places]]), axis=1)[0]
        counts[int(inverse) :: 2] += np.bincount(pairs, minlength=graph.num_relations)
    order = np.argsort(-counts, kind="stable")
    return [int(one) for one in order if counts[one] * 5 >= len(chosen) and int(one) not in edges]
