"""Vectors of relations as one relation sees them: NBFNet on the graph of relations (Galkin et al., 2024).

For a query relation q, over the four kinds k of edges of `relation_graph`:

    h⁰(q) = u,   h⁰(q⁻¹) = v,   h⁰(a) = 0 otherwise              u and v are learned: they mark q, read either way
    hˡ    = conv_l(h^(l-1), K_l, h⁰)                              l = 1 … L, K_l [kind] learned, see `relational_conv`

and layer_norm(h^L(a)) is the vector of relation a. Nothing belongs to a relation, so a trained network meets any.
With statistics s_q(a) (`relation_statistics`), two small perceptrons f and g, which begin with zero, are added:

    h⁰(a) + f(s_q(a)),   z_q(a) = layer_norm(h^L(a)) + g(s_q(a))

Tensors are [relation, query, dim]. Cost of a query relation: L passes over the edges of that graph, dim wide.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from unseen.graph.vocabulary import inverse_relation
from unseen.logic.stopping import check_stop
from unseen.nn.kernels import EdgeViews, degrees
from unseen.nn.node_update import KnownScales, Scales
from unseen.nn.relation_graph import KINDS
from unseen.nn.relation_statistics import NUM_STATISTICS
from unseen.nn.relational_conv import SMALLEST_SCALE, RelationalConv

SMALLEST_SHARE = 1e-3
"""Shares well below this one look alike."""


class RelationNetwork(nn.Module):
    """From query relations to the vectors of all relations."""

    def __init__(self, dim: int, num_layers: int, *, statistics: bool = False) -> None:
        super().__init__()
        self.dim = dim
        self.before: nn.Module | None = _of_statistics(dim) if statistics else None
        self.after: nn.Module | None = _of_statistics(dim) if statistics else None
        self.marks = nn.Parameter(torch.randn(2, dim))
        self.kinds = nn.Parameter(torch.randn(num_layers, len(KINDS), dim))
        self.layers = nn.ModuleList(RelationalConv(dim) for _ in range(num_layers))
        self.norm = nn.LayerNorm(dim)

    def forward(
        self,
        edges: EdgeViews,
        queries: Int[Tensor, " query"],
        statistics: Float[Tensor, "relation relation statistic"] | None = None,
    ) -> Float[Tensor, "relation query dim"]:
        """The vectors of all directed relations for each query relation."""
        boundary = self._boundary(edges.num_nodes, queries)
        known = None if statistics is None else _spread(statistics[queries].to(boundary.dtype)).transpose(0, 1)
        if known is not None and self.before is not None:
            boundary = boundary + self.before(known)
        scales = _SCALES.of(edges, boundary.dtype)
        state = boundary
        for layer, kinds in zip(self.layers, self.kinds, strict=True):
            check_stop()
            messages = kinds.unsqueeze(1).expand(-1, len(queries), -1).contiguous()
            state = layer(edges, state, messages, boundary, scales)
        vectors: Tensor = self.norm(state)
        if known is not None and self.after is not None:
            vectors = vectors + self.after(known)
        return vectors

    def _boundary(self, num_relations: int, queries: Int[Tensor, " query"]) -> Float[Tensor, "relation query dim"]:
        columns = torch.arange(len(queries), device=queries.device)
        start = self.marks.new_zeros(num_relations, len(queries), 2)
        start[queries, columns, 0] = 1
        start[torch.as_tensor(inverse_relation(queries)), columns, 1] = 1  # type: ignore[arg-type]
        return start @ self.marks


def _of_statistics(dim: int) -> nn.Sequential:
    """A perceptron over the statistics of a pair of relations; its output begins with zero."""
    output = nn.Linear(dim, dim)
    nn.init.zeros_(output.weight)
    nn.init.zeros_(output.bias)
    return nn.Sequential(nn.Linear(2 * NUM_STATISTICS, dim), nn.ReLU(), output)


def _spread(shares: Float[Tensor, "... statistic"]) -> Float[Tensor, "... twice"]:
    """Shares and their logarithms, which tell small ones apart."""
    return torch.cat([shares, torch.log10(shares + SMALLEST_SHARE) / 3 + 1], dim=-1)


def relation_scales(edges: EdgeViews, dtype: torch.dtype) -> Scales:
    """As `relational_conv.node_scales`, but the mean is over relations that some entity has: others do not count."""
    number = degrees(edges, None).to(dtype).view(-1, 1, 1)
    logarithm = (number + 1).log()
    mean = logarithm.sum() / (number > 0).sum().clamp(min=1)
    scale = logarithm / mean.clamp(min=SMALLEST_SCALE)
    return Scales(1 / (number + 1), scale, 1 / scale.clamp(min=SMALLEST_SCALE))


_SCALES = KnownScales(relation_scales)
