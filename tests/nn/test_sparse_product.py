"""Products with sparse tables: every implementation against the definition, and the incidence of a graph."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.nn.kernels import EdgeViews
from unseen.nn.kernels.sparse_product import sparse_product
from unseen.nn.kernels.sparse_table import Incidence, SparseTable


def table(chunk_entries: int | None = None) -> SparseTable:
    """Random ones with a full row, an empty row and an empty column."""
    ones = torch.rand(9, 7, generator=torch.Generator().manual_seed(0)) < 0.3
    ones[2], ones[5], ones[:, 4] = True, False, False
    rows, columns = ones.nonzero().t()
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(1))
    return SparseTable.of(rows[order], columns[order], (9, 7), chunk_entries=chunk_entries)


def dense(made: SparseTable, weights: torch.Tensor | None) -> torch.Tensor:
    view, result = made.by_row, torch.zeros(made.size, dtype=torch.float64)
    rows = torch.repeat_interleave(torch.arange(made.size[0]), view.offsets.long().diff())
    result[rows, view.other.long()] = 1.0 if weights is None else weights[view.position.long()]
    return result


@pytest.mark.parametrize("implementation", ["reference", "cpu"])
@pytest.mark.parametrize("chunk_entries", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_product_with_a_dense_table(implementation, chunk_entries: int | None, weighted: bool) -> None:
    made = table(chunk_entries)
    weights = torch.randint(2, (made.num_entries,)).double() * 0.5 if weighted else None
    x = torch.randn(7, 2, 3, dtype=torch.float64)
    expected = torch.einsum("rc,cbd->rbd", dense(made, weights), x)
    assert torch.allclose(sparse_product(made, x, weights, implementation=implementation), expected)
    back = torch.einsum("rc,rbd->cbd", dense(made, weights), expected)
    assert torch.allclose(sparse_product(made.transposed, expected, weights, implementation=implementation), back)


def test_gradients() -> None:
    made = table(3)
    weights = torch.rand(made.num_entries, dtype=torch.float64)
    x = torch.randn(7, 1, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: sparse_product(made, each, weights, implementation="cpu"), x)
    assert torch.autograd.gradcheck(lambda each: sparse_product(made.transposed.transposed, each), x)


def test_what_does_not_fit_is_an_error() -> None:
    made = table()
    with pytest.raises(ValueError, match="needs"):
        sparse_product(made, torch.zeros(6, 1, 1))
    with pytest.raises(ValueError, match="weights"):
        sparse_product(made, torch.zeros(7, 1, 1), torch.zeros(3))
    with pytest.raises(ValueError, match="column"):
        SparseTable.of(torch.tensor([0]), torch.tensor([3]), (2, 3))


def test_an_empty_table_gives_zeros() -> None:
    nothing = torch.empty(0, dtype=torch.int64)
    made = SparseTable.of(nothing, nothing, (3, 2))
    assert not sparse_product(made, torch.ones(2, 1, 4)).any()


def test_the_incidence_says_which_nodes_are_heads_of_which_relations_under_a_mask() -> None:
    random = np.random.default_rng(0)
    graph = KnowledgeGraph(*(random.integers(limit, size=30) for limit in (8, 3, 8)), Vocabulary.numbered(8, 3))
    edges = EdgeViews.of(graph)
    incidence = Incidence.of(edges)
    mask = torch.from_numpy(random.random(edges.num_edges) < 0.4)
    mask &= mask[edges.reverse.long()]
    for kept, weights in ((torch.ones_like(mask), None), (mask, incidence.visible(mask, torch.float64))):
        expected = torch.zeros(8, 6, dtype=torch.float64)
        view = edges.by_target
        expected[view.source[kept].long(), view.relation[kept].long()] = 1
        assert torch.equal(dense(incidence.table, weights), expected)


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_the_gpu_kernel_equals_the_reference_in_the_interpreter() -> None:
    script = """
import torch
from tests.nn.test_sparse_product import table
from unseen.nn.kernels.sparse_product import sparse_product
for made in (table(), table(2)):
    for weights in (None, torch.rand(made.num_entries)):
        results = []
        for implementation in ("reference", "gpu"):
            torch.manual_seed(0)
            x = torch.randn(7, 2, 3, requires_grad=True)
            value = sparse_product(made, x, weights, implementation=implementation)
            results.append([value, *torch.autograd.grad(value.square().sum(), [x])])
        assert all(torch.allclose(one, two, atol=1e-5) for one, two in zip(*results))
"""
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=250, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
