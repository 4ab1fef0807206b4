"""Projections of few rows on a GPU, recorded once and replayed: the host says one thing instead of two hundred.

A projection of one row takes the device half a millisecond and the host, which starts some two hundred kernels one by
one, six. Its shapes depend on the graph and the number of rows alone, so a CUDA graph records the kernels the first
time, and later calls fill in the inputs and replay. Rows are padded to a power of two, so few recordings are kept. The
recording reads the weights where they lie: they may change, but not move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.logic.stopping import checked_by

if TYPE_CHECKING:
    from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph

MOST_ROWS = 16
"""Above that the device is the slower one."""
MOST_CELLS = 1 << 24
"""(node, row, dim) cells above which the device is the slower one too."""

Compute = Callable[..., Tensor]


class Input(NamedTuple):
    """A tensor of a projection, and the dimension along which its rows lie."""

    value: Tensor
    rows_along: int

    def widened(self, rows: int) -> Input:
        """Room for so many rows, all zero."""
        size = list(self.value.shape)
        size[self.rows_along] = rows
        return Input(self.value.new_zeros(size), self.rows_along)

    def take(self, other: Input) -> None:
        """Put the other's rows in the place of the first ones."""
        count = other.value.shape[other.rows_along]
        self.value.narrow(self.rows_along, 0, count).copy_(other.value)


class Recording:
    """The kernels of one projection, with the memory they read and write."""

    def __init__(self, compute: Compute, inputs: Sequence[Input], rows: int) -> None:
        self.inputs = [each.widened(rows) for each in inputs]
        values = [each.value for each in self.inputs]
        device = values[0].device
        self.graph = torch.cuda.CUDAGraph()
        side = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(side), checked_by(None):
            compute(*values)  # compiles what is not compiled yet
        torch.cuda.current_stream(device).wait_stream(side)
        graph = torch.cuda.graph(self.graph, capture_error_mode="thread_local")  # others may upload graphs meanwhile
        with graph, checked_by(None):
            self.memberships = compute(*values).sigmoid()

    def replay(self, inputs: Sequence[Input], count: int) -> Float[Tensor, "node row"]:
        """Memberships for at most as many rows as were recorded."""
        for own, given in zip(self.inputs, inputs, strict=True):
            own.take(given)
        self.graph.replay()
        memberships: Tensor = self.memberships[:, :count].clone()
        return memberships


class Recordings:
    """The recordings of one network, by graph and number of rows; gone when the graph is."""

    def __init__(self) -> None:
        self._made: WeakKeyDictionary[CompactGraph, dict[tuple[int, int], Recording]] = WeakKeyDictionary()

    @staticmethod
    def pays_off(compact: CompactGraph, count: int, dim: int) -> bool:
        """Whether a projection of so many rows is one that the host holds up; never while gradients are needed."""
        on_gpu = compact.edges.device.type == "cuda" and not torch.is_grad_enabled()
        return on_gpu and 0 < count <= MOST_ROWS and count * compact.num_nodes * dim <= MOST_CELLS

    def project(
        self, compact: CompactGraph, weights: Tensor, compute: Compute, inputs: Sequence[Input]
    ) -> Float[Tensor, "node row"]:
        """Memberships by the recording for this many rows, made now if there is none; `weights` are any of them."""
        count = inputs[0].value.shape[inputs[0].rows_along]
        rows = 1 << (count - 1).bit_length()
        known = self._made.setdefault(compact, {})
        key = (rows, weights.data_ptr())
        if key not in known:
            known[key] = Recording(compute, inputs, rows)
        return known[key].replay(inputs, count)
