"""The nested tuples of the published query files.

A chain is `(start, (r1, ..., rk))`: start is an entity id or another query, -2 among the relations takes the complement
of what was reached so far. An intersection is a tuple of queries; a union is one that ends in the element `(-1,)`.
Relation ids are directed ids of our vocabulary; other numberings are translated by the caller.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, TypeAlias

from unseen.errors import QueryRefused
from unseen.logic.algebra import MAX_DEPTH, Anchor, And, Not, Or, Project, Query

if TYPE_CHECKING:
    from collections.abc import Callable

    Renumber: TypeAlias = Callable[[int], int]

UNION, NEGATION = -1, -2
Nested: TypeAlias = tuple[Any, ...]


def from_tuple(nested: Nested, relation: Renumber = int, level: int = 0) -> Query:
    """The query of a nested tuple; `relation` translates relation ids."""
    if level > MAX_DEPTH or not isinstance(nested, tuple) or not nested or _has_bad_id(nested):
        raise QueryRefused("this is not a query in nested tuples", place=reprlib.repr(nested)[:80])
    if _is_chain(nested):
        start, steps = nested
        source = Anchor(start) if isinstance(start, int) else from_tuple(start, relation, level + 1)
        for step in steps:
            source = Not(source) if step == NEGATION else Project(relation(step), source)
        return source
    is_union = nested[-1] == (UNION,)
    parts = tuple(from_tuple(part, relation, level + 1) for part in nested[: len(nested) - is_union])
    return Or(parts) if is_union else And(parts)


def to_tuple(query: Query, relation: Renumber = int) -> Nested:
    """The nested tuple of a query with ids; `relation` translates relation ids."""
    match query:
        case And():
            return tuple(to_tuple(part, relation) for part in query.parts)
        case Or():
            return (*(to_tuple(part, relation) for part in query.parts), (UNION,))
    steps: list[int] = []
    while isinstance(query, Project | Not):
        steps.append(NEGATION if isinstance(query, Not) else relation(_id(query.relation)))
        query = query.children[0]
    start = _id(query.entity) if isinstance(query, Anchor) else to_tuple(query, relation)
    return (start, tuple(reversed(steps)))


def _id(name: str | int) -> int:
    if isinstance(name, str):
        raise QueryRefused("nested tuples hold ids, and this query has names: bind it to a graph first")
    return name


def _is_chain(nested: Nested) -> bool:
    """A chain ends in a tuple of plain numbers that is not the union mark."""
    if len(nested) != 2 or not isinstance(nested[1], tuple) or nested[1] == (UNION,):
        return False
    return all(isinstance(step, int) for step in nested[1])


def _has_bad_id(nested: Nested) -> bool:
    """Whether a chain has a negative number that is not the mark of negation among its steps."""
    if not _is_chain(nested):
        return False
    start, steps = nested
    return (isinstance(start, int) and start < 0) or any(step < 0 and step != NEGATION for step in steps)
