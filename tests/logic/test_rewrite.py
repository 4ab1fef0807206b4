"""Rewriting changes the form of a query and never its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.logic.brute_force import answer_set
from tests.logic.strategies import ENTITIES, queries, triples
from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, walk
from unseen.logic.rewrite import disjunctive_normal_form, flatten, push_negation

if TYPE_CHECKING:
    from collections.abc import Callable

A, B, C = (Project("r", Anchor(name)) for name in "abc")
Triples = list[tuple[str, str, str]]


@pytest.mark.parametrize("rewrite", [flatten, push_negation, disjunctive_normal_form])
@given(edges=triples(max_size=12), query=queries(safe=False))
def test_rewriting_keeps_the_meaning(rewrite: Callable[[Query], Query], edges: Triples, query: Query) -> None:
    universe = set(ENTITIES)
    assert answer_set(edges, rewrite(query), universe) == answer_set(edges, query, universe)


@pytest.mark.parametrize("rewrite", [flatten, push_negation, disjunctive_normal_form])
@given(query=queries(safe=False))
def test_rewriting_twice_is_rewriting_once(rewrite: Callable[[Query], Query], query: Query) -> None:
    assert rewrite(rewrite(query)) == rewrite(query)


@given(queries(safe=False))
def test_a_flat_query_has_no_operator_directly_below_itself(query: Query) -> None:
    for node in walk(flatten(query)):
        if isinstance(node, And | Or | Not):
            assert not any(isinstance(child, type(node)) for child in node.children)
        if isinstance(node, And | Or):
            assert len(node.parts) > 1


@given(queries(safe=False))
def test_pushed_negation_stands_before_projections_and_anchors_only(query: Query) -> None:
    assert all(isinstance(node.part, Project | Anchor) for node in walk(push_negation(query)) if isinstance(node, Not))


@given(queries(safe=False))
def test_the_branches_of_a_normal_form_hold_no_union_outside_negation(query: Query) -> None:
    def has_union(node: Query) -> bool:
        return isinstance(node, Or) or (not isinstance(node, Not) and any(has_union(child) for child in node.children))

    normal = disjunctive_normal_form(query)
    assert not any(has_union(branch) for branch in (normal.parts if isinstance(normal, Or) else [normal]))


def test_flattening_opens_nests_and_removes_double_negation() -> None:
    assert flatten(And((A, And((B, And((C,))))))) == And((A, B, C))
    assert flatten(Or((Or((A,)), Or((B, C))))) == Or((A, B, C))
    assert flatten(Not(Not(Not(A)))) == Not(A)
    assert flatten(And((Not(Not(And((A, B)))), C))) == And((A, B, C))
    assert flatten(Project("r", And((A,)), variable="v")) == Project("r", A)


def test_de_morgan() -> None:
    assert push_negation(Not(And((A, B)))) == Or((Not(A), Not(B)))
    assert push_negation(Not(Or((A, Not(B))))) == And((Not(A), B))


def test_a_union_moves_out_of_projections_and_conjunctions() -> None:
    query = Project("s", And((Or((A, B)), C)))
    assert disjunctive_normal_form(query) == Or((Project("s", And((A, C))), Project("s", And((B, C)))))


def test_a_union_stays_under_a_negated_projection() -> None:
    query = And((C, Not(Project("s", Or((A, B))))))
    assert disjunctive_normal_form(query) == query


def test_rewriting_keeps_variables() -> None:
    query = flatten(Project("s", And((A,)), variable="v"))
    assert isinstance(query, Project)
    assert query.variable == "v"


def test_a_normal_form_that_would_explode_is_refused() -> None:
    wide = And(tuple(Or((A, B, C)) for _ in range(10)))
    with pytest.raises(QueryRefused, match="more than 4,096 branches"):
        disjunctive_normal_form(wide)
    nested = Or(tuple(And(tuple(Or((A, B)) for _ in range(12))) for _ in range(2)))
    with pytest.raises(QueryRefused, match="more than 4,096 branches"):
        disjunctive_normal_form(nested)
