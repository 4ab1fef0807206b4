"""Attributes by name, and the error for an unknown name."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph import KnowledgeGraph
    from unseen.logic.formula import Place


def attribute_id(graph: KnowledgeGraph, name: str, place: Place | None = None) -> int:
    """The id of an attribute; an unknown name is an error that offers what is near."""
    try:
        return graph.attributes.names.find(name)
    except UnknownName as error:
        reason = str(error)
        if graph.vocabulary.relations.find_all([name])[0] >= 0:
            reason = f"`{name}` is a relation, it has no values to compare: write `{name}(x, y)`"
        elif not len(graph.attributes.names):
            reason = f"the graph has no values, so no attribute `{name}`: give a file of values by --values (values=)"
        if place is None:
            raise QueryRefused(reason) from None
        raise QueryRefused(reason, position=place.position, place=place.shown) from None


@contextmanager
def showing(text: str | None) -> Iterator[None]:
    """Errors with a position, with a caret below the question as written."""
    try:
        yield
    except QueryRefused as error:
        if text is None or error.text is not None or error.position is None:
            raise
        raise QueryRefused(error.reason, text=text, position=error.position) from None


def is_attribute(graph: KnowledgeGraph, name: str) -> bool:
    """Whether a graph records values under a name."""
    return bool(len(graph.attributes.names)) and bool(graph.attributes.names.find_all([name])[0] >= 0)
