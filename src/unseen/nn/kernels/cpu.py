"""Relational message passing on the CPU: compiled loops, spread over threads in pieces of about equal cost.

The threads are Python's, as many as torch uses; the loops hold no lock of Python's. Nothing of numba's own threading is
used, so that neither a fork nor two calls at once can do harm. Results are the same in every run; those of the forward
pass for any number of threads, gradients for the same number.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unseen.errors import TooLarge
from unseen.nn.kernels import cpu_passes
from unseen.nn.kernels.autograd import Arguments, Gradients, Task
from unseen.nn.kernels.cpu_loops import WIDTH
from unseen.nn.kernels.definitions import MESSAGES, Inputs, Results
from unseen.nn.kernels.edge_views import View
from unseen.nn.kernels.thread_pieces import spread

PIECES_PER_THREAD = 8
BROAD = 512
"""Columns that a thread should have at least; narrower strips of many rows waste what memory delivers."""
MOST_GROUPS = 8
"""Groups of nodes, each with its own table of gradients, beyond which memory matters more than threads."""
EXACT = 2**24
"""Numbers up to which float32 can count the edges of a node."""
Array = NDArray[Any]


def takes(x: Tensor, message: str) -> bool:
    """Whether these kernels compute on such tensors."""
    narrow = message != "rotate" or x.shape[2] <= WIDTH
    return x.device.type == "cpu" and x.dtype in {torch.float32, torch.float64} and narrow


def forward(task: Task, inputs: Inputs, track: bool) -> tuple[Results, Arguments]:
    """The statistics of every node, and where extremes are attained. Cost: two rows read per edge."""
    x, view = inputs[0], task.edges.by_target
    wanted = (*task.wanted, track and task.wanted.maximum, track and task.wanted.minimum)
    dtypes = [x.dtype] * 4 + [torch.int32] * 2
    whole, parts = (
        [_table(rows, x, dtype, needed) for dtype, needed in zip(dtypes, wanted, strict=True)]
        for rows in (len(x), view.work.num_slots)
    )
    outputs = (_arrays(*whole[:4]), _arrays(*parts[:4]), _arrays(*whole[4:]), _arrays(*parts[4:]))
    operands = (_arrays(view.work.chunks)[0], *_edges(task), _arrays(*inputs), *outputs, *_kind(task, x))
    spread(cpu_passes.forward_pass, _pieces(view), operands)
    split = _arrays(view.work.split_rows, view.work.split_offsets)
    rows = _ranges(_shares(len(split[0]), torch.get_num_threads()))
    spread(cpu_passes.combine_pass, rows, (split, _arrays(inputs[2])[0], *outputs))
    found = [value.view(x.shape) if needed else None for value, needed in zip(whole, wanted, strict=True)]
    return (found[0], found[1], found[2], found[3]), Arguments(found[4], found[5])


def backward(
    task: Task, inputs: Inputs, arguments: Arguments, gradients: Results, needed: tuple[bool, bool, bool]
) -> Gradients:
    """Gradients of x, relation and boundary, in one pass. Cost: four rows read and two written per edge.

    Threads share out the columns; more threads than broad strips of columns also share out the nodes, each group of
    nodes with its own sums for x and relation.
    """
    x, offsets = inputs[0], task.edges.by_target.offsets
    if int(offsets.diff().max()) > EXACT:
        raise TooLarge(f"a node has more than {EXACT:,} edges: too many to train on with the CPU")
    strips = _ranges(_column_cuts(task, x))
    groups = _ranges(_node_cuts(offsets, min(MOST_GROUPS, torch.get_num_threads() // len(strips))))
    nothing, nowhere = (_table(0, x, dtype, False) for dtype in (x.dtype, torch.int32))
    sums = [
        [torch.zeros_like(value) if wanted else nothing for _ in groups]
        for value, wanted in zip(inputs[:2], needed, strict=False)
    ]
    for_boundary = torch.empty_like(inputs[2]) if needed[2] else nothing
    pieces = [
        (*strip, nodes, _arrays(for_x, for_relation, for_boundary))
        for strip in strips
        for nodes, for_x, for_relation in zip(groups, *sums, strict=True)
    ]
    grads = _arrays(*(nothing if value is None else value for value in gradients))
    ats = _arrays(*(nowhere if value is None else value for value in arguments))
    operands = (_arrays(offsets)[0], *_edges(task), _arrays(*inputs), grads, ats, *_kind(task, x))
    spread(cpu_passes.backward_pass, pieces, operands)
    for_x, for_relation = (_added(parts) if wanted else None for parts, wanted in zip(sums, needed, strict=False))
    return for_x, for_relation, for_boundary if needed[2] else None


def _added(parts: list[Tensor]) -> Tensor:
    """The sum of several tables, in order; the first is overwritten."""
    for part in parts[1:]:
        parts[0].add_(part)
    return parts[0]


def _column_cuts(task: Task, x: Tensor) -> list[int]:
    """Where to cut the columns among threads: broad strips, between cache lines or for `rotate` between rows of dim."""
    columns, unit = x.shape[1] * x.shape[2], x.shape[2] if task.message == "rotate" else 16
    strips = min(torch.get_num_threads(), max(1, columns // BROAD))
    return [min(cut * unit, columns) for cut in _shares(-(-columns // unit), strips)]


def _node_cuts(offsets: Tensor, groups: int) -> list[int]:
    """Where to cut the nodes into groups of about equally many edges and nodes."""
    cost = offsets.long() + torch.arange(len(offsets))
    cuts = [int(cost[-1]) * part // max(groups, 1) for part in range(max(groups, 1) + 1)]
    return [int(cut) for cut in torch.searchsorted(cost, torch.tensor(cuts))]


def _table(rows: int, like: Tensor, dtype: torch.dtype, needed: bool) -> Tensor:
    """An unwritten table of as many columns as `like`; without rows when it is not needed."""
    return torch.empty(rows if needed else 0, like.shape[1] * like.shape[2], dtype=dtype)


def _arrays(*tensors: Tensor) -> tuple[Array, ...]:
    """The same memory as arrays; what has batch and dim gets one axis for both."""
    flat = (tensor.detach().flatten(1) if tensor.dim() == 3 else tensor for tensor in tensors)
    return tuple(tensor.numpy() for tensor in flat)


def _edges(task: Task) -> tuple[tuple[Array, ...], Array]:
    """Sources and relations of the edges, and the edge mask; an empty mask keeps everything."""
    view = task.edges.by_target
    mask = np.empty(0, np.bool_) if task.edge_mask is None else task.edge_mask.numpy()
    return _arrays(view.source, view.relation), mask


def _kind(task: Task, x: Tensor) -> tuple[int, int]:
    return MESSAGES.index(task.message), x.shape[2]


def _pieces(view: View) -> list[tuple[int, int]]:
    """Ranges of chunks of about equal cost, several for each thread."""
    blocks = view.work.blocks.tolist()
    return _ranges([blocks[cut] for cut in _shares(len(blocks) - 1, PIECES_PER_THREAD * torch.get_num_threads())])


def _shares(count: int, parts: int) -> list[int]:
    """Where to cut 0 … count into at most `parts` equal shares."""
    parts = max(1, min(parts, count))
    return [count * part // parts for part in range(parts + 1)]


def _ranges(cuts: list[int]) -> list[tuple[int, int]]:
    """The ranges between cuts that are not empty."""
    return [(first, last) for first, last in pairwise(cuts) if last > first]
