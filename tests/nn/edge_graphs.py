"""Small graphs on which kernels go wrong if they can: hubs, nodes alone, relations without edges, no edges at all."""

from __future__ import annotations

import torch

from unseen.nn.kernels import EdgeViews
from unseen.nn.self_check import power_law_edges


def no_edges() -> EdgeViews:
    nothing = torch.empty(0, dtype=torch.int64)
    return EdgeViews.from_edges(nothing, nothing, nothing, size=(4, 3))


def one_hub() -> EdgeViews:
    """Everything leads to node 0 or leaves node 1; node 9 is alone, relation 2 unused; rows are split."""
    sources, targets = torch.arange(1, 9).repeat(2), torch.zeros(16, dtype=torch.int64)
    sources, targets = torch.cat([sources, torch.ones(7)]).long(), torch.cat([targets, torch.arange(2, 9)])
    relations = torch.tensor([0] * 8 + [1] * 8 + [0] * 7)
    return EdgeViews.from_edges(sources, relations, targets, size=(10, 3), chunk_edges=3)


GRAPHS = {
    "no edges": no_edges,
    "one hub": one_hub,
    "random": lambda: power_law_edges((30, 5), 400, device="cpu", seed=3),
    "split": lambda: power_law_edges((30, 5), 400, device="cpu", seed=4, chunk_edges=7),
}
