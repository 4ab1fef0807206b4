"""Queries with the same meaning in another form; pure functions."""

from __future__ import annotations

from itertools import product

from unseen.errors import QueryRefused
from unseen.logic.algebra import And, Not, Or, Project, Query, conjunction, disjunction, rebuild

MOST_BRANCHES = 4096
"""Largest disjunctive normal form that is written out; beyond it the form is refused."""


def flatten(query: Query) -> Query:
    """Nested conjunctions and disjunctions opened, single parts unwrapped, double negation removed."""
    children = tuple(flatten(child) for child in query.children)
    match query:
        case And():
            return conjunction([inner for child in children for inner in _parts(child, And)])
        case Or():
            return disjunction([inner for child in children for inner in _parts(child, Or)])
        case Not():
            return children[0].part if isinstance(children[0], Not) else Not(children[0])
    return rebuild(query, children)


def push_negation(query: Query) -> Query:
    """Negation moved inwards by De Morgan's laws, until it stands before projections and anchors only."""
    if not isinstance(query, Not):
        return rebuild(query, tuple(push_negation(child) for child in query.children))
    match query.part:
        case And():
            return Or(tuple(push_negation(Not(part)) for part in query.part.parts))
        case Or():
            return And(tuple(push_negation(Not(part)) for part in query.part.parts))
        case Not():
            return push_negation(query.part.part)
    return Not(push_negation(query.part))


def disjunctive_normal_form(query: Query) -> Query:
    """Unions moved outwards through projections and conjunctions, so that no branch holds one.

    Unions under a negated projection stay inside it: they do not distribute over negation.
    """
    return flatten(disjunction(_branches(flatten(push_negation(flatten(query))))))


def _branches(query: Query) -> list[Query]:
    match query:
        case Or():
            branches = [branch for part in query.parts for branch in _branches(part)]
        case And():
            branches = [And(combination) for combination in _combinations(query)]
        case Project():
            branches = [rebuild(query, (branch,)) for branch in _branches(query.source)]
        case _:
            branches = [query]
    return _limited(branches)


def _combinations(query: And) -> list[tuple[Query, ...]]:
    choices = [_branches(part) for part in query.parts]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MOST_BRANCHES:
        raise QueryRefused(f"its disjunctive normal form has more than {MOST_BRANCHES:,} branches")
    return list(product(*choices))


def _limited(branches: list[Query]) -> list[Query]:
    if len(branches) > MOST_BRANCHES:
        raise QueryRefused(f"its disjunctive normal form has more than {MOST_BRANCHES:,} branches")
    return branches


def _parts(query: Query, kind: type[And | Or]) -> tuple[Query, ...]:
    return query.children if isinstance(query, kind) else (query,)
