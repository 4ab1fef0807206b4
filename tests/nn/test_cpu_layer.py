"""Layers in one pass: the same as the operations one by one, on graphs of every kind, in every width and batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.nn.edge_graphs import GRAPHS
from unseen.nn.kernels import cpu_layer
from unseen.nn.kernels.cpu_vectors import UNIT
from unseen.nn.kernels.degree_order import DegreeOrder
from unseen.nn.kernels.edge_views import EdgeViews
from unseen.nn.nbfnet import Readout
from unseen.nn.relational_conv import RelationalConv, node_scales

PLACES = {torch.float64: 1e-10, torch.float32: 2e-4}


def one_by_one(conv: RelationalConv, edges: EdgeViews, values: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """The general way, which gradients take."""
    with torch.enable_grad():
        return conv(edges, *values, node_scales(edges, None, values[0].dtype)).detach()


def random_values(edges: EdgeViews, batch: int, dim: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(batch * dim)
    sizes = (edges.num_nodes, edges.num_relations, edges.num_nodes)
    x, relation, boundary = (torch.randn(size, batch, dim, generator=generator, dtype=dtype) for size in sizes)
    return x, relation, boundary


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("batch", "dim"), [(1, 64), (3, 16), (40, 32), (2, 48)])
@pytest.mark.parametrize("dtype", PLACES)
def test_one_pass_is_what_single_operations_give(name: str, batch: int, dim: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    edges, conv = GRAPHS[name](), RelationalConv(dim).to(dtype)
    torch.nn.init.normal_(conv.norm.weight)
    torch.nn.init.normal_(conv.norm.bias)
    values = random_values(edges, batch, dim, dtype)
    with torch.no_grad():
        assert cpu_layer.takes(values[0])
        found = conv(edges, *values, node_scales(edges, None, dtype))
    assert torch.allclose(found, one_by_one(conv, edges, values), atol=PLACES[dtype], rtol=PLACES[dtype])


def test_many_threads_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, conv = GRAPHS["random"](), RelationalConv(64)
    values = random_values(edges, 2, 64, torch.float32)
    with torch.no_grad():
        alone = conv(edges, *values, node_scales(edges, None, torch.float32))
        monkeypatch.setattr(cpu_layer, "PIECE", 1)
        monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
        together = conv(edges, *values, node_scales(edges, None, torch.float32))
    assert torch.equal(alone, together)


def test_weights_that_have_changed_are_read_again() -> None:
    edges, conv = GRAPHS["random"](), RelationalConv(16).double()
    values = random_values(edges, 1, 16, torch.float64)
    with torch.no_grad():
        before = conv(edges, *values, node_scales(edges, None, torch.float64))
        conv.linear.weight.mul_(2)
        after = conv(edges, *values, node_scales(edges, None, torch.float64))
    assert not torch.allclose(before, after)
    assert torch.allclose(after, one_by_one(conv, edges, values))


def test_tensors_need_not_lie_in_one_piece() -> None:
    edges, conv = GRAPHS["one hub"](), RelationalConv(16).double()
    values = tuple(
        value.transpose(0, 1).contiguous().transpose(0, 1) for value in random_values(edges, 3, 16, torch.float64)
    )
    with torch.no_grad():
        found = conv(edges, *values, node_scales(edges, None, torch.float64))
    assert torch.allclose(found, one_by_one(conv, edges, values))  # type: ignore[arg-type]


@pytest.mark.parametrize(("nodes", "batch", "dim", "hidden"), [(70, 1, 64, 64), (33, 3, 32, 16), (5, 7, 16, 48)])
@pytest.mark.parametrize("dtype", PLACES)
def test_the_readout_in_one_pass_is_the_same(nodes: int, batch: int, dim: int, hidden: int, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    readout = Readout(dim, hidden).to(dtype)
    state, query = torch.randn(nodes, batch, dim, dtype=dtype), torch.randn(batch, dim, dtype=dtype)
    with torch.no_grad():
        found = readout(state, query)
    assert torch.allclose(found, readout(state, query).detach(), atol=PLACES[dtype])


def test_gradients_odd_widths_and_other_types_are_left_to_the_general_way() -> None:
    assert not cpu_layer.takes(torch.zeros(3, 1, UNIT))
    with torch.no_grad():
        assert cpu_layer.takes(torch.zeros(3, 1, UNIT))
        assert not cpu_layer.takes(torch.zeros(3, 1, UNIT + 1))
        assert not cpu_layer.takes(torch.zeros(3, 1, UNIT), UNIT - 1)
        assert not cpu_layer.takes(torch.zeros(3, 1, UNIT, dtype=torch.bfloat16))
        assert not cpu_layer.takes(torch.zeros(0, 1, UNIT))
    assert cpu_layer.UNIT == UNIT


def test_nodes_are_ordered_by_degree_and_cut_into_pieces_of_about_equal_cost() -> None:
    order = DegreeOrder.of(np.array([0, 3, 3, 100, 103, 104], np.int32))
    assert order.nodes.tolist() == [1, 4, 0, 3, 2]
    for count in (1, 2, 3, 50):
        pieces = order.pieces(count)
        assert [place for first, last in pieces for place in range(first, last)] == [0, 1, 2, 3, 4]
    assert order.pieces(2) == [(0, 4), (4, 5)]


def test_folded_weights_are_kept_without_gradients_until_they_change() -> None:
    conv = RelationalConv(6)
    with torch.no_grad():
        first, again = conv._folded(False), conv._folded(False)
        assert first[1] is again[1]
        conv.linear.weight.add_(1)
        assert torch.equal(conv._folded(False)[1], conv._folded_weight())
        conv.double()
        assert conv._folded(False)[1].dtype == torch.float64
    assert conv._folded(False)[1].requires_grad
