"""Products with sparse tables on the GPU: one program for each chunk of entries and block of columns.

Sums are made in a fixed order, so results are the same in every run.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

from unseen.nn.kernels.gpu_backward import add_parts
from unseen.nn.kernels.gpu_forward import jit
from unseen.nn.kernels.sparse_table import Entries

COLUMNS, FEWEST_COLUMNS, UNROLL, WARPS = 256, 16, 4, 2
NUMBERS = {torch.float32: tl.float32, torch.float64: tl.float64}


def product(view: Entries, x: Tensor, weights: Tensor | None) -> Tensor:
    """The sums of rows of x for each row of the table; weights are in the order of the view."""
    columns, work = x.shape[1] * x.shape[2], view.work
    result, parts = (x.new_empty(rows, *x.shape[1:]) for rows in (len(view.offsets) - 1, work.num_slots))
    constants = {
        "NUMBER": NUMBERS[x.dtype],
        "COLUMNS": min(COLUMNS, max(FEWEST_COLUMNS, triton.next_power_of_2(columns))),
        "UNROLL": UNROLL,
    }
    blocks = triton.cdiv(columns, constants["COLUMNS"])
    operands = (x, weights, result, parts, work.chunks, view.other, columns)
    place: AbstractContextManager[Any] = torch.cuda.device(x.device) if x.is_cuda else nullcontext()
    with place:
        if work.num_chunks:
            product_pass[(work.num_chunks, blocks)](
                *operands, WEIGHTED=weights is not None, **constants, num_warps=WARPS
            )
        if len(work.split_rows):
            split = (result, parts, work.split_rows, work.split_offsets, columns)
            add_parts[(len(work.split_rows), blocks)](*split, **constants, num_warps=WARPS)
    return result


@jit
@no_type_check
def product_pass(
    x,
    weights,
    result,
    parts,
    chunks,
    other,
    cols,
    WEIGHTED: tl.constexpr,
    NUMBER: tl.constexpr,
    COLUMNS: tl.constexpr,
    UNROLL: tl.constexpr,
):
    """The sum of one chunk, into its row or into its slot."""
    chunk = tl.program_id(0)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < cols
    row = tl.load(chunks + 4 * chunk).to(tl.int64)
    begin = tl.load(chunks + 4 * chunk + 1)
    end = tl.load(chunks + 4 * chunk + 2)
    slot = tl.load(chunks + 4 * chunk + 3).to(tl.int64)
    total = tl.zeros([COLUMNS], NUMBER)
    while begin < end:
        for step in tl.static_range(UNROLL):
            entry = begin + step
            here = entry < end
            source = tl.load(other + entry, mask=here, other=0).to(tl.int64) * cols
            value = tl.load(x + source + c, mask=inside & here, other=0).to(NUMBER)
            if WEIGHTED:
                value *= tl.load(weights + entry, mask=here, other=0).to(NUMBER)
            total += value
        begin += UNROLL
    if slot < 0:
        tl.store(result + row * cols + c, total, mask=inside)
    else:
        tl.store(parts + slot * cols + c, total, mask=inside)
