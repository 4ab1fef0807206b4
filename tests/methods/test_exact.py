"""Exact traversal as a method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from tests.graph.graphs import named_graph
from tests.logic.strategies import ENTITIES, RELATIONS, queries, triples
from unseen.logic.algebra import Anchor, And, Not, Project, Query, bind
from unseen.logic.traverse import answers
from unseen.methods.exact import Exact

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

Triples = list[tuple[str, str, str]]


def test_answers_score_one_and_everything_else_zero(family: KnowledgeGraph) -> None:
    children, chess = Project(0, Anchor(0)), Project(3, Anchor(family.vocabulary.entity_id("Chess")))
    scores = Exact().answer(family, [children, And((children, Not(chess)))])
    assert scores.tolist() == [[0, 1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0]]


def test_the_estimate_is_the_answer(family: KnowledgeGraph) -> None:
    query = Project(0, Project(0, Anchor(0)))
    assert Exact().estimate(family, [query]).memberships(query).tolist() == Exact().answer(family, [query])[0].tolist()


@given(triples(), queries(safe=False))
def test_the_method_agrees_with_traversal(edges: Triples, query: Query) -> None:
    graph = named_graph(edges, ENTITIES, RELATIONS)
    ids = bind(query, graph.vocabulary.entity_id, graph.vocabulary.relation_id)
    assert Exact().answer(graph, [ids])[0].nonzero()[:, 0].tolist() == answers(graph, ids).tolist()
