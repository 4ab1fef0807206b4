"""An entity: its facts by relation, the questions that predict more of them, and its neighbourhood to draw."""

from __future__ import annotations

from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.graph.prefixes import iri_of
from unseen.graph.vocabulary import is_inverse, undirected_relation
from unseen.logic.algebra import Anchor, Project
from unseen.logic.text_writer import to_formula
from unseen.logic.values.shown import recorded_texts
from unseen.server.answer_kinds import kinds_of
from unseen.server.entity_edges import edges_of, usual_relations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int32]

MOST_RELATIONS = 60
"""Directed relations that are listed."""
MOST_LISTED = 12
"""Facts that are listed of each."""
MOST_DRAWN = 12
"""Edges that are drawn."""
MOST_ATTRIBUTES = 1000
NONE = np.zeros(0, np.int32)


def entity_view(graph: KnowledgeGraph, name: str) -> dict[str, Any]:
    """What the graph says about an entity; an unknown name is an error that offers the closest ones."""
    entity = graph.vocabulary.entity_id(name)
    edges = edges_of(graph, entity)
    order = sorted(edges, key=lambda directed: (is_inverse(directed), -len(edges[directed])))
    listed = [*order, *usual_relations(graph, edges)][:MOST_RELATIONS]
    names = graph.vocabulary.entities
    return {
        "name": names.name(entity),
        "iri": iri_of(names.key(entity)),
        "edges": sum(len(others) for others in edges.values()),
        "kinds": kinds_of(graph, [entity])[0],
        "values": values_of(graph, entity),
        "relations": [_relation(graph, entity, directed, edges.get(directed, NONE)) for directed in listed],
        "more_relations": len(order) > MOST_RELATIONS,
        "neighbourhood": _neighbourhood(graph, entity, {directed: edges[directed] for directed in order}),
    }


def values_of(graph: KnowledgeGraph, entity: int) -> list[dict[str, str]]:
    """The recorded values of an entity by attribute."""
    names = graph.attributes.names
    texts = [recorded_texts(graph, attribute, [entity])[0] for attribute in range(min(len(names), MOST_ATTRIBUTES))]
    return [{"attribute": names.name(place), "text": text} for place, text in enumerate(texts) if text]


def _relation(graph: KnowledgeGraph, entity: int, directed: int, others: Ids) -> dict[str, Any]:
    """One directed relation of an entity: facts, and the question for everything it leads to."""
    vocabulary = graph.vocabulary
    relation, inverse = vocabulary.relation_name(directed)
    asked = Project(relation, Anchor(vocabulary.entity_name(entity)), inverse)
    shown = [name for name, _ in vocabulary.entities.named(others[:MOST_LISTED].tolist())]
    return {
        "relation": relation,
        "inverse": inverse,
        "count": len(others),
        "entities": shown,
        "question": to_formula(asked),
    }


def _neighbourhood(graph: KnowledgeGraph, entity: int, edges: dict[int, Any]) -> list[list[str]]:
    """Some edges around an entity as facts, taken from all relations in turn."""
    name = graph.vocabulary.entity_name
    turns = zip_longest(*([(directed, int(other)) for other in some[:MOST_DRAWN]] for directed, some in edges.items()))
    chosen = (one for turn in turns for one in turn if one is not None)
    once = {(undirected_relation(directed), other): directed for directed, other in chosen}  # not there and back
    facts = []
    for (_, other), directed in islice(once.items(), MOST_DRAWN):
        relation, inverse = graph.vocabulary.relation_name(directed)
        ends = (name(other), name(entity)) if inverse else (name(entity), name(other))
        facts.append([ends[0], relation, ends[1]])
    return facts
