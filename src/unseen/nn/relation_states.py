"""Relation vectors that learn from states of entities: the linear form of the step of TRIX (Zhang et al., 2024).

With x_v the state of entity v, z_i the vector of the directed relation i, and E[v, i] = 1 where v is a head of i, every
pair of relations that meet at an entity says something to each other through the state of that entity:

    m(j) = sum_v sum_i E[v,i] E[v,j] (W x_v * z_i) = sum_v E[v,j] (W x_v * s_v),      s_v = sum_i E[v,i] z_i

which is two sparse products with the incidence E. W x_v has a constant part, for which this counts entities as the
graph of relations does. A tail of i is a head of its inverse, so s_v is made twice, of the relations that leave v and
of those that come to it, each with a W of its own, and m(j) is read for j and for its inverse: head-head, head-tail,
tail-head, tail-tail. A round is a layer over the entities and then one step of the relations:

    x  <- conv(x, R(z), x⁰)                                           `relational_conv`, R a perceptron
    z(j) <- z(j) + A relu(layer_norm(B [z(j) ; m(j) / n(j) ; layer_norm(m(j))]))     n(j): the heads of j

s_v is a mean over the relations of v. A begins with zero, so a trained model can gain rounds and begins unchanged.
Where states begin (x⁰) is up to the caller: at the members of a set, or at the heads and tails of the query relation
(`ends_of`), which needs no set, so that the vectors belong to the relation and can be kept.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unseen.graph.vocabulary import inverse_relation
from unseen.logic.stopping import check_stop
from unseen.nn.kernels import EdgeViews
from unseen.nn.kernels.definitions import Message
from unseen.nn.kernels.sparse_product import sparse_product
from unseen.nn.kernels.sparse_table import Incidence
from unseen.nn.relational_conv import RelationalConv, node_scales

RelationStatesKind = Literal["none", "by_relation", "by_source"]
"""Whether vectors of relations learn from states of entities, and where these begin: at the ends of the query relation
or at the members of the set that is asked about."""
FEATURES = 9
"""Blocks of `dim` that a relation is updated from: its vector, four means, four sums."""


class Meeting(NamedTuple):
    """The incidence of one graph as a step of the relations reads it."""

    incidence: Incidence
    weights: Float[Tensor, " pair"] | None
    per_node: Float[Tensor, "node 1 1"]
    per_relation: Float[Tensor, "relation 1 1"]

    @classmethod
    def of(cls, incidence: Incidence, edge_mask: Bool[Tensor, " edge"] | None, dtype: torch.dtype) -> Meeting:
        """With a mask, a pair counts if one of its edges is left."""
        table = incidence.table
        if edge_mask is None:
            numbers = [view.offsets.diff() for view in (table.by_row, table.by_column)]
            return cls(incidence, None, *(_shares(number.to(dtype)) for number in numbers))
        weights = incidence.visible(edge_mask, dtype)
        number = [
            sparse_product(one, weights.new_ones(one.size[1], 1, 1), weights).flatten()
            for one in (table, table.transposed)
        ]
        return cls(incidence, weights, *(_shares(each) for each in number))

    def at_nodes(self, values: Float[Tensor, "relation row dim"]) -> Float[Tensor, "node row dim"]:
        """The mean over the relations that leave each node."""
        return sparse_product(self.incidence.table, values, self.weights) * self.per_node

    def at_relations(self, values: Float[Tensor, "node row dim"]) -> Float[Tensor, "relation row dim"]:
        """The sum over the heads of each relation."""
        return sparse_product(self.incidence.table.transposed, values, self.weights)


class RelationStates(nn.Module):
    """Rounds of a layer over the entities and a step of the relations."""

    def __init__(self, dim: int, rounds: int, message: Message = "distmult", *, has_ends: bool = True) -> None:
        """With vectors for the ends of query relations, if states are to begin there."""
        super().__init__()
        if has_ends:
            self.ends = nn.Parameter(torch.randn(2, dim))
        self.layers = nn.ModuleList(RelationalConv(dim, message) for _ in range(rounds))
        self.maps = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim)) for _ in range(rounds)
        )
        self.steps = nn.ModuleList(RelationStep(dim) for _ in range(rounds))

    def forward(
        self,
        edges: EdgeViews,
        incidence: Incidence,
        vectors: Float[Tensor, "relation row dim"],
        boundary: Float[Tensor, "node row dim"],
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "relation row dim"]:
        """The vectors after all rounds; each row has vectors and states of its own."""
        scales = node_scales(edges, edge_mask, vectors.dtype)
        meeting, state = Meeting.of(incidence, edge_mask, vectors.dtype), boundary
        for layer, to_map, step in zip(self.layers, self.maps, self.steps, strict=True):
            check_stop()
            state = layer(edges, state, vectors + to_map(vectors), boundary, scales, edge_mask)
            vectors = step(meeting, state, vectors)
        return vectors

    def ends_of(self, incidence: Incidence, queries: Int[Tensor, " query"]) -> Float[Tensor, "node query dim"]:
        """States that mark the heads and the tails of each query relation."""
        columns = torch.arange(len(queries), device=queries.device)
        marks = self.ends.new_zeros(incidence.table.size[1], len(queries), 2)
        marks[queries, columns, 0] = 1
        marks[torch.as_tensor(inverse_relation(queries)), columns, 1] = 1  # type: ignore[arg-type]
        return sparse_product(incidence.table, marks) @ self.ends


class RelationStep(nn.Module):
    """One step of the relations, from the states of the entities where they meet."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weigh = nn.Linear(dim, 2 * dim)
        self.sums = nn.LayerNorm(dim)
        self.linear = nn.Linear(FEATURES * dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.output = nn.Linear(dim, dim)
        nn.init.ones_(self.weigh.bias)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(
        self, meeting: Meeting, state: Float[Tensor, "node row dim"], vectors: Float[Tensor, "relation row dim"]
    ) -> Float[Tensor, "relation row dim"]:
        """The vectors of all relations after the step."""
        inverse = torch.as_tensor(inverse_relation(torch.arange(len(vectors), device=vectors.device)))  # type: ignore[arg-type]
        seen = meeting.at_nodes(torch.cat([vectors, vectors[inverse]], dim=-1))
        sums = meeting.at_relations(self.weigh(state) * seen)
        means = sums * meeting.per_relation
        parts = torch.stack([*sums.chunk(2, dim=-1), *sums[inverse].chunk(2, dim=-1)], dim=-2)
        normal = self.sums(parts).flatten(-2)
        features = torch.cat([vectors, means, means[inverse], normal], dim=-1)
        change: Tensor = self.output(torch.relu(self.norm(self.linear(features))))
        return vectors + change


def _shares(number: Float[Tensor, " row"]) -> Float[Tensor, "row 1 1"]:
    return 1 / number.clamp(min=1).view(-1, 1, 1)
