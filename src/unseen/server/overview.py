"""What is in a graph: counts, relations with example facts, the best-connected things, questions to begin with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.graph.attributes.attribute_counts import attribute_counts
from unseen.graph.prefixes import iri_of
from unseen.logic.text_writer import quoted
from unseen.server.answer_kinds import type_relations
from unseen.server.example_questions import example_questions
from unseen.version import __version__

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.server.relation_quality import RelationQuality
    from unseen.server.service import Service

MOST_RELATIONS = 200
MOST_ATTRIBUTES = 100
EXAMPLES = 3
HUBS = 12


class Overview:
    """The overview of a living graph: made again after a change, the questions only after many."""

    def __init__(self, service: Service, quality: RelationQuality) -> None:
        self._service, self._quality, self._lock = service, quality, Lock()
        self._version, self._made = -1, dict[str, Any]()
        self._questions, self._triples = list[dict[str, Any]](), -1

    def current(self) -> dict[str, Any]:
        """The overview of the current graph; concurrent requests share the work."""
        with self._lock:
            version = self._service.database.version
            if version != self._version:
                self._made, self._version = self._make(self._service.database.graph), version
            found = self._quality.relations
            relations = [one | {"quality": found.get(one["name"])} for one in self._made["relations"]]
            return self._made | {"relations": relations}

    def _make(self, graph: KnowledgeGraph) -> dict[str, Any]:
        if abs(graph.num_triples - self._triples) * 10 > self._triples:
            self._questions, self._triples = example_questions(graph), graph.num_triples
        counts = {"entities": len(graph.connected_entities), "triples": graph.num_triples}
        relations = relations_in(graph)
        return {
            "graph": counts | {"relations": int(np.count_nonzero(np.diff(graph.by_head.offsets)))},
            "model": Path(self._service.settings.model).name,
            "version": __version__,
            "needs_key": bool(self._service.settings.keys),
            "relations": relations,
            "attributes": [asdict(one) for one in attribute_counts(graph.attributes, MOST_ATTRIBUTES)],
            "kinds_told_by": [graph.vocabulary.relations.name(one) for one in type_relations(graph)],
            "best_connected": best_connected(graph),
            "questions": self._questions,
        }


def relations_in(graph: KnowledgeGraph, most: int = MOST_RELATIONS) -> list[dict[str, Any]]:
    """The relations, the most frequent first, with counts and example facts."""
    counts = np.diff(graph.by_head.offsets)
    order = np.argsort(-counts, kind="stable")[:most]
    return [_relation(graph, int(relation), int(counts[relation])) for relation in order if counts[relation]]


def _relation(graph: KnowledgeGraph, relation: int, count: int) -> dict[str, Any]:
    names, entity_name = graph.vocabulary.relations, graph.vocabulary.entity_name
    heads, tails = graph.by_head.of_relation(relation)
    name = names.name(relation)
    spread = np.linspace(0, count - 1, EXAMPLES + 2)[1:-1] if count > EXAMPLES else np.arange(count)
    places: list[int] = spread.astype(int).tolist()
    facts = [[entity_name(int(heads[place])), name, entity_name(int(tails[place]))] for place in places]
    return {
        "name": name,
        "iri": iri_of(names.key(relation)),
        "triples": count,
        "heads": 1 + int(np.count_nonzero(np.diff(heads))),
        "tails": 1 + int(np.count_nonzero(np.diff(graph.by_tail.of_relation(relation)[0]))),
        "facts": facts,
        "head_iri": iri_of(graph.vocabulary.entities.key(int(heads[places[0]]))),
        "question": f"?x : {quoted(name)}({quoted(facts[0][0], ['x'])}, x)",
    }


def best_connected(graph: KnowledgeGraph, most: int = HUBS) -> list[dict[str, Any]]:
    """The entities with the most edges."""
    degrees = np.bincount(graph.heads, minlength=graph.num_entities)
    degrees += np.bincount(graph.tails, minlength=graph.num_entities)
    best = np.argsort(-degrees, kind="stable")[:most].tolist()
    return [{"name": graph.vocabulary.entity_name(one), "edges": int(degrees[one])} for one in best if degrees[one]]
