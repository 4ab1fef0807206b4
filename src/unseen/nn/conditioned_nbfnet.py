"""NBFNet with relation vectors from outside: the same network works on any graph with any relations.

With z_q(a) the vector of relation a for the query relation q (`relation_network`) and m(v) the membership of node v:

    h⁰(v)  = m(v) z_q(q)
    R_l(a) = z_q(a) + W²_l relu(W¹_l z_q(a) + b¹_l) + b²_l        in each layer
    hˡ     = conv_l(h^(l-1), R_l, h⁰),   logit = readout(h^L(v), z_q(q))          as in `nbfnet`

Rows that ask for the same relation share its vectors: there are as many *conditions* as distinct relations asked for.
z and all R_l are the *readings* of a relation: they do not depend on the nodes, so they can be kept.
Parameters: L (13 + 2) dim² and the readout; none of them belongs to a relation.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unseen.logic.stopping import check_stop
from unseen.nn.kernels import EdgeViews
from unseen.nn.kernels.definitions import Message
from unseen.nn.nbfnet import Readout
from unseen.nn.relational_conv import RelationalConv, node_scales

Readings = Sequence[Float[Tensor, "relation condition dim"]] | Float[Tensor, "reading relation condition dim"]
"""What a network reads of relations: z, then R_l of each layer."""


class ConditionedNBFNet(nn.Module):
    """Logits of membership in the projection of fuzzy sets of nodes."""

    def __init__(
        self,
        dim: int,
        num_layers: int,
        hidden_dim: int,
        message: Message = "distmult",
        *,
        relation_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dim = dim
        self.layers = nn.ModuleList(RelationalConv(dim, message) for _ in range(num_layers))
        self.relation_maps = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim)) for _ in range(num_layers)
        )
        self.relation_dropout = nn.Dropout(relation_dropout)
        self.readout = Readout(dim, hidden_dim)

    def readings(self, vectors: Float[Tensor, "relation condition dim"]) -> list[Tensor]:
        """z, then R_l of each layer: all that depends on the relations alone, for any sets of nodes."""
        return [vectors, *(self.relation_dropout(vectors + to_map(vectors)) for to_map in self.relation_maps)]

    def forward(
        self,
        edges: EdgeViews,
        sets: Float[Tensor, "node row"],
        relations: Int[Tensor, " row"],
        readings: Readings,
        conditions: Int[Tensor, " row"] | None = None,
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "node row"]:
        """The logits of what `relations[i]` leads to from column i.

        `conditions[i]` says which column of the readings it sees; without them, column i.
        """
        shared = conditions is not None
        columns = conditions if conditions is not None else torch.arange(len(relations), device=relations.device)
        query = readings[0][relations, columns]
        boundary = sets.unsqueeze(-1) * query
        scales = node_scales(edges, edge_mask, boundary.dtype)
        state = boundary
        for layer, vectors in zip(self.layers, readings[1:], strict=True):
            check_stop()
            relation = vectors.index_select(1, columns) if shared else vectors
            state = layer(edges, state, relation, boundary, scales, edge_mask)
        logits: Tensor = self.readout(state, query)
        return logits
