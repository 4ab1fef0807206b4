"""NBFNet on fuzzy sets: what one relation leads to from a set of nodes (Zhu et al., 2021; the paper, section 4.2).

For a column with membership m(v) of every node and a query relation q with embedding r_q:

    h⁰(v)  = m(v) r_q                                              the boundary, also one more message in every layer
    R_l    = W_l r_q + b_l                                         a vector for every directed relation, in each layer
    hˡ     = conv_l(h^(l-1), R_l, h⁰)                              l = 1 … L, see `relational_conv`
    logit  = w₂ relu(W₁ [h^L(v) ; r_q] + b₁) + b₂

Nothing belongs to a node, so a trained network works on any graph over the same relations. Tensors are node-major,
[node, batch, dim]. Cost of a column: L passes over the edges, dim wide. Parameters: L R dim² for R directed relations.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unseen.logic.stopping import check_stop
from unseen.nn.kernels import EdgeViews, cpu_layer
from unseen.nn.kernels.definitions import Message
from unseen.nn.relational_conv import RelationalConv, node_scales


class NBFNet(nn.Module):
    """Logits of membership in the projection of fuzzy sets of nodes."""

    def __init__(
        self,
        num_relations: int,
        dim: int = 32,
        num_layers: int = 4,
        hidden_dim: int = 64,
        message: Message = "distmult",
        *,
        relation_dropout: float = 0.0,
    ) -> None:
        """For `num_relations` directed relations; `hidden_dim` is the width of the output's hidden layer."""
        super().__init__()
        self.num_relations, self.dim = num_relations, dim
        self.query = nn.Embedding(num_relations, dim)
        self.layers = nn.ModuleList(RelationalConv(dim, message) for _ in range(num_layers))
        self.relation_maps = nn.ModuleList(nn.Linear(dim, num_relations * dim) for _ in range(num_layers))
        self.relation_dropout = nn.Dropout(relation_dropout)
        self.readout = Readout(dim, hidden_dim)

    def forward(
        self,
        edges: EdgeViews,
        sets: Float[Tensor, "node batch"],
        relations: Int[Tensor, " batch"],
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "node batch"]:
        """The logits of what `relations[i]` leads to from column i of `sets`; edges outside the mask do not exist."""
        query = self.query(relations)
        boundary = sets.unsqueeze(-1) * query
        scales = node_scales(edges, edge_mask, boundary.dtype)
        state = boundary
        for layer, relation_map in zip(self.layers, self.relation_maps, strict=True):
            check_stop()
            relation = self._relation_vectors(relation_map, query)
            state = layer(edges, state, relation, boundary, scales, edge_mask)
        logits: Tensor = self.readout(state, query)
        return logits

    def _relation_vectors(
        self, relation_map: nn.Module, query: Float[Tensor, "batch dim"]
    ) -> Float[Tensor, "relation batch dim"]:
        vectors: Tensor = relation_map(query).view(len(query), self.num_relations, self.dim)
        dropped: Tensor = self.relation_dropout(vectors)
        return dropped.transpose(0, 1).contiguous()


class Readout(nn.Module):
    """A two-layer perceptron over [state ; query] of every node and column."""

    def __init__(self, dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(2 * dim, hidden_dim)
        self.output = nn.Linear(hidden_dim, 1)

    def forward(
        self, state: Float[Tensor, "node batch dim"], query: Float[Tensor, "batch dim"]
    ) -> Float[Tensor, "node batch"]:
        """The part of the query is computed once a column, not once a node."""
        of_state, of_query = torch.split(self.hidden.weight, state.shape[-1], dim=1)
        asked = query @ of_query.t() + self.hidden.bias
        if cpu_layer.takes(state, len(of_state)):
            return cpu_layer.readout(state, asked, of_state, self.output)
        hidden = state @ of_state.t() + asked
        logits: Tensor = self.output(torch.relu(hidden))
        return logits.squeeze(-1)
