"""CompGCN against its equations edge by edge, and the symmetries it must have."""

from __future__ import annotations

import pytest
import torch

from unseen.nn.compgcn import Aggregate, CompGCN, TwoWayEdges
from unseen.nn.scorers import complex_product

NODES, RELATIONS, DIM = 7, 6, 4
HEADS = torch.tensor([0, 1, 2, 2, 3, 5, 0])
DIRECTED = torch.tensor([0, 2, 0, 4, 2, 4, 2])
TAILS = torch.tensor([1, 2, 3, 0, 3, 0, 5])


def edges(heads: torch.Tensor = HEADS, relations: torch.Tensor = DIRECTED, tails: torch.Tensor = TAILS) -> TwoWayEdges:
    return TwoWayEdges.of(heads, relations, tails, size=(NODES, RELATIONS))


def states() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(NODES, DIM, generator=generator), torch.randn(RELATIONS, DIM, generator=generator)


def network(aggregate: Aggregate = "sum", layers: int = 2) -> CompGCN:
    torch.manual_seed(0)
    return CompGCN(DIM, layers, aggregate)


@pytest.mark.parametrize("aggregate", ["sum", "mean"])
def test_a_layer_is_its_equation(aggregate: Aggregate) -> None:
    layer, (x, z) = network(aggregate, 1).layers[0], states()
    out, back = torch.zeros(NODES, DIM), torch.zeros(NODES, DIM)
    counts = torch.ones(2, NODES, 1)
    for head, relation, tail in zip(HEADS.tolist(), DIRECTED.tolist(), TAILS.tolist(), strict=True):
        out[tail] += complex_product(x[head], z[relation])
        back[head] += complex_product(x[tail], z[relation + 1])
        counts[0, tail] += 1
        counts[1, head] += 1
    if aggregate == "mean":
        out, back = out / counts[0], back / counts[1]
    mixed = layer.out(out) + layer.back(back) + layer.loop(complex_product(x, layer.loop_relation.expand_as(x)))
    found, relations = layer(edges(), x, z)
    assert torch.allclose(found, x + torch.relu(layer.norm(mixed)), atol=1e-5)
    assert torch.allclose(relations, z @ layer.relation.weight.t(), atol=1e-6)


def test_hidden_edges_are_edges_that_are_not_there() -> None:
    model, (x, z) = network(), states()
    some = torch.tensor([1, 3, 5])
    masks = edges().without(some, torch.tensor([True, False, True]))
    kept = torch.tensor([0, 2, 3, 4, 6])
    fewer = edges(HEADS[kept], DIRECTED[kept], TAILS[kept])
    assert torch.allclose(model(edges(), x, z, masks)[0], model(fewer, x, z)[0], atol=1e-5)


def test_renumbering_nodes_permutes_their_vectors() -> None:
    model, (x, z) = network(), states()
    number = torch.randperm(NODES, generator=torch.Generator().manual_seed(5))
    moved, _ = model(edges(number[HEADS], DIRECTED, number[TAILS]), x[number.argsort()], z)
    assert torch.allclose(moved[number], model(edges(), x, z)[0], atol=1e-5)


def test_a_graph_without_edges_is_fine() -> None:
    model, (x, z) = network(), states()
    nothing = torch.empty(0, dtype=torch.int64)
    found, _ = model(edges(nothing, nothing, nothing), x, z)
    assert bool(found.isfinite().all())


def test_gradients_reach_every_weight_but_the_last_relation_map() -> None:
    model, (x, z) = network(), states()
    found, relations = model(edges(), x, z)
    (found.square().sum() + relations.square().sum()).backward()
    assert all(weight.grad is not None and bool((weight.grad != 0).any()) for weight in model.parameters())
