"""Which facts move a prediction."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from unseen.errors import QueryRefused
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.logic.link import Link
from unseen.methods.known_facts import KnownFactsProjector
from unseen.reasons import moving_facts as module
from unseen.reasons.moving_facts import TRIALS, allowed_trials, moving_facts, probabilities
from unseen.reasons.nearby import nearby_edges

STREET = [("Ann", "knows", "Bob"), ("Bob", "knows", "Cid"), ("Ann", "likes", "Tea"), ("Cid", "likes", "Tea")]
FAR = [("Cid", "knows", "Dot"), ("Dot", "knows", "Eli"), ("Fay", "likes", "Tea")]


class Watching:
    """A model that gives everything a chance of 0.6 where the graph has one fact, and of 0.1 where it lacks it."""

    def __init__(self, graph: KnowledgeGraph, fact: tuple[str, str, str]) -> None:
        names = graph.vocabulary
        self.link = Link(names.entity_id(fact[0]), names.relation_id(fact[1]), names.entity_id(fact[2]))
        self.calls = 0

    def project(self, graph: KnowledgeGraph, sets: Tensor, _relations: Tensor) -> Tensor:
        self.calls += 1
        return torch.full_like(sets, 0.6 if self.link.is_in(graph) else 0.1)

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Tensor:
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        return execute(KnownFactsProjector(self, 1.0), graph, queries)


@pytest.fixture
def graph() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples([*STREET, *FAR])


def named(graph: KnowledgeGraph, edges: Sequence[tuple[int, int, int]]) -> list[tuple[str, str, str]]:
    names = graph.vocabulary
    return [(names.entity_name(head), names.relations.name(r), names.entity_name(tail)) for head, r, tail in edges]


def test_edges_on_the_shortest_paths_are_the_nearest(graph: KnowledgeGraph) -> None:
    ids = graph.vocabulary.entity_id
    found = named(graph, nearby_edges(graph, ids("Ann"), ids("Cid"), 10))
    assert found[:2] == [("Ann", "knows", "Bob"), ("Bob", "knows", "Cid")], "Bob has fewer edges than tea"
    assert found[2:4] == [("Ann", "likes", "Tea"), ("Cid", "likes", "Tea")]
    assert found[4:] == [("Cid", "knows", "Dot")]
    assert len(nearby_edges(graph, ids("Ann"), ids("Cid"), 3)) == 3


def test_paths_over_two_others_and_direct_edges_are_found(graph: KnowledgeGraph) -> None:
    ids = graph.vocabulary.entity_id
    assert ("Dot", "knows", "Eli") in named(graph, nearby_edges(graph, ids("Bob"), ids("Eli"), 3))
    assert named(graph, nearby_edges(graph, ids("Bob"), ids("Ann"), 1)) == [("Ann", "knows", "Bob")]


def test_entities_without_edges_have_nothing_nearby() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "r", "d")])
    alone = graph.restricted_to(graph.heads == graph.vocabulary.entity_id("c"))
    assert nearby_edges(alone, 0, 1, 5) == []


def test_the_fact_that_a_model_rests_on_is_found(graph: KnowledgeGraph) -> None:
    model = Watching(graph, ("Bob", "knows", "Cid"))
    ids = graph.vocabulary.entity_id
    link = Link(ids("Ann"), graph.vocabulary.relation_id("knows"), ids("Cid"))
    before = probabilities(model, graph, [link])
    assert before == [pytest.approx(0.6)]
    ((edge, without),) = moving_facts(model, graph, [link], before, 3)[0]
    assert named(graph, [edge]) == [("Bob", "knows", "Cid")]
    assert without == pytest.approx(0.1)


def test_links_of_one_question_share_their_trials(graph: KnowledgeGraph) -> None:
    model = Watching(graph, ("Bob", "knows", "Cid"))
    ids, knows = graph.vocabulary.entity_id, graph.vocabulary.relation_id("knows")
    links = [Link(ids("Ann"), knows, ids(name)) for name in ("Cid", "Dot", "Fay")]
    found = moving_facts(model, graph, links, probabilities(model, graph, links), 3)
    assert model.calls <= 1 + graph.num_triples
    assert [len(one) for one in found] == [1, 1, 0]


def test_trials_are_bounded_by_their_number_and_by_the_size_of_the_graph(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert allowed_trials(graph) == TRIALS
    monkeypatch.setattr(module, "TRIED_TRIPLES", 2 * graph.num_triples)
    model = Watching(graph, ("Bob", "knows", "Cid"))
    link = Link(0, 0, graph.vocabulary.entity_id("Cid"))
    moving_facts(model, graph, [link], [0.6], 3)
    assert (allowed_trials(graph), model.calls) == (2, 2)


def test_a_trial_that_the_model_refuses_is_passed_over(graph: KnowledgeGraph) -> None:
    class Refusing(Watching):
        def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
            if graph.num_triples < len([*STREET, *FAR]):
                raise QueryRefused("it does not know this relation")
            return super().estimate(graph, queries)

    link = Link(0, 0, graph.vocabulary.entity_id("Cid"))
    assert moving_facts(Refusing(graph, STREET[0]), graph, [link], [0.6], 3) == [[]]
