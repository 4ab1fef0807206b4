"""The entities of which something about recorded values holds: a given set, exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.logic.joins.known_tuples import KnownTuples
from unseen.logic.values.attribute_names import showing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Valued

    Ids = NDArray[np.int32]


def entities_by_values(graph: KnowledgeGraph, query: Valued) -> Ids:
    """Sorted ids of the entities that a part about values holds for."""
    given = dict(query.constants)

    def entity_id(name: str) -> int:
        return given[name] if name in given else graph.vocabulary.entity_id(name)

    known = KnownTuples(graph, entity_id, graph.vocabulary.relation_id)
    with showing(query.text):
        return known.tuples(query.part.part, [query.variable]).columns[query.variable]


def text_of(query: Valued) -> str:
    """What a part says about a member, after its name."""
    attribute, test = query.part.written
    return f"with {attribute} {test}".rstrip() if attribute else "that passes a test of values"
