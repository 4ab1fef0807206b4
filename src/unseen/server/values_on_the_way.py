"""For one answer to a question: the questions whose answers are the values that its inner variables can have."""

from __future__ import annotations

from dataclasses import replace

from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Anchor, And, Anything, Or, Project, Query, Repeat


def values_on_the_way(query: Query, answer: int) -> dict[str, Query]:
    """By inner variable of a question with ids, the query for its values; none of what must not hold."""
    found: dict[str, Query] = {}
    _look(query, Anchor(answer), found)
    return found


def _look(query: Query, target: Query, found: dict[str, Query]) -> None:
    """Note the variables of a query of which a member fulfils `target`."""
    match query:
        case And():
            for part in query.parts:
                others = [other for other in query.parts if other is not part]
                _look(part, target if isinstance(target, Anchor) else _both(target, *others), found)
        case Or():
            for part in query.parts:
                _look(part, target, found)
        case (
            Project(relation=int(directed), variable=str(variable))
            | Repeat(relation=int(directed), variable=str(variable))
        ) if not isinstance(query.source, Anchor):
            back = replace(query, relation=inverse_relation(directed), source=target, variable=None)
            found.setdefault(variable, _both(query.source, back))
            _look(query.source, back, found)


def _both(*queries: Query) -> Query:
    """Members of all of several queries."""
    parts = [part for query in queries for part in (query.parts if isinstance(query, And) else (query,))]
    wanted = tuple(part for part in parts if not isinstance(part, Anything))
    return wanted[0] if len(wanted) == 1 else And(wanted)
