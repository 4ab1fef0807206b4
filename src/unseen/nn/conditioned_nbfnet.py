"""NBFNet whose relation vectors come from outside: the same network on any graph, whatever its relations.

With z_q(a) the vector of relation a for the query relation q (`relation_network`) and m(v) the membership of node v:

    h⁰(v)  = m(v) z_q(q)
    R_l(a) = z_q(a) + W²_l relu(W¹_l z_q(a) + b¹_l) + b²_l        in each layer
    hˡ     = conv_l(h^(l-1), R_l, h⁰),   logit = readout(h^L(v), z_q(q))          as in `nbfnet`

Rows that ask for the same relation share its vectors: there are as many *conditions* as distinct relations asked for.
Parameters: L (13 + 2) dim² and the readout; none of them belongs to a relation.
"""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unseen.nn.kernels import EdgeViews
from unseen.nn.kernels.definitions import Message
from unseen.nn.nbfnet import Readout
from unseen.nn.relational_conv import RelationalConv, node_scales


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

    def forward(
        self,
        edges: EdgeViews,
        sets: Float[Tensor, "node row"],
        relations: Int[Tensor, " row"],
        vectors: Float[Tensor, "relation condition dim"],
        conditions: Int[Tensor, " row"],
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "node row"]:
        """The logits of what `relations[i]` leads to from column i; `conditions[i]` says which vectors it sees."""
        if len(conditions) < vectors.shape[1]:  # fewer rows than conditions: take theirs, then map
            vectors, conditions = vectors.index_select(1, conditions), _numbers(conditions)
        query = vectors[relations, conditions]
        boundary = sets.unsqueeze(-1) * query
        scales = node_scales(edges, edge_mask, boundary.dtype)
        state = boundary
        for layer, relation_map in zip(self.layers, self.relation_maps, strict=True):
            mapped = self.relation_dropout(vectors + relation_map(vectors))
            state = layer(edges, state, mapped.index_select(1, conditions), boundary, scales, edge_mask)
        logits: Tensor = self.readout(state, query)
        return logits


def _numbers(conditions: Int[Tensor, " row"]) -> Int[Tensor, " row"]:
    """0, 1, 2 … on the same device."""
    return conditions.new_ones(len(conditions)).cumsum(0) - 1
