"""Relational message passing on the CPU: compiled loops, spread over threads in pieces of about equal cost.

The threads are Python's, as many as torch uses; the loops hold no lock of Python's. Nothing of numba's own threading is
used, so that neither a fork nor two calls at once can do harm.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unseen.nn.kernels import cpu_passes
from unseen.nn.kernels.autograd import Arguments, Gradients, Task
from unseen.nn.kernels.cpu_loops import WIDTH
from unseen.nn.kernels.definitions import MESSAGES, Inputs, Results
from unseen.nn.kernels.edge_views import View

PIECES_PER_THREAD = 8
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
    chunks = (*_chunks(view), *_arrays(view.offsets))
    edges = (_arrays(view.source, view.relation), _mask(task, view))
    _in_pieces(cpu_passes.forward_pass, view, chunks, *edges, _arrays(*inputs), *outputs, *_kind(task, x))
    _over_split(cpu_passes.combine_pass, view, *outputs)
    found = [value.view(x.shape) if needed else None for value, needed in zip(whole, wanted, strict=True)]
    return (found[0], found[1], found[2], found[3]), Arguments(found[4], found[5])


def backward(
    task: Task, inputs: Inputs, arguments: Arguments, gradients: Results, needed: tuple[bool, bool, bool]
) -> Gradients:
    """Gradients of x, relation and boundary. Cost: three rows read per edge for x, and three for relation."""
    x, relation, boundary = inputs
    edges = task.edges
    for_x = _pulled(task, edges.by_source, (x, relation), gradients) if needed[0] else None
    for_relation = _pulled(task, edges.by_relation, (relation, x), gradients) if needed[1] else None
    for_boundary = _for_boundary(boundary, gradients) if needed[2] else None
    for at, gradient in zip(arguments, gradients[2:], strict=True):
        if at is not None and gradient is not None:
            results = [
                _table(0, x, x.dtype, False) if value is None else value
                for value in (for_x, for_relation, for_boundary)
            ]
            _scatter(task, at, gradient, (x, relation), results)
    return for_x, for_relation, for_boundary


def _pulled(task: Task, view: View, rows: tuple[Tensor, Tensor], gradients: Results) -> Tensor:
    """Gradients of the rows that own `view`, from sum and sum of squares."""
    sums, squares = gradients[:2]
    if sums is None and squares is None:
        return torch.zeros_like(rows[0])
    reference = sums if sums is not None else squares
    assert reference is not None  # noqa: S101
    nothing = _table(0, reference, reference.dtype, False)
    grads = (torch.zeros_like(reference) if sums is None else sums, nothing if squares is None else squares)
    result, partial = torch.empty_like(rows[0]), _table(view.work.num_slots, rows[0], rows[0].dtype, True)
    others = view.relation if view is task.edges.by_source else view.source
    edges = (_arrays(others, view.target), _mask(task, view))
    outputs = _arrays(result, partial)
    _in_pieces(
        cpu_passes.backward_pass,
        view,
        _chunks(view),
        *edges,
        _arrays(*rows),
        _arrays(*grads),
        outputs,
        *_kind(task, rows[0]),
    )
    _over_split(cpu_passes.add_parts, view, *outputs)
    return result


def _for_boundary(boundary: Tensor, gradients: Results) -> Tensor:
    """What sum and sum of squares give the boundary, which is one of the messages."""
    sums, squares = gradients[:2]
    result = torch.zeros_like(boundary) if sums is None else sums.clone()
    return result if squares is None else result.addcmul_(boundary, squares, value=2)


def _scatter(task: Task, at: Tensor, gradient: Tensor, inputs: tuple[Tensor, Tensor], results: list[Tensor]) -> None:
    """Add the gradient of an extreme to the rows that made it; threads share out the columns."""
    x, view = inputs[0], task.edges.by_target
    unit = x.shape[2] if task.message == "rotate" else 16
    columns = x.shape[1] * x.shape[2]
    cuts = [min(cut * unit, columns) for cut in _shares(-(-columns // unit), torch.get_num_threads())]
    edges = _arrays(view.source, view.relation)
    common = (_arrays(at)[0], _arrays(gradient)[0], edges, _arrays(*inputs), _arrays(*results), *_kind(task, x))
    _spread(cpu_passes.extreme_pass, cuts, common)


def _table(rows: int, like: Tensor, dtype: torch.dtype, needed: bool) -> Tensor:
    """An unwritten table of as many columns as `like`; without rows when it is not needed."""
    return torch.empty(rows if needed else 0, like.shape[1] * like.shape[2], dtype=dtype)


def _arrays(*tensors: Tensor) -> tuple[Array, ...]:
    """The same memory as arrays; what has batch and dim gets one axis for both."""
    flat = (tensor.detach().flatten(1) if tensor.dim() == 3 else tensor for tensor in tensors)
    return tuple(tensor.numpy() for tensor in flat)


def _chunks(view: View) -> tuple[Array, ...]:
    return _arrays(view.work.row, view.work.start, view.work.end, view.work.slot)


def _mask(task: Task, view: View) -> Array:
    """The edge mask in the order of a view; an empty one keeps everything."""
    if task.edge_mask is None:
        return np.empty(0, np.bool_)
    return _arrays(task.edge_mask if view is task.edges.by_target else task.edge_mask[view.position.long()])[0]


def _kind(task: Task, x: Tensor) -> tuple[int, int]:
    return MESSAGES.index(task.message), x.shape[2]


def _in_pieces(kernel: Callable[..., None], view: View, *arguments: Any) -> None:
    """Run a kernel over all chunks of a view."""
    blocks = view.work.blocks.tolist()
    cuts = [blocks[cut] for cut in _shares(len(blocks) - 1, PIECES_PER_THREAD * torch.get_num_threads())]
    _spread(kernel, cuts, arguments)


def _over_split(kernel: Callable[..., None], view: View, *arguments: Any) -> None:
    """Run a kernel over all split rows of a view."""
    split = _arrays(view.work.split_rows, view.work.split_offsets)
    _spread(kernel, _shares(len(split[0]), torch.get_num_threads()), (split, *arguments))


def _shares(count: int, parts: int) -> list[int]:
    """Where to cut 0 … count into at most `parts` equal shares."""
    parts = max(1, min(parts, count))
    return [count * part // parts for part in range(parts + 1)]


def _spread(kernel: Callable[..., None], cuts: list[int], arguments: tuple[Any, ...]) -> None:
    """Call the kernel once for each range between cuts, on several threads."""
    ranges = [(first, last) for first, last in pairwise(cuts) if last > first]
    if len(ranges) == 1 or torch.get_num_threads() == 1:
        for first, last in ranges:
            kernel(first, last, *arguments)
    else:
        pool = _threads(torch.get_num_threads(), os.getpid())
        list(pool.map(lambda both: kernel(*both, *arguments), ranges))


@lru_cache(maxsize=4)
def _threads(count: int, _process: int) -> ThreadPoolExecutor:
    """Threads that wait for work; a forked process makes its own."""
    return ThreadPoolExecutor(count, thread_name_prefix="unseen-kernel")
