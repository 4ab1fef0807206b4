"""What a graph says about pairs of relations: small graphs by hand, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unseen.graph import KnowledgeGraph, Vocabulary, derived
from unseen.graph.deltas import Delta, changed
from unseen.graph.derived import Derived
from unseen.nn.end_counts import EdgeSample
from unseen.nn.relation_graph import RelationGraph
from unseen.nn.relation_network import RelationNetwork
from unseen.nn.relation_statistics import NUM_STATISTICS, SMOOTHING, relation_statistics

IMPLIES, IMPLIED = 0, 1
HEADS_OF_A, HEADS_OF_Q, TAILS_OF_A, TAILS_OF_Q = range(2, 6)
TAILS_A_HEADS_Q, HEADS_A_TAILS_Q = 6, 8
BEGINS, ENDS, COVERED_FIRST, COVERED_SECOND = range(10, 14)
PARENT, GRANDPARENT, MARRIED = 0, 2, 4
"""Directed relations, each read forwards."""


@pytest.fixture
def family() -> KnowledgeGraph:
    """Ten lines of three generations, and a symmetric relation."""
    triples = []
    for line in range(10):
        old, middle, young = (f"{name}{line}" for name in ("old", "middle", "young"))
        triples += [(old, "parent", middle), (middle, "parent", young), (old, "grandparent", young)]
        triples += [(f"wife{line}", "married", middle), (middle, "married", f"wife{line}")]
    graph = KnowledgeGraph.from_triples(triples)
    names = [graph.vocabulary.relations.name(relation) for relation in range(3)]
    assert names == ["parent", "grandparent", "married"]
    return graph


def test_a_composition_is_seen_from_its_relations_in_their_direction_only(family: KnowledgeGraph) -> None:
    found = relation_statistics(family)[GRANDPARENT].astype(float)
    assert found[PARENT, BEGINS] == found[PARENT, ENDS] == pytest.approx(10 / (10 + SMOOTHING), abs=1e-3)
    assert found[PARENT, COVERED_FIRST] == found[PARENT, COVERED_SECOND] == 1
    assert found[PARENT + 1, [BEGINS, ENDS, COVERED_FIRST, COVERED_SECOND]].max() == 0
    assert found[MARRIED, [BEGINS, ENDS]].max() == 0


def test_a_symmetric_relation_implies_its_inverse_and_an_asymmetric_one_does_not(family: KnowledgeGraph) -> None:
    found = relation_statistics(family).astype(float)
    assert found[MARRIED, MARRIED + 1, IMPLIES] == pytest.approx(20 / (20 + SMOOTHING), abs=1e-3)
    assert found[PARENT, PARENT + 1, IMPLIES] == found[PARENT, PARENT + 1, IMPLIED] == 0
    assert found[PARENT, PARENT, IMPLIES] == 0, "that a relation implies itself says nothing"


def test_shared_ends_are_shares_of_each_of_both(family: KnowledgeGraph) -> None:
    found = relation_statistics(family)[GRANDPARENT, PARENT].astype(float)
    assert found[HEADS_OF_A] == pytest.approx(10 / (20 + SMOOTHING), abs=1e-3)
    assert found[HEADS_OF_Q] == pytest.approx(10 / (10 + SMOOTHING), abs=1e-3)
    assert found[TAILS_OF_A] == pytest.approx(10 / (20 + SMOOTHING), abs=1e-3)
    assert found[TAILS_A_HEADS_Q] == found[HEADS_A_TAILS_Q] == 0


def test_a_question_asked_backwards_sees_the_mirror_image() -> None:
    graph = _random_graph(np.random.default_rng(1))
    found = relation_statistics(graph).astype(float)
    back = np.arange(found.shape[0]) ^ 1
    mirrored = found[back][:, back]
    swapped = [0, 1, 4, 5, 2, 3, 8, 9, 6, 7, 11, 10, 13, 12, 15, 14, 16]
    assert np.allclose(mirrored, found[:, :, swapped], atol=1e-3)


def test_names_and_the_order_of_edges_do_not_matter() -> None:
    random = np.random.default_rng(2)
    graph = _random_graph(random)
    entities, edges = random.permutation(graph.num_entities), random.permutation(graph.num_triples)
    columns = entities[graph.heads][edges], graph.relations[edges], entities[graph.tails][edges]
    other = KnowledgeGraph(*columns, graph.vocabulary)
    assert np.allclose(relation_statistics(graph), relation_statistics(other), atol=1e-3)


def test_a_graph_without_relations_or_edges_has_statistics_too() -> None:
    assert relation_statistics(KnowledgeGraph.from_triples([])).shape == (0, 0, NUM_STATISTICS)
    empty = relation_statistics(KnowledgeGraph([], [], [], Vocabulary.numbered(2, 3)))
    assert empty.shape == (6, 6, NUM_STATISTICS)
    assert bool(np.isfinite(empty).all())


def test_a_network_that_gains_statistics_begins_as_it_was(family: KnowledgeGraph) -> None:
    plain = RelationNetwork(6, 2)
    gained = RelationNetwork(6, 2, statistics=True)
    gained.load_state_dict(gained.state_dict() | plain.state_dict())
    edges, queries = RelationGraph.of(family).edges(), torch.tensor([0, 3])
    statistics = torch.from_numpy(relation_statistics(family))
    assert torch.equal(plain(edges, queries), gained(edges, queries, statistics))


def test_gradients_reach_every_weight_of_a_network_with_statistics(family: KnowledgeGraph) -> None:
    torch.manual_seed(0)
    network = RelationNetwork(6, 2, statistics=True).double()
    for part in (network.before, network.after):
        assert isinstance(part, torch.nn.Sequential)
        torch.nn.init.normal_(part[2].weight)
    statistics = torch.from_numpy(relation_statistics(family))
    vectors = network(RelationGraph.of(family).edges(), torch.tensor([1, 4]), statistics)
    (vectors * torch.randn_like(vectors)).sum().backward()
    assert all(weight.grad is not None and bool((weight.grad != 0).any()) for weight in network.parameters())


def _random_graph(random: np.random.Generator) -> KnowledgeGraph:
    columns = [random.integers(limit, size=150) for limit in (20, 4, 20)]
    keys = np.unique(np.stack(columns, axis=1), axis=0)
    return KnowledgeGraph(keys[:, 0], keys[:, 1], keys[:, 2], Vocabulary.numbered(20, 4))


@given(st.integers(0, 2**32 - 1))
def test_after_changes_they_are_those_of_the_same_edges(seed: int) -> None:
    random = np.random.default_rng(seed)

    def some(count: int) -> list[tuple[str, str, str]]:
        return [
            (str(h), "rstu"[r], str(t)) for h, r, t in zip(*random.integers((9, 4, 9), size=(count, 3)).T, strict=True)
        ]

    graph = KnowledgeGraph.from_triples(some(60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived, "MOST_CHANGED", 100)
        relation_statistics(graph)
        for _ in range(2):
            graph = changed(changed(graph, Delta(some(3), some(9))), Delta(some(5), some(9)))
            fresh = KnowledgeGraph(graph.heads, graph.relations, graph.tails, graph.vocabulary)
            assert relation_statistics(graph).tolist() == relation_statistics(fresh).tolist()


def test_a_sample_keeps_to_its_size_and_to_the_edges_that_are_there() -> None:
    sampled = Derived(
        lambda graph: EdgeSample.drawn(graph, 40), lambda old, change, graph: old.after(change, graph, 40)
    )
    graph = KnowledgeGraph.from_triples([(f"h{i}", "r", f"t{i % 50}") for i in range(400)])
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(derived, "MOST_CHANGED", 100)
            sampled.of(graph)
            for start in range(0, 200, 20):
                gone = [(f"h{i}", "r", f"t{i % 50}") for i in range(start, start + 20)]
                graph = changed(graph, Delta([(f"new{start}", "r", "t1"), (f"new{start}", "s", "t1")], gone))
                sample = sampled.of(graph)
                sizes = np.diff(sample.starts)
                assert sizes.tolist() == [40, 1 + start // 20]
                relations = np.repeat(np.arange(2), sizes)
                assert graph.by_head.places_of(relations, sample.heads, sample.tails)[1].all()
    finally:
        Derived._every.remove(sampled)
