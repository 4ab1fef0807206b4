"""The links that a graph has, ready to be found for many (head, relation) rows at once on any device.

Every directed edge is one int64: ((direction R + relation) N + source) N + target, in ascending order. The tails of a
row within a block of entities are then one stretch, found by two binary searches, and never more than a block of them
is written out. Cost: 16 bytes an edge; a search is log2(edges) steps a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.errors import TooLarge
from unseen.graph import KnowledgeGraph
from unseen.graph.sorted_edges import SortedEdges


@dataclass(frozen=True, eq=False)
class ObservedLinks:
    """Sorted directed edges of one graph, each packed into a number."""

    packed: Int[Tensor, " edge"]
    num_entities: int
    num_relations: int

    @classmethod
    def of(cls, graph: KnowledgeGraph, device: torch.device) -> ObservedLinks:
        """Both directions of every edge."""
        size, count = graph.num_entities, graph.num_relations
        if 2 * count * size**2 >= 2**63:
            raise TooLarge(f"{size:,} entities and {count:,} relations are too many to be packed into one number")
        packed = np.empty(2 * graph.num_triples, np.int64)
        for direction, view in enumerate((graph.by_head, graph.by_tail)):
            _pack(view, direction * count, size, packed[direction * graph.num_triples :][: graph.num_triples])
        return cls(torch.from_numpy(packed).to(device), size, count)

    def keys(self, heads: Int[Tensor, " row"], relations: Int[Tensor, " row"]) -> Int[Tensor, " row"]:
        """What the edges of each row begin with; relations are directed ids."""
        relation = (relations % 2) * self.num_relations + torch.div(relations, 2, rounding_mode="floor")
        return (relation * self.num_entities + heads) * self.num_entities

    def degrees(self, keys: Int[Tensor, " row"]) -> Int[Tensor, " row"]:
        """How many observed tails each row has."""
        first, last = self._stretch(keys, 0, self.num_entities)
        return last - first

    def tails(
        self, keys: Int[Tensor, " row"], start: int, stop: int
    ) -> tuple[Int[Tensor, " pair"], Int[Tensor, " pair"]]:
        """The observed tails from `start` to before `stop`: the row of each, and its place in the block."""
        first, last = self._stretch(keys, start, stop)
        lengths = last - first
        row = torch.repeat_interleave(torch.arange(len(keys), device=keys.device), lengths)
        ends = lengths.cumsum(0)
        edge = torch.arange(len(row), device=keys.device) + (first - ends + lengths)[row]
        return row, self.packed[edge] - keys[row] - start

    def _stretch(self, keys: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
        return torch.searchsorted(self.packed, keys + start), torch.searchsorted(self.packed, keys + stop)


def _pack(view: SortedEdges, first_relation: int, num_entities: int, packed: NDArray[np.int64]) -> None:
    """Fill `packed` with the edges of one direction, which are sorted already."""
    relations = np.arange(first_relation, first_relation + len(view.offsets) - 1, dtype=np.int64)
    packed[:] = np.repeat(relations, np.diff(view.offsets))
    packed *= num_entities
    packed += view.sources
    packed *= num_entities
    packed += view.targets
