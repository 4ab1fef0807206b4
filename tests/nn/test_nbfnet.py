"""NBFNet: its definition written out, its symmetries, and its gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from unseen.nn.kernels import EdgeViews, relational_statistics
from unseen.nn.nbfnet import NBFNet
from unseen.nn.relational_conv import RelationalConv, node_scales

NODES, RELATIONS, EDGES, BATCH, DIM = 12, 6, 40, 5, 4


def random_edges(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Distinct directed edges, each with its reverse: relation 2k backwards is 2k + 1."""
    generator = torch.Generator().manual_seed(seed)
    columns = [torch.randint(0, limit, (EDGES // 2,), generator=generator) for limit in (NODES, RELATIONS // 2, NODES)]
    edges = torch.unique(torch.stack(columns, dim=1), dim=0)
    sources, relations, targets = edges.T
    return torch.cat([sources, targets]), torch.cat([2 * relations, 2 * relations + 1]), torch.cat([targets, sources])


def views(edges: tuple[Tensor, Tensor, Tensor]) -> EdgeViews:
    return EdgeViews.from_edges(*edges, size=(NODES, RELATIONS))


@pytest.fixture
def network() -> NBFNet:
    torch.manual_seed(0)
    return NBFNet(RELATIONS, DIM, num_layers=3, hidden_dim=8).double()


@pytest.fixture
def sets() -> Tensor:
    return torch.rand(NODES, BATCH, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


RELATION_OF_COLUMN = torch.tensor([0, 3, 5, 0, 2])


def test_renumbering_nodes_permutes_the_logits(network: NBFNet, sets: Tensor) -> None:
    number = torch.randperm(NODES, generator=torch.Generator().manual_seed(2))
    sources, relations, targets = random_edges()
    moved = network(views((number[sources], relations, number[targets])), sets[number.argsort()], RELATION_OF_COLUMN)
    expected = network(views((sources, relations, targets)), sets, RELATION_OF_COLUMN)
    assert torch.allclose(moved[number], expected)


def test_columns_do_not_see_each_other(network: NBFNet, sets: Tensor) -> None:
    edges = views(random_edges())
    together = network(edges, sets, RELATION_OF_COLUMN)
    alone = [network(edges, sets[:, i : i + 1], RELATION_OF_COLUMN[i : i + 1]) for i in range(BATCH)]
    assert torch.allclose(together, torch.cat(alone, dim=1))


def test_a_masked_edge_is_an_edge_that_is_not_there(network: NBFNet, sets: Tensor) -> None:
    edges = views(random_edges())
    mask = torch.rand(edges.num_edges, generator=torch.Generator().manual_seed(3)) < 0.6
    view = edges.by_target
    kept = views(tuple(column[mask].long() for column in (view.source, view.relation, view.target)))
    masked = network(edges, sets, RELATION_OF_COLUMN, mask)
    assert torch.allclose(masked, network(kept, sets, RELATION_OF_COLUMN))


def test_a_graph_without_edges_and_empty_sets_give_finite_logits(network: NBFNet) -> None:
    nothing = torch.empty(0, dtype=torch.int64)
    logits = network(
        views((nothing, nothing, nothing)), torch.zeros(NODES, 2, dtype=torch.float64), torch.tensor([0, 1])
    )
    assert logits.shape == (NODES, 2)
    assert bool(logits.isfinite().all())


def test_a_layer_is_the_linear_map_of_all_thirteen_features() -> None:
    torch.manual_seed(0)
    layer = RelationalConv(DIM).double()
    edges = views(random_edges())
    x, boundary = torch.randn(2, NODES, BATCH, DIM, dtype=torch.float64)
    relation = torch.randn(RELATIONS, BATCH, DIM, dtype=torch.float64)
    scales = node_scales(edges, None, torch.float64)
    found = relational_statistics(edges, x, relation, boundary)
    mean = found.sum * scales.inverse_degree
    deviation = (found.square_sum * scales.inverse_degree - mean**2).clamp(min=1e-6).sqrt()
    features = torch.cat([mean, found.maximum, found.minimum, deviation], dim=-1)
    scaled = [features, features * scales.amplification, features * scales.attenuation]
    expected = x + torch.relu(layer.norm(layer.linear(torch.cat([x, *scaled], dim=-1))))
    assert torch.allclose(layer(edges, x, relation, boundary, scales), expected)


def test_scales_are_one_in_the_mean_and_count_the_boundary() -> None:
    edges = views(random_edges())
    scales = node_scales(edges, None, torch.float64)
    degree = torch.bincount(edges.by_target.target, minlength=NODES)
    assert torch.allclose(scales.inverse_degree.flatten(), 1 / (degree + 1).double())
    assert float(scales.amplification.mean()) == pytest.approx(1)
    assert torch.allclose(scales.attenuation * scales.amplification.clamp(min=1e-2), torch.ones(NODES, 1, 1).double())


def test_every_weight_gets_a_gradient(network: NBFNet, sets: Tensor) -> None:
    network(views(random_edges()), sets, RELATION_OF_COLUMN).sigmoid().sum().backward()
    assert all(weights.grad is not None and bool(weights.grad.isfinite().all()) for weights in network.parameters())
