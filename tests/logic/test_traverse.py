"""Exact answers equal brute force over sets, and every witness is a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.graphs import graph_of, named_graph
from tests.logic.brute_force import answer_set
from tests.logic.strategies import ENTITIES, RELATIONS, queries, shaped_queries, triples
from unseen.errors import QueryRefused
from unseen.logic import traverse
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, bind
from unseen.logic.traverse import Traversal, answers, step
from unseen.logic.variables import inner_variables, with_variables

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

Triples = list[tuple[str, str, str]]
NUM_ENTITIES, NUM_EDGES = 2000, 3000


def bound(query: Query, graph: KnowledgeGraph) -> Query:
    return bind(query, graph.vocabulary.entity_id, graph.vocabulary.relation_id)


@settings(max_examples=4 * settings.default.max_examples)
@given(triples(), queries(safe=False) | shaped_queries())
def test_answers_equal_brute_force(edges: Triples, query: Query) -> None:
    graph = named_graph(edges, ENTITIES, RELATIONS)
    found = answers(graph, bound(query, graph))
    assert found.tolist() == sorted(ENTITIES.index(name) for name in answer_set(edges, query, set(ENTITIES)))


@given(triples(), queries(safe=False))
def test_membership_of_one_entity_agrees_with_the_set(edges: Triples, query: Query) -> None:
    graph = named_graph(edges, ENTITIES, RELATIONS)
    traversal, ids = Traversal(graph), bound(query, graph)
    members = traversal.members(ids).tolist()
    assert [traversal.contains(ids, entity) for entity in range(len(ENTITIES))] == [
        entity in members for entity in range(len(ENTITIES))
    ]


def positive_answers(edges: Triples, query: Query, universe: set[str]) -> set[str]:
    """The answers when everything that negation excludes is allowed."""
    match query:
        case Not():
            return set(universe)
        case And():
            return set.intersection(*(positive_answers(edges, part, universe) for part in query.parts))
        case Or():
            return set.union(*(positive_answers(edges, part, universe) for part in query.parts))
        case Project():
            sources = positive_answers(edges, query.source, universe)
            walked = [(tail, r, head) if query.inverse else (head, r, tail) for head, r, tail in edges]
            return {tail for head, r, tail in walked if r == query.relation and head in sources}
    return answer_set(edges, query, universe)


@settings(max_examples=4 * settings.default.max_examples)
@given(triples(), queries(safe=False) | shaped_queries())
def test_every_witness_is_a_proof_made_of_real_edges(edges: Triples, query: Query) -> None:
    graph = named_graph(edges, ENTITIES, RELATIONS)
    named = with_variables(query)
    ids = bound(named, graph)
    traversal = Traversal(graph)
    sets = {variable: answer_set(edges, inner, set(ENTITIES)) for variable, inner in inner_variables(named).items()}
    for entity in traversal.members(ids).tolist():
        witness = traversal.witness(ids, entity)
        proof = [(ENTITIES[head], RELATIONS[relation], ENTITIES[tail]) for head, relation, tail in witness.edges]
        assert set(proof) <= set(edges)
        assert ENTITIES[entity] in positive_answers(proof, named, set(ENTITIES))
        assert all(ENTITIES[value] in sets[variable] for variable, value in witness.bindings.items())


def test_a_witness_names_the_values_and_edges_on_the_way(family: KnowledgeGraph) -> None:
    names = family.vocabulary
    grandchildren = bound(Project("parent", Project("parent", Anchor("Ada")), variable="child"), family)
    traversal = Traversal(family)
    shown = {}
    for entity in traversal.members(grandchildren).tolist():
        witness = traversal.witness(grandchildren, entity)
        edges = [(names.entity_name(h), names.relations.name(r), names.entity_name(t)) for h, r, t in witness.edges]
        shown[names.entity_name(entity)] = (names.entity_name(witness.bindings["child"]), edges)
    assert shown == {
        "Dora": ("Ben", [("Ada", "parent", "Ben"), ("Ben", "parent", "Dora")]),
        "Emil": ("Cleo", [("Ada", "parent", "Cleo"), ("Cleo", "parent", "Emil")]),
    }


def test_a_backward_step_is_shown_as_the_edge_that_stands_in_the_graph(family: KnowledgeGraph) -> None:
    query = bound(Project("parent", Anchor("Ben"), inverse=True), family)
    assert Traversal(family).witness(query, 0).edges == [(0, 0, 1)]


def test_a_witness_of_a_union_proves_a_branch_that_holds(family: KnowledgeGraph) -> None:
    query = bound(Or((Project("parent", Anchor("Cleo")), Project("likes", Anchor("Go"), inverse=True))), family)
    ada, emil = family.vocabulary.entity_id("Ada"), family.vocabulary.entity_id("Emil")
    traversal = Traversal(family)
    assert traversal.witness(query, ada).edges == [(ada, 1, family.vocabulary.entity_id("Go"))]
    assert traversal.witness(query, emil).edges == [(family.vocabulary.entity_id("Cleo"), 0, emil)]


def test_nothing_is_shown_for_what_negation_excludes(family: KnowledgeGraph) -> None:
    query = bound(And((Project("parent", Anchor("Ada")), Not(Project("likes", Anchor("Chess"), inverse=True)))), family)
    assert answers(family, query).tolist() == [family.vocabulary.entity_id("Cleo")]
    assert len(Traversal(family).witness(query, family.vocabulary.entity_id("Cleo")).edges) == 1


def test_negation_of_the_empty_set_is_everything(single_edge: KnowledgeGraph) -> None:
    nothing = Project(0, Anchor(1))
    assert answers(single_edge, nothing).tolist() == []
    assert answers(single_edge, Not(nothing)).tolist() == [0, 1]
    assert answers(single_edge, Project(0, Not(nothing))).tolist() == [1]
    assert answers(single_edge, And((Not(nothing), Not(Anchor(0))))).tolist() == [1]


def test_names_must_be_bound_first(single_edge: KnowledgeGraph) -> None:
    for query in (Anchor("a"), Project("r", Anchor(0)), Not(Project("r", Anchor("a")))):
        with pytest.raises(QueryRefused, match="bind it first"):
            answers(single_edge, query)


def test_equal_sub_queries_are_evaluated_once(family: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(traverse, "step", lambda *given: calls.append(given) or step(*given))
    shared = Project(0, Anchor(0))
    Traversal(family).members(And((Project(0, shared), Project(2, shared), shared)))
    assert len(calls) == 3


@pytest.fixture(scope="module")
def large() -> tuple[KnowledgeGraph, set[tuple[int, int, int]]]:
    """2,000 entities; relation 0 has 3,000 edges with hubs, relation 1 has a handful."""
    random = np.random.default_rng(7)
    heads, tails = random.integers(0, NUM_ENTITIES, NUM_EDGES), random.integers(0, NUM_ENTITIES, NUM_EDGES) ** 2 // 2000
    edges = [(int(head), 0, int(tail)) for head, tail in zip(heads, tails, strict=True)]
    edges += [(number, 1, number + 1) for number in range(0, 50, 5)]
    return graph_of(edges, NUM_ENTITIES, 2), set(edges)


@pytest.mark.parametrize("size", [0, 1, 2, 5, 100, 125, 126, 1000, NUM_ENTITIES])
@pytest.mark.parametrize("relation", [0, 1, 2, 3])
def test_a_step_from_few_or_many_members_equals_brute_force(
    large: tuple[KnowledgeGraph, set[tuple[int, int, int]]], size: int, relation: int
) -> None:
    graph, edges = large
    members = np.sort(np.random.default_rng(size).choice(NUM_ENTITIES, size, replace=False)).astype(np.int32)
    inside = set(members.tolist())
    walked = [(tail, head) if relation % 2 else (head, tail) for head, r, tail in edges if r == relation // 2]
    reached = step(graph, relation, members)
    assert reached.tolist() == sorted({target for source, target in walked if source in inside})
    assert reached.dtype == np.int32


def test_small_and_large_sets_take_different_ways(
    large: tuple[KnowledgeGraph, set[tuple[int, int, int]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, _ = large
    ways = []
    look_up = traverse._positions_of
    monkeypatch.setattr(traverse, "_positions_of", lambda *given: ways.append(len(given[0])) or look_up(*given))
    for size in (0, 1, 2, 100, 1000):
        step(graph, 0, np.arange(size, dtype=np.int32))
    assert ways == [0, 2, 100]


@settings(max_examples=20)
@given(st.data())
def test_queries_on_a_large_graph_equal_brute_force(
    large: tuple[KnowledgeGraph, set[tuple[int, int, int]]], data: st.DataObject
) -> None:
    graph, edges = large
    entities, relations = tuple(map(str, range(NUM_ENTITIES))), ("0", "1")
    query = data.draw(queries(entities=entities, relations=relations, max_depth=4, safe=False))
    named = [(str(head), str(relation), str(tail)) for head, relation, tail in edges]
    expected = answer_set(named, query, set(entities))
    assert answers(graph, bound(query, graph)).tolist() == sorted(map(int, expected))
