"""Which attributes a question is about: those that it compares for its answers, or that it is ordered by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.logic.algebra import And, Or, Valued
from unseen.logic.ordering import NAME, PROBABILITY
from unseen.logic.values.attribute_names import attribute_id, showing
from unseen.logic.values.gathering import value_patterns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.ordering import Ordering


def shown_attributes(
    graph: KnowledgeGraph, query: Query, order: Sequence[Ordering], variable: str
) -> tuple[tuple[str, int], ...]:
    """Attributes by name and id, each once."""
    found: dict[int, str] = {}
    for name, attribute in _compared(graph, query):
        found.setdefault(attribute, name)
    for one in order:
        if one.key not in (*PROBABILITY, NAME, variable):
            found.setdefault(attribute_id(graph, one.key), one.key)
    return tuple((name, attribute) for attribute, name in found.items())


def _compared(graph: KnowledgeGraph, query: Query) -> Iterator[tuple[str, int]]:
    if isinstance(query, And | Or):
        for part in query.children:
            yield from _compared(graph, part)
    if isinstance(query, Valued):
        with showing(query.text):
            for found in value_patterns(query.part.part):
                if found.subject == query.variable:
                    attribute = attribute_id(graph, found.attribute, found.place)
                    yield graph.attributes.names.name(attribute), attribute
