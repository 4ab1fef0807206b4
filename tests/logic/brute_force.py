"""What a query means, by definition: sets of names and nothing clever. The oracle of the other tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.logic.algebra import Anchor, And, Anything, Loop, Not, Or, Project, Query

if TYPE_CHECKING:
    from collections.abc import Collection, Set

    Triple = tuple[str, str, str]


def answer_set(  # noqa: PLR0911  # one for each kind of node
    triples: Collection[Triple], query: Query, universe: Set[str]
) -> set[str]:
    """The names that answer a query with names; the complement is taken in `universe`."""
    match query:
        case Anchor():
            return {str(query.entity)}
        case Project():
            return _reached(triples, query, answer_set(triples, query.source, universe))
        case And():
            return set.intersection(*(answer_set(triples, part, universe) for part in query.parts))
        case Or():
            return set.union(*(answer_set(triples, part, universe) for part in query.parts))
        case Not():
            return set(universe) - answer_set(triples, query.part, universe)
        case Anything():
            return set(universe)
        case Loop():
            return {head for head, relation, tail in triples if relation == query.relation and head == tail}
    raise TypeError(f"not a query: {query!r}")


def _reached(triples: Collection[Triple], step: Project, sources: Set[str]) -> set[str]:
    edges = [(head, tail) for head, relation, tail in triples if relation == step.relation]
    if step.inverse:
        edges = [(tail, head) for head, tail in edges]
    return {target for source, target in edges if source in sources}
