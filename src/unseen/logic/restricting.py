"""Who may be an answer at all: by recorded kinds, by ends of relations, by what is already related."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.distinct import distinct
from unseen.logic.algebra import Anchor, And, Given, Not, Project, Query, conjunction
from unseen.logic.resolving import is_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int32]

OWN_ENDS = "question"
"""The kind of the answers that the question's own relations have had."""


def without_given(query: Query, everyone: int) -> tuple[Query, Ids | None]:
    """The query without sets that restrict its answers directly, and who may be an answer then; None for everyone."""
    if not isinstance(query, And):
        return query, None
    kept = [part for part in query.parts if not _is_given(part)]
    if len(kept) == len(query.parts) or all(isinstance(part, Not) for part in kept):
        return query, None
    allowed = np.ones(everyone, bool)
    for part in query.parts:
        if isinstance(part, Given):
            inside = np.zeros(everyone, bool)
            inside[part.members.ids] = True
            allowed &= inside
        elif isinstance(part, Not) and isinstance(part.part, Given):
            allowed[part.part.members.ids] = False
    return conjunction(kept), np.flatnonzero(allowed).astype(np.int32)


def _is_given(part: Query) -> bool:
    return isinstance(part, Given) or (isinstance(part, Not) and isinstance(part.part, Given))


def ends_like(graph: KnowledgeGraph, kind: str, query: Query) -> Ids:
    """Entities at an end of a relation: `capital` what it leads to, `^capital` where it comes from.

    `question` means the ends at which the answers of the question itself stand.
    """
    if kind == OWN_ENDS:
        return _own_ends(graph, query)
    name = kind.removeprefix("^")
    return graph.range_of(graph.vocabulary.relation_id(name, kind.startswith("^")))[0]


def _own_ends(graph: KnowledgeGraph, query: Query) -> Ids:
    """Entities that have been at the answers' end of some relation that leads to the answers."""
    relations = [int(node.relation) for node in _last_steps(query) if isinstance(node.relation, int)]
    if not relations:
        return graph.candidates
    return distinct(np.concatenate([graph.range_of(directed)[0] for directed in relations])).astype(np.int32)


def _last_steps(query: Query) -> list[Project]:
    if isinstance(query, Project):
        return [query]
    if isinstance(query, Not):
        return []
    return [found for child in query.children for found in _last_steps(child)]


def related_to_named(graph: KnowledgeGraph, query: Query, type_relation: int | None) -> Ids:
    """The entities that a query names outside of negation, and all that have an edge with one of them.

    Recorded kinds (`x a Country`) do not count as named.
    """
    named = np.array(sorted(_named(query, type_relation)), np.int32)
    from_heads, from_tails = np.isin(graph.heads, named), np.isin(graph.tails, named)
    return distinct(np.concatenate([named, graph.tails[from_heads], graph.heads[from_tails]])).astype(np.int32)


def _named(query: Query, type_relation: int | None) -> set[int]:
    if isinstance(query, Not) or is_kind(query, type_relation):
        return set()
    if isinstance(query, Anchor):
        return {int(query.entity)}
    return set().union(*(_named(child, type_relation) for child in query.children))
