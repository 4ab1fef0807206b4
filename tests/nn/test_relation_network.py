"""Relation vectors, and the network that takes them: what they depend on, and who shares them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.nn.conditioned_nbfnet import ConditionedNBFNet
from unseen.nn.kernels import EdgeViews
from unseen.nn.relation_graph import RelationGraph
from unseen.nn.relation_network import RelationNetwork

DIM = 6


@pytest.fixture
def graph() -> KnowledgeGraph:
    random = np.random.default_rng(0)
    columns = [random.integers(limit, size=40) for limit in (15, 4, 15)]
    return KnowledgeGraph(*columns, Vocabulary.numbered(15, 4))


@pytest.fixture
def network() -> RelationNetwork:
    torch.manual_seed(0)
    return RelationNetwork(DIM, 2).double()


def test_a_column_is_the_same_alone_and_among_others(graph: KnowledgeGraph, network: RelationNetwork) -> None:
    edges = RelationGraph.of(graph).edges()
    together = network(edges, torch.tensor([3, 0, 5]))
    assert together.shape == (8, 3, DIM)
    for column, query in enumerate((3, 0, 5)):
        assert torch.allclose(network(edges, torch.tensor([query]))[:, 0], together[:, column])


def test_the_query_relation_and_its_inverse_differ_from_all_others(
    graph: KnowledgeGraph, network: RelationNetwork
) -> None:
    vectors = network(RelationGraph.of(graph).edges(), torch.tensor([2]))[:, 0]
    for marked in (2, 3):
        others = [relation for relation in range(8) if relation != marked]
        assert (vectors[others] - vectors[marked]).norm(dim=1).min().item() > 0.1


def test_relations_without_any_edge_have_vectors_too(network: RelationNetwork) -> None:
    empty = KnowledgeGraph([], [], [], Vocabulary.numbered(2, 3))
    vectors = network(RelationGraph.of(empty).edges(), torch.tensor([0, 5]))
    assert vectors.shape == (6, 2, DIM)
    assert bool(vectors.isfinite().all())


def test_gradients_reach_every_weight(graph: KnowledgeGraph, network: RelationNetwork) -> None:
    vectors = network(RelationGraph.of(graph).edges(), torch.tensor([1, 4]))
    (vectors * torch.randn_like(vectors)).sum().backward()
    assert all(weight.grad is not None and bool((weight.grad != 0).any()) for weight in network.parameters())


@pytest.mark.parametrize("rows", [[0], [1, 0], [0, 1, 2, 2, 1]])
def test_rows_share_conditions_or_have_their_own(graph: KnowledgeGraph, rows: list[int]) -> None:
    torch.manual_seed(1)
    network, edges = ConditionedNBFNet(DIM, 2, DIM).double(), EdgeViews.of(graph)
    vectors, relations = torch.randn(8, 3, DIM).double(), torch.tensor([4, 1, 6])
    conditions = torch.tensor(rows)
    sets = torch.rand(15, len(rows)).double()
    shared = network(edges, sets, relations[conditions], network.readings(vectors), conditions)
    own = [
        network(edges, sets[:, [row]], relations[[each]], network.readings(vectors[:, [each]]))
        for row, each in enumerate(rows)
    ]
    assert torch.allclose(shared, torch.cat(own, dim=1))
