"""Traversal dropout: during training, hide some of the edges that would give the answer away.

A training query is answered completely by walking the training graph, so a network that only learns to walk has no
loss left. Beside the fuzzy sets of a projection therefore runs the *symbolic* set S_i of row i, what plain traversal
knows. Every edge (h, r_i, t) with h in S_i lies on such a walk. It is hidden with probability p, together with the same
edge read backwards (t, r_i⁻¹, h), but never so that a node loses its last neighbour: of a node's edges that are all
hidden, the one with the largest random number stays. One mask serves all rows of a projection.

Cost: a table of distinct relations x nodes and a dozen passes over the edges; nothing waits for the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.nn.kernels import degrees

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RelationTable:
    """The distinct relations of a projection.

    Each row has a place among them; a relation that no row has stands one past the last.
    """

    place_of_row: Int[Tensor, " row"]
    place_of_relation: Int[Tensor, " relation"]
    num_distinct: int

    @staticmethod
    def columns(relations: Ids, num_relations: int) -> tuple[Ids, Ids]:
        """The two columns on the host."""
        distinct, place_of_row = np.unique(relations, return_inverse=True)
        place_of_relation = np.full(num_relations, len(distinct), np.int64)
        place_of_relation[distinct] = np.arange(len(distinct))
        return place_of_row.astype(np.int64), place_of_relation


def walked_edges(compact: CompactGraph, sets: Float[Tensor, "row node"], table: RelationTable) -> Bool[Tensor, " edge"]:
    """The edges (h, r_i, t) with h in set i of some row i, in canonical order."""
    starts = sets.new_zeros(table.num_distinct + 1, sets.shape[1]).index_add_(0, table.place_of_row, sets)
    source, relation, _ = compact.canonical_ends
    return starts[table.place_of_relation[relation], source] > 0


def draw(compact: CompactGraph, generator: torch.Generator) -> Float[Tensor, " edge"]:
    """A random number for each edge, the same for both of its directions."""
    own = torch.arange(compact.edges.num_edges, device=compact.edges.device)
    numbers = torch.rand(len(own), generator=generator, device=own.device)
    return numbers[torch.minimum(own, compact.partner)]


def traversal_mask(
    compact: CompactGraph,
    walked: Bool[Tensor, " edge"],
    probability: float,
    generator: torch.Generator,
) -> Bool[Tensor, " edge"]:
    """True for the edges to keep: `walked` ones go with some probability, both directions together."""
    drawn = draw(compact, generator)
    hidden = (walked | walked[compact.partner]) & (drawn < probability)
    return ~hidden | _last_neighbours(compact, hidden, drawn)


def _last_neighbours(
    compact: CompactGraph, hidden: Bool[Tensor, " edge"], drawn: Float[Tensor, " edge"]
) -> Bool[Tensor, " edge"]:
    """For each node whose edges are all hidden, the one with the largest number, in both directions."""
    target = compact.canonical_ends[2]
    alone = degrees(compact.edges, ~hidden) == 0
    largest = drawn.new_zeros(compact.num_nodes).scatter_reduce_(0, target, drawn, "amax")
    last = hidden & alone[target] & (drawn == largest[target])
    return last | last[compact.partner]
