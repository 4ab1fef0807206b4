"""Which kind of query it is: how deep, with negation or without, what its operators are.

Probabilities depend on it, and on nothing else about the form of a query, so any tree-shaped query has a kind.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from unseen.logic.algebra import And, Not, Or, Project, Query, walk
from unseen.logic.shapes import SHAPES, Shape, shape_of, template_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def group_of(query: Query) -> str:
    """`p` or, with negation, `n`; the projections on the longest path; `i` if sets intersect: 1p is p1, pi is p2i."""
    sign = "n" if has_negation(query) else "p"
    return f"{sign}{depth(query)}{'i' if has_intersection(query) else ''}"


def type_like(query: Query, types: Iterable[str]) -> str | None:
    """The type that a query has, else the first that is as deep, with as much negation; None if there is no such."""
    return _type_like(template_of(query), tuple(types))


def group_distance(known: str, wanted: str) -> tuple[bool, int, bool]:
    """How far one group is from another: negation matters most, then depth, then intersection."""
    depths = [int(group[1:].removesuffix("i")) for group in (known, wanted)]
    return known[0] != wanted[0], abs(depths[0] - depths[1]), known.endswith("i") != wanted.endswith("i")


def has_negation(query: Query) -> bool:
    """Whether something is excluded anywhere."""
    return any(isinstance(node, Not) for node in walk(query))


def has_intersection(query: Query) -> bool:
    """Whether two or more sets intersect anywhere, what is only excluded not counted."""
    return any(map(_intersects, walk(query)))


def is_union(query: Query) -> bool:
    """Whether the answers themselves are a union."""
    return isinstance(query, Or)


def depth(query: Query) -> int:
    """The projections on the longest path."""
    return max((depth(child) for child in query.children), default=0) + isinstance(query, Project)


def _intersects(node: Query) -> bool:
    return isinstance(node, And) and sum(not isinstance(part, Not) for part in node.parts) > 1


@lru_cache(maxsize=4096)
def _type_like(template: str, types: tuple[str, ...]) -> str | None:
    query = Shape(template, template).skeleton
    name, group = shape_of(query).name, group_of(query)
    if name in types:
        return name
    groups = {kind: group_of(SHAPES[kind].skeleton) for kind in types if kind in SHAPES}
    akin = [kind for kind, known in groups.items() if known.removesuffix("i") == group.removesuffix("i")]
    return min(akin, key=lambda kind: groups[kind] != group, default=None)
