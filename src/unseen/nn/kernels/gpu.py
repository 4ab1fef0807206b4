"""Relational message passing on the GPU: launches of the triton kernels. No compiler but triton's is needed.

In triton's interpreter (`TRITON_INTERPRET=1` before the first import) the same kernels run on CPU tensors, for tests.
Sums over edges are made in a fixed order; the extremes' gradients are added atomically, so that gradients of x and
relation may differ in their last digits from run to run.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from unseen.nn.kernels import gpu_backward, gpu_forward
from unseen.nn.kernels.autograd import Arguments, Gradients, Task
from unseen.nn.kernels.definitions import Inputs, Results
from unseen.nn.kernels.edge_views import View

DTYPES = {torch.float32, torch.float64, torch.bfloat16, torch.float16}


@dataclass(frozen=True)
class KernelTuning:
    """How a kernel is cut: columns of a program, its warps, and edges on their way at once."""

    columns: int
    warps: int
    unroll: int


FORWARD = KernelTuning(128, 1, 4)
TRACKED_FORWARD = KernelTuning(256, 1, 4)
BY_SOURCE = KernelTuning(256, 2, 8)
BY_RELATION = KernelTuning(64, 1, 4)
COMBINE = KernelTuning(128, 1, 8)
NODES = KernelTuning(128, 4, 1)
"""The fastest of those tried on an H200 in float32 (docs/explanation/kernels.md); float64 gets half the columns."""

STATISTICS = ("SUM", "SQUARES", "MAXIMUM", "MINIMUM")
NUMBERS = {torch.float32: tl.float32, torch.float64: tl.float64}


def takes(x: Tensor, message: str) -> bool:  # noqa: ARG001
    """Whether these kernels compute on such tensors."""
    return x.dtype in DTYPES and (x.device.type == "cuda" or triton.knobs.runtime.interpret)


def forward(task: Task, inputs: Inputs, track: bool) -> tuple[Results, Arguments]:
    """The statistics of every node, and where extremes are attained. Cost: two rows read per edge."""
    x, view = inputs[0], task.edges.by_target
    number, slots = _accumulator(x), view.work.num_slots
    results = [_table(len(x), x, number) if wanted else None for wanted in task.wanted]
    ats = [_table(len(x), x, torch.int32) if track and wanted else None for wanted in task.wanted[2:]]
    parts, parts_at = _table(4 * slots, x, number), _table(2 * slots, x, torch.int32) if track else None
    outputs = (*results, *ats, parts, parts_at, slots * _columns(x))
    edges = (view.work.chunks, view.source, view.relation, _mask(task, view))
    flags = dict(zip(STATISTICS, task.wanted, strict=True)) | {"TRACK": track}
    kind = {"MESSAGE": task.message, "MASKED": task.edge_mask is not None}
    operands = (*inputs, *outputs, *edges, _columns(x), x.shape[2])
    _launch(
        gpu_forward.forward_pass, view.work.num_chunks, TRACKED_FORWARD if track else FORWARD, x, operands, flags | kind
    )
    split = (view.work.split_rows, view.work.split_offsets)
    _launch(gpu_forward.combine_pass, len(split[0]), COMBINE, x, (inputs[2], *outputs, *split, _columns(x)), flags)
    return (results[0], results[1], results[2], results[3]), Arguments(*ats)


def backward(
    task: Task, inputs: Inputs, arguments: Arguments, gradients: Results, needed: tuple[bool, bool, bool]
) -> Gradients:
    """Gradients of x, relation and boundary. Cost: three rows read per edge for x, and three for relation."""
    x, relation, boundary = inputs
    found = (
        _pulled(task, task.edges.by_source, (x, relation), gradients) if needed[0] else None,
        _pulled(task, task.edges.by_relation, (relation, x), gradients) if needed[1] else None,
        _table(len(boundary), x, _accumulator(x)) if needed[2] else None,
    )
    view = task.edges.by_target
    operands = (*inputs, *gradients, *arguments, *found, view.source, view.relation, _columns(x), x.shape[2])
    flags = _given(STATISTICS, gradients) | _given(("FOR_X", "FOR_W", "FOR_BOUNDARY"), found)
    if needed[2] or gradients[2] is not None or gradients[3] is not None:
        _launch(gpu_backward.node_pass, len(x), NODES, x, operands, flags | {"MESSAGE": task.message})
    for_x, for_relation, for_boundary = (None if value is None else value.to(x.dtype) for value in found)
    return for_x, for_relation, for_boundary


def _pulled(task: Task, view: View, rows: tuple[Tensor, Tensor], gradients: Results) -> Tensor:
    """Gradients of the rows that own `view`, from sum and sum of squares."""
    own, number = rows[0], _accumulator(rows[0])
    sums, squares = gradients[:2]
    if sums is None and squares is None:
        return torch.zeros_like(own, dtype=number)
    result, parts = _table(len(own), own, number), _table(view.work.num_slots, own, number)
    by_source = view is task.edges.by_source
    others, tuning = (view.relation, BY_SOURCE) if by_source else (view.source, BY_RELATION)
    edges = (view.work.chunks, others, view.target, _mask(task, view))
    operands = (*rows, sums, squares, result, parts, *edges, _columns(own), own.shape[2])
    flags = {"SUM": sums is not None, "SQUARES": squares is not None, "MASKED": task.edge_mask is not None}
    _launch(gpu_backward.backward_pass, view.work.num_chunks, tuning, own, operands, flags | {"MESSAGE": task.message})
    split = (view.work.split_rows, view.work.split_offsets)
    _launch(gpu_backward.add_parts, len(split[0]), COMBINE, own, (result, parts, *split, _columns(own)), {})
    return result


def _launch(
    kernel: Any, rows: int, tuning: KernelTuning, x: Tensor, operands: tuple[Any, ...], constants: dict[str, Any]
) -> None:
    """Start a kernel with one program for each row and block of columns, rows first."""
    columns = min(tuning.columns * 4 // max(x.element_size(), 4), triton.next_power_of_2(_columns(x)))
    constants = constants | {"NUMBER": NUMBERS[_accumulator(x)], "COLUMNS": columns}
    if kernel is not gpu_backward.node_pass:
        constants["UNROLL"] = tuning.unroll
    if rows:
        place: AbstractContextManager[Any] = torch.cuda.device(x.device) if x.is_cuda else nullcontext()
        with place:
            kernel[(rows, triton.cdiv(_columns(x), columns))](*operands, **constants, num_warps=tuning.warps)


def _accumulator(x: Tensor) -> torch.dtype:
    """The type in which sums are made and results stored: float32 for all that is shorter."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _columns(x: Tensor) -> int:
    return x.shape[1] * x.shape[2]


def _table(rows: int, like: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.empty(rows, *like.shape[1:], dtype=dtype, device=like.device)


def _mask(task: Task, view: View) -> Tensor | None:
    """The edge mask in the order of a view, as bytes."""
    if task.edge_mask is None:
        return None
    mask = task.edge_mask.contiguous().view(torch.uint8)
    return mask if view is task.edges.by_target else mask.index_select(0, view.position)


def _given(names: tuple[str, ...], values: tuple[Tensor | None, ...]) -> dict[str, bool]:
    return {name: value is not None for name, value in zip(names, values, strict=True)}
