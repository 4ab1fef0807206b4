"""Names for the inner variables of a query, for explanations and for writing it out."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from unseen.logic.algebra import Anchor, Project, Query, Repeat, rebuild, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER = "x"


def with_variables(query: Query, answer: str = ANSWER) -> Query:
    """The same query, where every projection from more than a named entity has a variable of its own.

    Names that the user gave stay, unless two different sets would share one.
    """
    taken: dict[str, Query] = {answer: query}
    for node in _inner_projections(query):
        if node.variable is not None:
            taken.setdefault(node.variable, node.source)
    return _named(query, taken, (f"v{number}" for number in count(1)))


def inner_variables(query: Query) -> dict[str, Query]:
    """The inner variables of a named query and the sets they range over, outermost first."""
    found = [(node.variable, node.source) for node in _inner_projections(query) if node.variable]
    return dict(reversed(found))


def _inner_projections(query: Query) -> Iterator[Project | Repeat]:
    """The projections that start from a variable, children before parents."""
    return (node for node in walk(query) if isinstance(node, Project | Repeat) and not isinstance(node.source, Anchor))


def _named(query: Query, taken: dict[str, Query], fresh: Iterator[str]) -> Query:
    children = tuple(_named(child, taken, fresh) for child in query.children)
    if not isinstance(query, Project | Repeat):
        return rebuild(query, children)
    name = query.variable
    if isinstance(query.source, Anchor):
        name = None
    elif name is None or taken[name] != query.source:
        name = next(candidate for candidate in fresh if candidate not in taken)
        taken[name] = query.source
    return replace(query, source=children[0], variable=name)
