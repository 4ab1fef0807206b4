"""The graph of relations: what a network can know of a relation that it never met.

Its nodes are the directed relations of a knowledge graph. Two of them, a and b, are linked in up to four ways, one for
each way in which they share an entity (Galkin et al., 2024):

    head-head   something is a head of a and of b          tail-tail   a tail of both
    head-tail   a head of a and a tail of b                tail-head   a tail of a and a head of b

A tail of a is a head of a read backwards, so all four follow from one symmetric table of bits, "a and b have a head in
common", over directed relations. No name and no number of a relation goes into it.

Cost, for E edges, R directed relations and d distinct relations at an entity: E writes, and for each entity the
smaller of d² and d R / 64; R² / 8 bytes. Adding edges looks at the entities of new edges only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import directed_relation, inverse_relation
from unseen.nn.kernels import EdgeViews

KINDS = ("head-head", "head-tail", "tail-head", "tail-tail")
"""The kinds of edges, by number."""

Column = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RelationGraph:
    """Which directed relations share heads; immutable, and without a reference to the graph it was made of."""

    num_entities: int
    columns: tuple[Column, Column, Column]
    """Heads, relations and tails, to see whether another graph is a larger one."""
    shared: NDArray[np.uint64]
    """Bit b of row a: the directed relations a and b have a head in common."""
    _edges: dict[torch.device, EdgeViews] = field(default_factory=dict, repr=False)

    _known: ClassVar[WeakKeyDictionary[KnowledgeGraph, RelationGraph]] = WeakKeyDictionary()
    _latest: ClassVar[list[RelationGraph]] = []
    _lock: ClassVar[Lock] = Lock()

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> RelationGraph:
        """The relations of a graph: found again for the same one, mended for the latest one grown, else made."""
        with cls._lock:
            known, latest = cls._known.get(graph), list(cls._latest)
        if known is None:
            known = next((old.after(graph) for old in latest if old.is_part_of(graph)), None) or cls.made(graph)
            with cls._lock:
                cls._known[graph] = known
                cls._latest[:] = [known]
        return known

    @classmethod
    def made(cls, graph: KnowledgeGraph) -> RelationGraph:
        """The relations of a graph, from all of its edges."""
        columns = (graph.heads, graph.relations, graph.tails)
        shared = _empty(graph.vocabulary.num_directed_relations)
        _mark(shared, columns, graph.num_entities, graph.num_relations)
        return cls(graph.num_entities, columns, shared)

    @property
    def num_relations(self) -> int:
        """Directed relations, linked or not."""
        return len(self.shared)

    def is_part_of(self, graph: KnowledgeGraph) -> bool:
        """Whether a graph has all these edges first, in the same order and with the same numbers."""
        columns, count = (graph.heads, graph.relations, graph.tails), len(self.columns[0])
        fits = self.num_entities <= graph.num_entities and count <= graph.num_triples
        fits = fits and self.num_relations <= graph.vocabulary.num_directed_relations
        return fits and all(np.array_equal(old, new[:count]) for old, new in zip(self.columns, columns, strict=True))

    def after(self, graph: KnowledgeGraph) -> RelationGraph:
        """The relations of a graph of which this is a part: only entities at new edges are looked at."""
        columns, count = (graph.heads, graph.relations, graph.tails), len(self.columns[0])
        shared = _empty(graph.vocabulary.num_directed_relations)
        shared[: len(self.shared), : self.shared.shape[1]] = self.shared
        entities = np.unique(np.concatenate([graph.heads[count:], graph.tails[count:]]))
        place = np.full(graph.num_entities, -1, np.int32)
        place[entities] = np.arange(len(entities), dtype=np.int32)
        near = np.flatnonzero((place[graph.heads] >= 0) | (place[graph.tails] >= 0))
        ends = (place[graph.heads[near]], graph.relations[near], place[graph.tails[near]])
        _mark(shared, ends, len(entities), graph.num_relations)
        return RelationGraph(graph.num_entities, columns, shared)

    def pairs(self) -> NDArray[np.int64]:
        """All (a, b) that have a head in common, sorted: [2, pair]."""
        bits = np.unpackbits(self.shared.view(np.uint8), axis=1, count=self.num_relations, bitorder="little")
        return np.stack(np.nonzero(bits)).astype(np.int64)

    def edges(self, device: torch.device | str = "cpu") -> EdgeViews:
        """The four kinds of edges for message passing; made once for each device."""
        place = torch.empty(0, device=device).device
        if place not in self._edges:
            columns = [torch.from_numpy(column) for column in self._columns()]
            self._edges[place] = EdgeViews.from_edges(*columns, size=(self.num_relations, len(KINDS)), device=place)
        return self._edges[place]

    def _columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Sources, kinds and targets; a head of b is a tail of b read backwards."""
        left, right = self.pairs()
        back_left, back_right = inverse_relation(left), inverse_relation(right)
        sources = np.concatenate([left, left, back_left, back_left])
        targets = np.concatenate([right, back_right, right, back_right])
        return sources, np.repeat(np.arange(len(KINDS)), len(left)), targets


def _empty(num_relations: int) -> NDArray[np.uint64]:
    return np.zeros((num_relations, -(-num_relations // 64)), np.uint64)


def _mark(
    shared: NDArray[np.uint64], columns: tuple[Column, Column, Column], num_entities: int, num_relations: int
) -> None:
    """Add the pairs of relations that meet at some entity."""
    from unseen.nn.relation_loops import mark_ends  # compiled at first use

    ways = [[directed_relation(relation, way) for relation in range(num_relations)] for way in (False, True)]
    mark_ends(*columns, np.array(ways, np.int32).reshape(2, -1), num_entities, shared)
