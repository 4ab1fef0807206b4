"""Whole layers on the CPU to answer with: messages, statistics and the node update in one pass over the nodes.

Plain torch operations write a dozen tables of [node, batch, dim] in each layer, and their threads wait for one another
at the end of each. Here a thread takes a share of the nodes through the whole layer. Gradients, edge masks and messages
other than DistMult's are left to the general way.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from unseen.nn.kernels.thread_pieces import spread

if TYPE_CHECKING:
    from torch import nn

    from unseen.nn.kernels.definitions import Inputs
    from unseen.nn.kernels.edge_views import EdgeViews
    from unseen.nn.node_update import Scales

    Array = NDArray[Any]

UNIT = 16
"""Lanes of the shortest vector: `cpu_vectors` has the same, but is not to be imported before it is used."""
PIECE = 1 << 20
"""Numbers (in messages, or what takes as long) of a piece of work that is worth a thread's while."""
PIECES_PER_THREAD = 6
READOUT_COST = 8
"""What the readout of a row takes, in messages."""


def takes(x: Tensor, *others: int) -> bool:
    """Whether what is made of such a state is computed here; `others` are further widths that occur."""
    is_plain = x.device.type == "cpu" and x.dtype in {torch.float32, torch.float64} and x.numel() > 0
    return is_plain and all(size % UNIT == 0 for size in (x.shape[-1], *others)) and not torch.is_grad_enabled()


def layer(
    edges: EdgeViews, inputs: Inputs, scales: Scales, linear: nn.Linear, norm: nn.LayerNorm, smallest_variance: float
) -> Float[Tensor, "node batch dim"]:
    """The next state of every node; `relational_conv` has the equations."""
    from unseen.nn.kernels.cpu_layer_loops import layer_pass

    x, view, order = inputs[0], edges.by_target, edges.by_degree
    tables, state = tuple(_flat(value) for value in inputs), torch.empty(x.shape, dtype=x.dtype)
    number = tables[0].dtype.type
    operands = (
        *((order.nodes, order.degrees), view.offsets.numpy(), (view.source.numpy(), view.relation.numpy()), tables),
        *(tuple(scale.numpy().ravel() for scale in scales), _WEIGHTS.of(linear, norm)),
        *((number(smallest_variance), number(norm.eps)), _flat(state), _width(x.shape[-1])),
    )
    spread(layer_pass, order.pieces(_count(int(order.cost[-1]) * tables[0].shape[1])), operands)
    return state


def readout(
    state: Float[Tensor, "node batch dim"], of_query: Float[Tensor, "batch hidden"], hidden: Tensor, output: nn.Linear
) -> Float[Tensor, "node batch"]:
    """The logits output · relu(hidden · state + of_query) of every node and column."""
    from unseen.nn.kernels.cpu_layer_loops import readout_pass

    rows, logits = state.contiguous().flatten(0, 1).numpy(), torch.empty(state.shape[:2], dtype=state.dtype)
    weight, bias = output.weight.numpy()[0], output.bias.numpy()[0]
    operands = (
        *(rows, _transposed(hidden), of_query.contiguous().numpy(), weight, bias),
        *(logits.view(-1).numpy(), _width(state.shape[-1], len(hidden))),
    )
    count = _count(rows.size * READOUT_COST)
    cuts = [len(rows) * part // count for part in range(count + 1)]
    spread(readout_pass, list(pairwise(cuts)), operands)
    return logits


def _flat(value: Tensor) -> Array:
    """The same memory with one axis for batch and dim."""
    array: Array = value.contiguous().numpy()
    return array.reshape(len(array), -1)


def _transposed(weight: Tensor) -> Array:
    array: Array = np.ascontiguousarray(weight.numpy().T)
    return array


def _width(*sizes: int) -> tuple[int, ...]:
    """The widest vector for this machine that cuts all sizes evenly, as `cpu_vectors` wants it."""
    from unseen.nn.kernels.cpu_vectors import widest

    units = widest()
    while any(size % (UNIT * units) for size in sizes):
        units //= 2
    return (0,) * units


def _count(numbers: int) -> int:
    """Into how many pieces to cut work on so many numbers: one if it is little, else some for each thread."""
    threads = torch.get_num_threads()
    return 1 if threads == 1 else max(1, min(numbers // PIECE, PIECES_PER_THREAD * threads))


class _LayerWeights:
    """Weights as the loops read them, made again when they have changed or moved."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[nn.Module, tuple[object, tuple[Array, Array, Array]]] = WeakKeyDictionary()

    def of(self, linear: nn.Linear, norm: nn.LayerNorm) -> tuple[Array, Array, Array]:
        """The transposed matrix, the bias as a row, and both vectors of the norm as rows."""
        weights = (linear.weight, linear.bias, norm.weight, norm.bias)
        version = tuple((weight.data_ptr(), weight._version) for weight in weights)
        known = self._known.get(linear)
        if known is None or known[0] != version:
            rows = np.stack([norm.weight.numpy(), norm.bias.numpy()])
            known = (version, (_transposed(linear.weight), linear.bias.numpy()[None], rows))
            self._known[linear] = known
        return known[1]


_WEIGHTS = _LayerWeights()
