"""Projections of few rows on a GPU, recorded once and replayed: the host says one thing instead of two hundred.

A projection of one row takes the device half a millisecond and the host, which starts some two hundred kernels one by
one, six. Its shapes depend on the graph and the number of rows alone, so a CUDA graph records the kernels the first
time, and later calls fill in the sets and relations and replay. Rows are padded to a power of two, so few recordings
are kept. The recording reads the weights where they lie: they may change, but not move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float, Int
from torch import Tensor

if TYPE_CHECKING:
    from unseen.methods.gnn_qe.compact_graph import CompactGraph
    from unseen.nn.nbfnet import NBFNet

MOST_ROWS = 16
"""Above that the device is the slower one."""
MOST_CELLS = 1 << 24
"""(node, row, dim) cells above which the device is the slower one too."""


class Recording:
    """The kernels of one projection, with the memory they read and write."""

    def __init__(self, network: NBFNet, compact: CompactGraph, rows: int) -> None:
        device = compact.edges.device
        self.sets = torch.zeros(compact.num_nodes, rows, device=device)
        self.relations = torch.zeros(rows, dtype=torch.int64, device=device)
        self.graph = torch.cuda.CUDAGraph()
        side = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(side):
            network(compact.edges, self.sets, self.relations)  # compiles what is not compiled yet
        torch.cuda.current_stream(device).wait_stream(side)
        with torch.cuda.graph(self.graph):
            self.memberships = network(compact.edges, self.sets, self.relations).sigmoid()

    def replay(self, sets: Float[Tensor, "node row"], relations: Int[Tensor, " row"]) -> Float[Tensor, "node row"]:
        """Memberships for at most as many rows as were recorded."""
        count = sets.shape[1]
        self.sets[:, :count].copy_(sets)
        self.relations[:count].copy_(relations)
        self.graph.replay()
        memberships: Tensor = self.memberships[:, :count].clone()
        return memberships


class Recordings:
    """The recordings of one network, by graph and number of rows; gone when the graph is."""

    def __init__(self) -> None:
        self._made: WeakKeyDictionary[CompactGraph, dict[tuple[int, int], Recording]] = WeakKeyDictionary()

    @staticmethod
    def pays_off(network: NBFNet, compact: CompactGraph, count: int) -> bool:
        """Whether a projection of so many rows is one that the host holds up; never while gradients are needed."""
        on_gpu = compact.edges.device.type == "cuda" and not torch.is_grad_enabled() and not network.training
        return on_gpu and 0 < count <= MOST_ROWS and count * compact.num_nodes * network.dim <= MOST_CELLS

    def project(
        self, network: NBFNet, compact: CompactGraph, sets: Float[Tensor, "node row"], relations: Int[Tensor, " row"]
    ) -> Float[Tensor, "node row"]:
        """Memberships by the recording for this many rows, made now if there is none."""
        rows = 1 << (sets.shape[1] - 1).bit_length()
        known = self._made.setdefault(compact, {})
        key = (rows, network.query.weight.data_ptr())
        if key not in known:
            known[key] = Recording(network, compact, rows)
        return known[key].replay(sets, relations)
