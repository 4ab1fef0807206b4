"""One link between two entities, known or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.graph.vocabulary import is_inverse, undirected_relation

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

Triple = tuple[int, int, int]
"""Head, relation and tail, read forwards."""


class Link(NamedTuple):
    """A link in the direction in which it is asked for; the relation is a directed one."""

    source: int
    relation: int
    target: int

    @property
    def triple(self) -> Triple:
        """The edge, head first."""
        ends = (self.target, self.source) if is_inverse(self.relation) else (self.source, self.target)
        return ends[0], undirected_relation(self.relation), ends[1]

    def is_in(self, graph: KnowledgeGraph) -> bool:
        """Whether a graph has the edge."""
        sources, targets = graph.edges_from(self.relation)
        first, last = np.searchsorted(sources, self.source), np.searchsorted(sources, self.source, side="right")
        place = first + np.searchsorted(targets[first:last], self.target)
        return bool(place < last and targets[place] == self.target)
