"""What a model remembers of the relations that it was trained on, beside what it sees of them in any graph.

A relation's vector, as the query relation q sees it, gets three learned vectors of its name:

    z_q(a)  <-  z_q(a) + o(a) + p(a) * s(q)

o and p begin with zeros, so that fine-tuning begins with the very model that it is given. A relation that was not
there in training has nothing to be remembered, and is read as before.
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
    """The learned vectors of relations by name."""

    def __init__(self, relation_names: Sequence[str], dim: int) -> None:
        super().__init__()
        self.relation_names = tuple(relation_names)
        size = (2 * len(self.relation_names), dim)
        self.own, self.paired = nn.Parameter(torch.zeros(size)), nn.Parameter(torch.zeros(size))
        self.asked = nn.Parameter(torch.randn(size) / SPEED)

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

    def _remembered(self, table: Tensor, rows: Int[Tensor, " relation"]) -> Float[Tensor, "relation dim"]:
        kept = dropout(SPEED * table, FORGOTTEN, self.training)
        return torch.cat([kept, kept.new_zeros(1, kept.shape[1])])[rows]
