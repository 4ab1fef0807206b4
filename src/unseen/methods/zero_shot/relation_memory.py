"""What a model remembers of the relations that it was trained on, beside what it sees of them in any graph.

A relation's vector, as the query relation q sees it, gets three learned vectors of its name, and what each layer
reads of it a learned matrix of its name, applied to a few numbers of the query relation (GNN-QE has only this term):

    z_q(a)  <-  z_q(a) + o(a) + p(a) * s(q)
    R_l(a)  <-  R_l(a) + M_l(a) c(q)                                    in each layer

o, p and M begin with zeros, so that fine-tuning begins with the very model that it is given. A relation that was not
there in training has nothing to be remembered, and is read as before.

It costs 2R (3 dim + layers x width x dim + width) numbers for R relations: 6 million at 237 of them, as defaults are.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import dropout

from unseen.graph import KnowledgeGraph
from unseen.methods.model_relations import numbers_by_name

SPEED = 5.0
"""So many times as fast as other weights it learns: it has nothing to lose, and few steps to be seen in."""
FORGOTTEN = 0.3
"""Share of its numbers that is left out, at random, while learning."""


class RelationMemory(nn.Module):
    """What is learned of relations by name: vectors, and matrices of `width` columns for each of the layers."""

    def __init__(self, relation_names: Sequence[str], dim: int, num_layers: int = 0, width: int = 0) -> None:
        super().__init__()
        self.relation_names = tuple(relation_names)
        size = (2 * len(self.relation_names), dim)
        self.own, self.paired = nn.Parameter(torch.zeros(size)), nn.Parameter(torch.zeros(size))
        self.asked = nn.Parameter(torch.randn(size) / SPEED)
        self.maps = nn.Parameter(torch.zeros(size[0], num_layers, width, dim)) if width else None
        self.codes = nn.Parameter(torch.randn(size[0], width) / SPEED) if width else None

    def rows(self, graph: KnowledgeGraph) -> Int[Tensor, " relation"]:
        """Where each directed relation of a graph is remembered; one past the end where it is not."""
        numbers = torch.from_numpy(numbers_by_name(graph, self.relation_names))
        return torch.where(numbers < 0, len(self.own), numbers)

    def forward(
        self, rows: Int[Tensor, " relation"], queries: Int[Tensor, " query"]
    ) -> Float[Tensor, "relation query dim"]:
        """What is added to the vectors of all relations for each query relation."""
        own, paired, asked = (self._remembered(table, rows) for table in (self.own, self.paired, self.asked))
        return own.unsqueeze(1) + paired.unsqueeze(1) * asked[queries].unsqueeze(0)

    def by_layer(
        self, rows: Int[Tensor, " relation"], queries: Int[Tensor, " query"]
    ) -> Float[Tensor, "layer relation query dim"] | None:
        """What is added to that which each layer reads of all relations for each query relation; None adds nothing."""
        if self.maps is None or self.codes is None:
            return None
        maps, codes = (_with_nothing(SPEED * table) for table in (self.maps, self.codes))
        added = torch.einsum("alwd,qw->laqd", maps[rows], codes[rows[queries]])
        return dropout(added, FORGOTTEN, self.training)

    def _remembered(self, table: Tensor, rows: Int[Tensor, " relation"]) -> Float[Tensor, "relation dim"]:
        return _with_nothing(dropout(SPEED * table, FORGOTTEN, self.training))[rows]


def _with_nothing(table: Float[Tensor, "row ..."]) -> Float[Tensor, "row+1 ..."]:
    """The table with a row of zeros at its end: what is known of a relation that is not remembered."""
    return torch.cat([table, table.new_zeros(1, *table.shape[1:])])
