"""The five node types: frozen, hashable, printable, bound to ids and back."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given

from tests.logic.strategies import ENTITIES, RELATIONS, queries
from unseen.errors import QueryRefused, UnknownName
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import (
    MAX_DEPTH,
    Anchor,
    And,
    Not,
    Or,
    Project,
    Query,
    bind,
    conjunction,
    disjunction,
    rebuild,
    unbind,
    walk,
)

VOCABULARY = Vocabulary.of(ENTITIES, RELATIONS)
CHESS_PLAYERS = Project("likes", Anchor("Chess"), inverse=True)


def bound(query: Query) -> Query:
    return bind(query, VOCABULARY.entity_id, VOCABULARY.relation_id)


def unbound(query: Query) -> Query:
    return unbind(query, VOCABULARY.entity_name, VOCABULARY.relation_name)


@pytest.mark.parametrize(
    "query", [Anchor("a"), CHESS_PLAYERS, And((Anchor("a"), Anchor("b"))), Or((Anchor("a"),)), Not(Anchor("a"))]
)
def test_nodes_are_frozen_and_hashable(query: Query) -> None:
    assert query in {query}
    with pytest.raises(FrozenInstanceError):
        query.depth = 7


def test_equal_nodes_are_equal_whatever_their_variables_are_called() -> None:
    first, second = Project("r", CHESS_PLAYERS, variable="v"), Project("r", CHESS_PLAYERS, variable="w")
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Anchor("a"), Anchor("b")),
        (Project("r", Anchor("a")), Project("r", Anchor("a"), inverse=True)),
        (And((Anchor("a"), Anchor("b"))), Or((Anchor("a"), Anchor("b")))),
        (And((Anchor("a"), Anchor("b"))), And((Anchor("b"), Anchor("a")))),
        (Not(Anchor("a")), Anchor("a")),
    ],
)
def test_different_nodes_differ(left: Query, right: Query) -> None:
    assert left != right


def test_a_query_prints_as_a_formula_of_sets() -> None:
    query = And((CHESS_PLAYERS, Not(Or((Project("parent", Anchor("Ada")), Anchor("Ben"))))))
    assert str(query) == "likes⁻¹(Chess) ∧ ¬(parent(Ada) ∨ Ben)"
    assert str(Project(3, Anchor(7))) == "#3(#7)"


@pytest.mark.parametrize("node", [And, Or])
def test_a_conjunction_or_disjunction_of_nothing_is_refused(node: type[And | Or]) -> None:
    with pytest.raises(QueryRefused, match="at least one part"):
        node(())


def test_a_single_part_needs_no_operator() -> None:
    assert conjunction([CHESS_PLAYERS]) is CHESS_PLAYERS
    assert disjunction([CHESS_PLAYERS]) is CHESS_PLAYERS
    assert conjunction([CHESS_PLAYERS, Anchor("a")]) == And((CHESS_PLAYERS, Anchor("a")))
    assert disjunction([CHESS_PLAYERS, Anchor("a")]) == Or((CHESS_PLAYERS, Anchor("a")))


def test_walking_visits_children_before_parents() -> None:
    query = And((CHESS_PLAYERS, Not(Anchor("a"))))
    assert list(walk(query)) == [Anchor("Chess"), CHESS_PLAYERS, Anchor("a"), Not(Anchor("a")), query]


@given(queries(safe=False))
def test_rebuilding_over_the_same_children_changes_nothing(query: Query) -> None:
    assert all(rebuild(node, node.children) == node for node in walk(query))


@given(queries(safe=False))
def test_depth_counts_levels(query: Query) -> None:
    def depth(node: Query) -> int:
        return 1 + max(map(depth, node.children), default=0)

    assert all(node.depth == depth(node) for node in walk(query))


@given(queries(safe=False))
def test_binding_and_unbinding_are_inverse(query: Query) -> None:
    assert unbound(bound(query)) == query


@given(queries(safe=False))
def test_a_bound_query_holds_ids_only_and_stays_when_bound_again(query: Query) -> None:
    ids = bound(query)
    assert all(isinstance(node.entity, int) for node in walk(ids) if isinstance(node, Anchor))
    assert all(isinstance(node.relation, int) and not node.inverse for node in walk(ids) if isinstance(node, Project))
    assert bound(ids) == ids
    assert unbound(query) == query


def test_binding_keeps_variables_and_reports_unknown_names(family: KnowledgeGraph) -> None:
    vocabulary = family.vocabulary
    query = Project("parent", Project("likes", Anchor("Go"), inverse=True), variable="v")
    ids = bind(query, vocabulary.entity_id, vocabulary.relation_id)
    assert isinstance(ids, Project)
    assert (ids, ids.variable) == (Project(0, Project(3, Anchor(6))), "v")
    with pytest.raises(UnknownName, match="closest: likes"):
        bind(Project("like", Anchor("Go")), vocabulary.entity_id, vocabulary.relation_id)


@pytest.mark.parametrize("wrap", [Not, lambda q: And((q,)), lambda q: Or((q, Anchor("b"))), lambda q: Project("r", q)])
def test_a_query_nested_too_deeply_cannot_even_be_built(wrap: type[Not]) -> None:
    query: Query = Anchor("a")
    while query.depth < MAX_DEPTH:
        query = wrap(query)
    with pytest.raises(QueryRefused, match="nested deeper than 100 levels"):
        wrap(query)
