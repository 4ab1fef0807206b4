"""Products with a sparse table of bits: each row of the result is a sum of rows of x.

For a table E with entries e = (row, column), weights w_e (1 without any) and x [column, batch, dim]:

    y[row] = sum over the entries e of that row of  w_e x[column(e)]

The gradient of x is the product of the transposed table with that of y; weights get none. Cost: one row of x read for
each entry. `reference` is the definition in plain torch, `cpu` is numba, `gpu` is triton.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from unseen.nn.kernels.definitions import Implementation
from unseen.nn.kernels.dispatch import available
from unseen.nn.kernels.sparse_table import Entries, SparseTable
from unseen.nn.kernels.thread_pieces import spread

FLOATS = {torch.float32, torch.float64}


def sparse_product(
    table: SparseTable,
    x: Float[Tensor, "column batch dim"],
    weights: Float[Tensor, " entry"] | None = None,
    *,
    implementation: Implementation | None = None,
) -> Float[Tensor, "row batch dim"]:
    """The sums of rows of x; differentiable once with respect to x.

    `weights` are in the order in which the entries were given. By default the fastest implementation for x computes.
    """
    _check(table, x, weights)
    chosen = implementation or (available(x.device)[-1] if x.dtype in FLOATS else "reference")
    if chosen == "reference" or x.numel() == 0:
        return _reference(table, x, weights)
    if torch.is_grad_enabled() and x.requires_grad:
        product: Tensor = _Product.apply(x.contiguous(), table, weights, chosen)  # type: ignore[no-untyped-call]
        return product
    return _computed(chosen, table, x.contiguous(), weights)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, table: SparseTable, weights: Tensor | None, chosen: Implementation) -> Tensor:
        ctx.table, ctx.weights, ctx.chosen = table, weights, chosen
        return _computed(chosen, table, x, weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        back = _computed(ctx.chosen, ctx.table.transposed, gradients[0].contiguous(), ctx.weights)
        return back, None, None, None


def _reference(table: SparseTable, x: Tensor, weights: Tensor | None) -> Tensor:
    view = table.by_row
    rows = torch.repeat_interleave(torch.arange(table.size[0], device=x.device), view.offsets.long().diff())
    values = x[view.other.long()]
    if weights is not None:
        values = values * weights[view.position.long()].to(x.dtype).view(-1, 1, 1)
    return x.new_zeros(table.size[0], *x.shape[1:]).index_add(0, rows, values)


def _computed(chosen: Implementation, table: SparseTable, x: Tensor, weights: Tensor | None) -> Tensor:
    view = table.by_row
    ordered = None if weights is None else weights.to(x.dtype).index_select(0, view.position)
    if chosen == "gpu":
        from unseen.nn.kernels.sparse_product_gpu import product

        return product(view, x, ordered)
    return _on_cpu(view, x, ordered)


def _on_cpu(view: Entries, x: Tensor, weights: Tensor | None) -> Tensor:
    """Chunks of entries on several threads; rows in several chunks are added up in order."""
    from unseen.nn.kernels.sparse_product_loops import product_pass

    columns, work = x.shape[1] * x.shape[2], view.work
    result, parts = (x.new_empty(rows, columns) for rows in (len(view.offsets) - 1, work.num_slots))
    factors = x.new_empty(0) if weights is None else weights
    operands = (work.chunks, view.other, factors, x.detach().reshape(len(x), columns), result, parts)
    spread(product_pass, list(pairwise(work.blocks.tolist())), tuple(each.detach().numpy() for each in operands))
    if work.num_slots:
        owners = torch.repeat_interleave(work.split_rows.long(), work.split_offsets.long().diff())
        result[work.split_rows.long()] = 0
        result.index_add_(0, owners, parts)
    return result.view(-1, *x.shape[1:])


def _check(table: SparseTable, x: Tensor, weights: Tensor | None) -> None:
    if x.dim() != 3 or len(x) != table.size[1]:  # [column, batch, dim]
        raise ValueError(f"x has shape {tuple(x.shape)}; this table needs ({table.size[1]}, batch, dim)")
    if x.device != table.by_row.other.device:
        raise ValueError(f"x is on {x.device}, the table on {table.by_row.other.device}")
    if weights is not None and weights.shape != (table.num_entries,):
        raise ValueError(f"weights must be [{table.num_entries}], not {list(weights.shape)}")
