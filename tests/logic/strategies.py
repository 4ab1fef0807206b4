"""Random queries and graphs over given names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

    Triple = tuple[str, str, str]

ENTITIES = ("Ada", "Bob", "Côte d'Ivoire", "<http://example.org/d>", "e:e", "F")
RELATIONS = ("p", "q", "is part of")


def queries(
    entities: Sequence[str] = ENTITIES, relations: Sequence[str] = RELATIONS, max_depth: int = 4, *, safe: bool = True
) -> SearchStrategy[Query]:
    """Random queries with names. Safe ones say what each answer is: `Not` stands only beside a positive part of an
    `And`, or under a `Project`, whose edge binds its members. With `safe=False` it stands anywhere.
    """
    anchors = st.sampled_from(entities).map(Anchor)
    if max_depth <= 1:
        return anchors
    inner = queries(entities, relations, max_depth - 1, safe=safe)
    inner_or_not = inner | inner.map(Not)
    sources = inner_or_not if safe else inner
    projections = st.builds(Project, st.sampled_from(relations), sources, st.booleans())
    unions = st.lists(inner, min_size=1, max_size=3).map(lambda parts: Or(tuple(parts)))
    if not safe:
        return anchors | projections | unions | _conjunctions(inner) | inner.map(Not)
    joined = st.tuples(inner, st.lists(inner_or_not, max_size=2)).flatmap(
        lambda pair: st.permutations([pair[0], *pair[1]])
    )
    conjunctions = joined.map(lambda parts: And(tuple(parts)))
    return anchors | projections | projections | unions | conjunctions


def shaped_queries(
    entities: Sequence[str] = ENTITIES, relations: Sequence[str] = RELATIONS, names: Sequence[str] = tuple(SHAPES)
) -> SearchStrategy[Query]:
    """Random queries of the named shapes."""
    slots = {"e": st.sampled_from(entities), "r": st.sampled_from(relations)}
    return st.sampled_from(names).flatmap(
        lambda name: st.tuples(*(slots[slot] for slot in SHAPES[name].slots)).map(SHAPES[name].fill)
    )


def triples(
    entities: Sequence[str] = ENTITIES, relations: Sequence[str] = RELATIONS, max_size: int = 30
) -> SearchStrategy[list[Triple]]:
    """Random triples, possibly repeated, possibly none."""
    triple = st.tuples(st.sampled_from(entities), st.sampled_from(relations), st.sampled_from(entities))
    return st.lists(triple, max_size=max_size)


def _conjunctions(inner: SearchStrategy[Query]) -> SearchStrategy[Query]:
    return st.lists(inner, min_size=1, max_size=3).map(lambda parts: And(tuple(parts)))
