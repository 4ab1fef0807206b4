"""Relational message passing: every implementation computes what the reference defines, gradients and ties included."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numba
import pytest
import torch
from jaxtyping import TypeCheckError

from tests.nn.edge_graphs import GRAPHS, one_hub
from unseen.graph.compiling import compiled
from unseen.nn.kernels import (
    EdgeViews,
    available,
    relational_aggregate,
    relational_statistics,
    unit_rotations,
)
from unseen.nn.kernels.definitions import MESSAGES
from unseen.nn.self_check import compared_network, comparisons, power_law_edges, speeds

AGGREGATES = ("sum", "mean", "max", "min")


def random_inputs(edges: EdgeViews, batch: int = 2, dim: int = 4, dtype: torch.dtype = torch.float64):
    generator = torch.Generator().manual_seed(7)
    sizes = (edges.num_nodes, edges.num_relations, edges.num_nodes)
    return [torch.randn(size, batch, dim, dtype=dtype, generator=generator).requires_grad_() for size in sizes]


def random_mask(edges: EdgeViews) -> torch.Tensor:
    return torch.rand(edges.num_edges, generator=torch.Generator().manual_seed(5)) < 0.6


def values_and_gradients(function, inputs):
    results = function(*inputs)
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    upstream = [torch.randn(value.shape, generator=torch.Generator().manual_seed(1)).to(value) for value in results]
    return results + list(torch.autograd.grad(results, inputs, upstream))


def assert_same(function, inputs, tolerance=1e-12):
    found = values_and_gradients(lambda *values: function(*values, implementation="cpu"), inputs)
    truth = values_and_gradients(lambda *values: function(*values, implementation="reference"), inputs)
    for ours, theirs in zip(found, truth, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("masked", [False, True])
def test_the_cpu_kernels_equal_the_reference(name, message, masked):
    edges = GRAPHS[name]()
    mask = random_mask(edges) if masked else None
    assert_same(
        lambda *inputs, **options: relational_statistics(edges, *inputs, message=message, edge_mask=mask, **options),
        random_inputs(edges),
    )


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_one_statistic_alone_equals_the_reference(aggregate, message):
    edges = GRAPHS["split"]()
    mask = random_mask(edges)
    assert_same(
        lambda *inputs, **options: relational_aggregate(
            edges, *inputs, aggregate=aggregate, message=message, edge_mask=mask, **options
        ),
        random_inputs(edges),
    )


@pytest.mark.parametrize(("batch", "dim"), [(1, 2), (3, 6), (40, 26)])
def test_any_number_of_columns_will_do(batch, dim):
    edges = one_hub()
    for message in MESSAGES:
        assert_same(
            lambda *inputs, **options: relational_statistics(edges, *inputs, message=message, **options),  # noqa: B023
            random_inputs(edges, batch, dim),
        )


def test_float32_equals_the_reference_in_float64_ties_included():
    edges = power_law_edges((60, 5), 700, device="cpu", seed=0, chunk_edges=16)
    found = list(comparisons(edges, (torch.float32,)))
    assert len(found) == 2 * len(MESSAGES)
    assert all(comparison.passed for comparison in found), found


@pytest.mark.parametrize("implementation", ["reference", "cpu"])
@pytest.mark.parametrize("message", MESSAGES)
def test_gradients_are_those_of_finite_differences(message, implementation):
    edges = power_law_edges((5, 3), 12, device="cpu", seed=1, chunk_edges=3)
    mask = random_mask(edges)

    def function(*inputs):
        return relational_statistics(edges, *inputs, message=message, edge_mask=mask, implementation=implementation)

    assert torch.autograd.gradcheck(function, random_inputs(edges, 1, 4))


@pytest.mark.parametrize("implementation", ["reference", "cpu"])
def test_the_boundary_wins_a_tie_then_the_first_edge(implementation):
    edges = EdgeViews.from_edges(torch.tensor([2, 1, 1]), torch.tensor([0, 0, 1]), torch.tensor([0, 0, 0]), size=(3, 2))
    x, relation = torch.tensor([0.0, 1, 1, 0, 1, 1]).view(3, 1, 2), torch.ones(2, 1, 2)
    boundary = torch.zeros(3, 1, 2)
    boundary[0, 0, 1] = 1  # ties with all three edges in the second column, below them in the first
    inputs = [value.requires_grad_() for value in (x, relation, boundary)]
    found = relational_aggregate(edges, *inputs, aggregate="max", implementation=implementation)
    found.sum().backward()
    assert found[0].tolist() == [[1, 1]]
    assert x.grad[:, 0].tolist() == [[0, 0], [1, 0], [0, 0]]  # edge (1, 0, 0) comes first in the canonical order
    assert relation.grad[:, 0].tolist() == [[1, 0], [0, 0]]
    assert boundary.grad[:, 0].tolist() == [[0, 1], [1, 1], [1, 1]]


def test_statistics_worked_by_hand():
    edges = EdgeViews.from_edges(torch.tensor([1, 2]), torch.tensor([0, 1]), torch.tensor([0, 0]), size=(3, 2))
    x = torch.tensor([0.0, 2, 3]).view(3, 1, 1)
    relation = torch.tensor([5.0, -1]).view(2, 1, 1)
    boundary = torch.tensor([4.0, 7, 0]).view(3, 1, 1)
    found = relational_statistics(edges, x, relation, boundary)
    assert [value.flatten().tolist() for value in found] == [[11, 7, 0], [125, 49, 0], [10, 7, 0], [-3, 7, 0]]
    mean = relational_aggregate(edges, x, relation, boundary, aggregate="mean")
    assert mean.flatten().tolist() == pytest.approx([11 / 3, 7, 0])


def test_a_rotation_by_a_right_angle_turns_real_into_imaginary():
    edges = EdgeViews.from_edges(torch.tensor([0]), torch.tensor([0]), torch.tensor([1]), size=(2, 1))
    x = torch.tensor([[3.0, 4], [0, 0]]).view(2, 1, 2)
    turn = unit_rotations(torch.full((1, 1, 1), torch.pi / 2))
    found = relational_aggregate(edges, x, turn, torch.zeros(2, 1, 2), message="rotate")
    torch.testing.assert_close(found[1, 0], torch.tensor([-4.0, 3]))


@pytest.mark.parametrize("threads", [2, 5])
def test_results_are_the_same_in_every_run_and_statistics_for_any_number_of_threads(threads):
    edges = power_law_edges((200, 9), 4000, device="cpu", seed=2, chunk_edges=100)
    inputs = random_inputs(edges, 4, 16)
    usual = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = values_and_gradients(lambda *v: relational_statistics(edges, *v), inputs)
        torch.set_num_threads(threads)
        runs = [values_and_gradients(lambda *v: relational_statistics(edges, *v), inputs) for _ in range(2)]
    finally:
        torch.set_num_threads(usual)
    assert all(torch.equal(one, two) for one, two in zip(*runs, strict=True))
    assert all(torch.equal(one, two) for one, two in zip(alone[:4], runs[0][:4], strict=True))
    for one, two in zip(alone[4:], runs[0][4:], strict=True):
        torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)


def test_two_calls_at_once_do_no_harm():
    edges = power_law_edges((200, 9), 4000, device="cpu", seed=2)
    inputs = [value.detach() for value in random_inputs(edges)]
    expected = relational_statistics(edges, *inputs).sum
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: relational_statistics(edges, *inputs).sum, range(8)))
    assert all(torch.equal(value, expected) for value in found)


def test_a_graph_without_nodes_or_columns_is_no_special_case():
    edges = EdgeViews.from_edges(*(torch.empty(0, dtype=torch.int64),) * 3, size=(0, 2))
    found = relational_statistics(edges, torch.empty(0, 2, 4), torch.empty(2, 2, 4), torch.empty(0, 2, 4))
    assert all(value.shape == (0, 2, 4) for value in found)
    hub = one_hub()
    assert relational_statistics(hub, *(value.detach()[:, :0] for value in random_inputs(hub))).sum.shape == (10, 0, 4)


def test_only_what_is_asked_for_gets_a_gradient():
    edges = one_hub()
    x, relation, boundary = (value.detach() for value in random_inputs(edges))
    relational_statistics(edges, x, relation.requires_grad_(), boundary).maximum.sum().backward()
    assert x.grad is None
    assert relation.grad is not None
    assert not relational_statistics(edges, x, relation.detach(), boundary).sum.requires_grad


def test_bfloat16_on_the_cpu_falls_back_to_the_reference():
    edges = one_hub()
    inputs = [value.detach().bfloat16() for value in random_inputs(edges)]
    assert relational_statistics(edges, *inputs).sum.dtype == torch.bfloat16
    with pytest.raises(ValueError, match="cpu does not compute"):
        relational_statistics(edges, *inputs, implementation="cpu")


def test_what_does_not_fit_is_said_before_anything_is_computed():
    edges = one_hub()
    x, relation, boundary = (value.detach() for value in random_inputs(edges))
    wrong = [
        ((x[1:], relation, boundary[1:]), {}),
        ((x, relation[1:], boundary), {}),
        ((x, relation, boundary.float()), {}),
        ((x, relation, boundary), {"message": "complex"}),
        ((x, relation, boundary), {"edge_mask": torch.ones(3, dtype=torch.bool)}),
        ((x[:, :, :3], relation[:, :, :3], boundary[:, :, :3]), {"message": "rotate"}),
    ]
    for inputs, options in wrong:
        with pytest.raises((ValueError, TypeCheckError)):
            relational_statistics(edges, *inputs, **options)
    with pytest.raises(ValueError, match="outside 0 … 9"):
        EdgeViews.from_edges(torch.tensor([10]), torch.tensor([0]), torch.tensor([0]), size=(10, 1))


def test_kernels_work_where_machine_code_cannot_be_kept(monkeypatch):
    genuine = numba.njit

    def refusing(*arguments, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return genuine(*arguments, **options)

    monkeypatch.setattr(numba, "njit", refusing)
    assert compiled(lambda value: value + 1)(1) == 2


def test_an_import_compiles_nothing_and_prints_nothing():
    script = "import sys, unseen.nn.kernels; sys.exit('numba' in sys.modules or 'triton' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_self_check_measures_every_implementation():
    found = speeds("cpu", count=500, repeats=1)
    assert [speed.implementation for speed in found] == available("cpu") == ["reference", "cpu"]
    assert all(speed.forward > 0 and speed.forward_backward > 0 for speed in found)


def test_the_self_check_runs_a_whole_network():
    found = compared_network("cpu", torch.float32)
    assert found.passed
    assert 0 < found.error < 1e-5


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_the_gpu_kernels_equal_the_reference_in_the_interpreter():
    script = """
import sys, torch
from unseen.nn import self_check
from unseen.nn.kernels import relational_aggregate
self_check.available = lambda device: ["reference", "gpu"]
edges = self_check.power_law_edges((9, 3), 30, device="cpu", seed=1, chunk_edges=5)
found = list(self_check.comparisons(edges, (torch.float64,), columns=(1, 4)))
failed = [one for one in found if not one.passed]
for aggregate in ("mean", "min"):
    results = []
    for implementation in ("reference", "gpu"):
        torch.manual_seed(0)
        inputs = [torch.randn(size, 1, 4, requires_grad=True) for size in (9, 3, 9)]
        value = relational_aggregate(edges, *inputs, aggregate=aggregate, implementation=implementation)
        results.append([value, *torch.autograd.grad(value.square().sum(), inputs)])
    failed += [aggregate for one, two in zip(*results) if not torch.allclose(one, two, atol=1e-5)]
print(len(found), failed)
sys.exit(bool(failed) or len(found) != 6)
"""
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=250, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
