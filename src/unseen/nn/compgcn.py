"""CompGCN with rotations as messages (Vashishth et al., 2020): vectors of nodes and of relations, refined together.

In a layer, for every node v with state x(v) and every directed relation r with vector z(r), both complex:

    m(v)  = W_out Σ x(u) z(r)  +  W_in Σ x(u) z(r⁻¹)  +  W_loop x(v) z_loop
    x'(v) = x(v) + dropout(relu(norm(m(v))))
    z'(r) = W_rel z(r)

The first sum is over edges (u, r, v), the second over edges (v, r, u) read backwards. Products are of complex numbers;
real parts stand in the first half of `dim`. With `mean` in place of `sum` a node's messages are divided by their
number, so that states do not grow with degrees.

Cost of a layer: one pass over all directed edges, dim wide, and 3 products node x dim².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unseen.logic.stopping import check_stop
from unseen.nn.dropout import dropout
from unseen.nn.kernels import EdgeViews, relational_aggregate
from unseen.nn.scorers import complex_product

Aggregate = Literal["sum", "mean"]


@dataclass(frozen=True, eq=False)
class TwoWayEdges:
    """The edges of a graph as they stand (`out`) and read backwards (`back`), and where edge i is in each of them."""

    out: EdgeViews
    back: EdgeViews
    position_out: Int[Tensor, " edge"]
    position_back: Int[Tensor, " edge"]

    @classmethod
    def of(
        cls,
        heads: Int[Tensor, " edge"],
        relations: Int[Tensor, " edge"],
        tails: Int[Tensor, " edge"],
        *,
        size: tuple[int, int],
        device: torch.device | str = "cpu",
    ) -> TwoWayEdges:
        """Edges with directed relations read forwards, 2r; `size`: nodes and directed relations."""
        there, back = (heads, relations, tails), (tails, relations ^ 1, heads)
        views = [EdgeViews.from_edges(*columns, size=size, device=device) for columns in (there, back)]
        positions = [
            view.positions_of(*(column.to(device) for column in columns))
            for view, columns in zip(views, (there, back), strict=True)
        ]
        return cls(views[0], views[1], positions[0], positions[1])

    def without(
        self, edges: Int[Tensor, " some"], is_hidden: Bool[Tensor, " some"]
    ) -> tuple[Bool[Tensor, " edge"], Bool[Tensor, " edge"]]:
        """Masks that hide those of some edges that are to be hidden, in both directions."""
        return tuple(  # type: ignore[return-value]
            torch.ones(view.num_edges + 1, dtype=torch.bool, device=view.device).index_fill_(
                0, torch.where(is_hidden, position[edges], view.num_edges), False
            )[:-1]
            for view, position in ((self.out, self.position_out), (self.back, self.position_back))
        )


class CompGCNLayer(nn.Module):
    """One layer; see the module."""

    def __init__(self, dim: int, aggregate: Aggregate = "sum", dropout_rate: float = 0.0) -> None:
        super().__init__()
        self.aggregate, self.dropout_rate = aggregate, dropout_rate
        self.out, self.back, self.loop = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.relation = nn.Linear(dim, dim, bias=False)
        self.loop_relation = nn.Parameter(torch.randn(1, dim) * dim**-0.5)
        self.norm = nn.LayerNorm(dim)

    def forward(
        self,
        edges: TwoWayEdges,
        nodes: Float[Tensor, "node dim"],
        relations: Float[Tensor, "relation dim"],
        masks: tuple[Bool[Tensor, " edge"], Bool[Tensor, " edge"]] | None = None,
        generator: torch.Generator | None = None,
    ) -> tuple[Float[Tensor, "node dim"], Float[Tensor, "relation dim"]]:
        """The next states of nodes and relations; edges outside the masks do not exist."""
        out_mask, back_mask = masks if masks is not None else (None, None)
        mixed = self.out(self._gathered(edges.out, nodes, relations, out_mask))
        mixed = mixed + self.back(self._gathered(edges.back, nodes, relations, back_mask))
        mixed = mixed + self.loop(complex_product(nodes, self.loop_relation.expand_as(nodes)))
        update = dropout(torch.relu(self.norm(mixed)), self.dropout_rate, generator)
        return nodes + update, self.relation(relations)

    def _gathered(
        self, edges: EdgeViews, nodes: Tensor, relations: Tensor, mask: Tensor | None
    ) -> Float[Tensor, "node dim"]:
        """The sum or mean of all messages along some edges."""
        x, w = nodes.unsqueeze(1), relations.unsqueeze(1)
        nothing = torch.zeros_like(x)
        found = relational_aggregate(edges, x, w, nothing, aggregate=self.aggregate, message="rotate", edge_mask=mask)
        return found.squeeze(1)


class CompGCN(nn.Module):
    """Several layers."""

    def __init__(self, dim: int, num_layers: int, aggregate: Aggregate = "sum", dropout_rate: float = 0.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(CompGCNLayer(dim, aggregate, dropout_rate) for _ in range(num_layers))

    def forward(
        self,
        edges: TwoWayEdges,
        nodes: Float[Tensor, "node dim"],
        relations: Float[Tensor, "relation dim"],
        masks: tuple[Bool[Tensor, " edge"], Bool[Tensor, " edge"]] | None = None,
        generator: torch.Generator | None = None,
    ) -> tuple[Float[Tensor, "node dim"], Float[Tensor, "relation dim"]]:
        """The last states of nodes and relations."""
        for layer in self.layers:
            check_stop()
            nodes, relations = layer(edges, nodes, relations, masks, generator)
        return nodes, relations
