"""SPARQL out: how a query is written, and that it is read again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.logic.strategies import queries
from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.rewrite import flatten
from unseen.logic.sparql import parse_sparql
from unseen.logic.sparql.writer import to_sparql


def canonical(query: Query) -> Query:
    """The query flattened, with the parts of conjunctions and disjunctions in one order."""
    return _sorted(flatten(query))


def _sorted(query: Query) -> Query:
    match query:
        case Project():
            return Project(query.relation, _sorted(query.source), query.inverse)
        case And():
            return And(tuple(sorted(map(_sorted, query.parts), key=repr)))
        case Or():
            return Or(tuple(sorted(map(_sorted, query.parts), key=repr)))
        case Not():
            return Not(_sorted(query.part))
    return query


@pytest.mark.parametrize(
    ("query", "body"),
    [
        (Project("p", Anchor("A")), "<urn:unseen:A> <urn:unseen:p> ?x ."),
        (Project("p", Anchor("A b"), inverse=True), "?x <urn:unseen:p> <urn:unseen:A%20b> ."),
        (Anchor("<http://a.org/b>"), "VALUES ?x { <http://a.org/b> }"),
        (Or((Anchor("A"), Anchor("B"))), "VALUES ?x { <urn:unseen:A> <urn:unseen:B> }"),
        (
            Project("q", Project("p", Anchor("A")), variable="city"),
            "?city <urn:unseen:q> ?x . <urn:unseen:A> <urn:unseen:p> ?city .",
        ),
        (
            Project("q", Project("p", Anchor("A")), variable="x"),
            "?v1 <urn:unseen:q> ?x . <urn:unseen:A> <urn:unseen:p> ?v1 .",
        ),
        (
            And((Not(Project("p", Anchor("A"))), Anchor("B"))),
            "VALUES ?x { <urn:unseen:B> } FILTER NOT EXISTS { <urn:unseen:A> <urn:unseen:p> ?x . }",
        ),
        (And((Anchor("B"), Not(Anchor("A")))), "VALUES ?x { <urn:unseen:B> } FILTER(?x != <urn:unseen:A>)"),
    ],
)
def test_a_query_is_written(query: Query, body: str) -> None:
    assert to_sparql(query) == f"SELECT DISTINCT ?x WHERE {{ {body} }}"


def test_names_are_written_as_the_caller_wants_them() -> None:
    text = to_sparql(Project("p", Anchor("A")), "http://e.org/{}".format, "http://r.org/{}".format)
    assert text == "SELECT DISTINCT ?x WHERE { <http://e.org/A> <http://r.org/p> ?x . }"


def test_every_inner_set_has_a_variable_of_its_own() -> None:
    inner = Project("p", Anchor("A"))
    text = to_sparql(And((Project("q", inner, variable="y"), Project("r", inner, variable="y"))))
    assert "?y <urn:unseen:q> ?x" in text
    assert "?v1 <urn:unseen:r> ?x" in text


@pytest.mark.parametrize(
    "query",
    [
        Not(Anchor("A")),
        Not(Project("p", Anchor("A"))),
        Or((Anchor("A"), Not(Anchor("B")))),
        And((Not(Anchor("A")), Not(Anchor("B")))),
    ],
)
def test_a_query_that_only_excludes_is_not_written(query: Query) -> None:
    with pytest.raises(QueryRefused, match="negation must be bound"):
        to_sparql(query)


def test_a_query_with_ids_is_not_written() -> None:
    with pytest.raises(TypeError, match="ids"):
        to_sparql(Project(0, Anchor(1)))


@settings(max_examples=2 * settings.default.max_examples)
@given(queries(max_depth=5))
def test_what_is_written_is_read_again(query: Query) -> None:
    assert canonical(parse_sparql(to_sparql(query)).query) == canonical(query)
