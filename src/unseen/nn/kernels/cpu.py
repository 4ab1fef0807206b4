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

from unseen.errors import TooLarge
from unseen.nn.kernels import cpu_passes
from unseen.nn.kernels.autograd import Arguments, Gradients, Task
from unseen.nn.kernels.cpu_loops import WIDTH
from unseen.nn.kernels.definitions import MESSAGES, Inputs, Results
from unseen.nn.kernels.edge_views import View

PIECES_PER_THREAD = 8
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
    chunks = (*_chunks(view), *_arrays(view.offsets))
    edges = (_arrays(view.source, view.relation), _mask(task))
    _in_pieces(cpu_passes.forward_pass, view, chunks, *edges, _arrays(*inputs), *outputs, *_kind(task, x))
    _over_split(cpu_passes.combine_pass, view, *outputs)
    found = [value.view(x.shape) if needed else None for value, needed in zip(whole, wanted, strict=True)]
    return (found[0], found[1], found[2], found[3]), Arguments(found[4], found[5])


def backward(
    task: Task, inputs: Inputs, arguments: Arguments, gradients: Results, needed: tuple[bool, bool, bool]
) -> Gradients:
    """Gradients of x, relation and boundary, in one pass. Cost: three rows read and two written per edge."""
    x, view = inputs[0], task.edges.by_target
    if len(x) and int(view.offsets.diff().max()) > EXACT:
        raise TooLarge(f"a node has more than {EXACT:,} edges: too many to train on with the CPU")
    found = [torch.zeros_like(value) if wanted else None for value, wanted in zip(inputs, needed, strict=True)]
    nothing = torch.empty(0, *x.shape[1:], dtype=x.dtype)
    no_positions = torch.empty(0, *x.shape[1:], dtype=torch.int32)
    grads = _arrays(*(nothing if value is None else value for value in gradients))
    ats = _arrays(*(no_positions if value is None else value for value in arguments))
    results = _arrays(*(nothing if value is None else value for value in found))
    edges = (_arrays(view.offsets)[0], _arrays(view.source, view.relation), _mask(task))
    operands = (*edges, _arrays(*inputs), grads, ats, results, *_kind(task, x))
    _spread(cpu_passes.backward_pass, _column_cuts(task, x), operands)
    return found[0], found[1], found[2]


def _column_cuts(task: Task, x: Tensor) -> list[int]:
    """Where to cut the columns among threads: between cache lines, or for `rotate` between rows of dim."""
    columns, unit = x.shape[1] * x.shape[2], x.shape[2] if task.message == "rotate" else 16
    return [min(cut * unit, columns) for cut in _shares(-(-columns // unit), torch.get_num_threads())]


def _table(rows: int, like: Tensor, dtype: torch.dtype, needed: bool) -> Tensor:
    """An unwritten table of as many columns as `like`; without rows when it is not needed."""
    return torch.empty(rows if needed else 0, like.shape[1] * like.shape[2], dtype=dtype)


def _arrays(*tensors: Tensor) -> tuple[Array, ...]:
    """The same memory as arrays; what has batch and dim gets one axis for both."""
    flat = (tensor.detach().flatten(1) if tensor.dim() == 3 else tensor for tensor in tensors)
    return tuple(tensor.numpy() for tensor in flat)


def _chunks(view: View) -> tuple[Array, ...]:
    return _arrays(view.work.row, view.work.start, view.work.end, view.work.slot)


def _mask(task: Task) -> Array:
    """The edge mask; an empty one keeps everything."""
    return np.empty(0, np.bool_) if task.edge_mask is None else task.edge_mask.numpy()


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
