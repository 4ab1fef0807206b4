"""Counts of a graph that its statistics of relations come from, and how they follow a change of it.

Entities at changed edges are counted as they were and as they are; all others stay as they are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unseen.graph import KnowledgeGraph
from unseen.graph.edge_changes import EdgeChange
from unseen.nn.relation_statistics_loops import count_ends, count_parallel

Table = NDArray[np.float64]
Ids = NDArray[np.int32]
Directed = tuple[NDArray[np.int64], Ids, Ids]
"""All directed edges by source, then target: where those of each entity begin, targets, relations."""


@dataclass(frozen=True, eq=False)
class EndCounts:
    """For all pairs of directed relations: whole numbers, so that what was added can be subtracted again."""

    ends: Table
    """Entities that are heads of both."""
    paths: Table
    """Pairs of edges that leave one entity."""
    parallel: Table
    """Pairs of entities that both link."""

    @classmethod
    def none(cls, count: int) -> EndCounts:
        """Nothing counted yet."""
        return cls(*(np.zeros((count, count)) for _ in range(3)))

    @classmethod
    def of(cls, edges: Directed, count: int) -> EndCounts:
        """The counts of some entities with all their edges."""
        found, (offsets, targets, relations) = cls.none(count), edges
        count_ends(offsets, relations, found.ends, found.paths)
        count_parallel(offsets, targets, relations, found.parallel)
        return found

    def after(self, change: EdgeChange, edges: Directed, count: int) -> EndCounts:
        """The counts after a change; `edges` are those of the changed graph."""
        before, now = _edges_near(change, edges)
        known = len(self.ends)
        found, less, more = EndCounts.none(count), EndCounts.of(before, count), EndCounts.of(now, count)
        for name, table in vars(found).items():
            table[:known, :known] = getattr(self, name)
            np.add(table, getattr(more, name) - getattr(less, name), out=table)
        return found


def _edges_near(change: EdgeChange, edges: Directed) -> tuple[Directed, Directed]:
    """All edges of the entities at changed ones, before and after the change."""
    offsets, targets, relations = edges
    entities = np.unique(np.concatenate([change.removed[:, ::2], change.added[:, ::2]]))
    lengths = offsets[entities + 1] - offsets[entities]
    starts = np.append(0, np.cumsum(lengths))
    places = np.repeat(offsets[entities] - starts[:-1], lengths) + np.arange(starts[-1])
    now = np.stack([np.repeat(np.arange(len(entities)), lengths), targets[places], relations[places]], axis=1)
    gone, come = (_directed(rows, entities) for rows in (change.removed, change.added))
    kept = now[~_are_among(now, come)]
    before = np.concatenate([kept, gone])
    before = before[np.lexsort(before.T[::-1])]
    old_starts = np.searchsorted(before[:, 0], np.arange(len(entities) + 1))
    old = (old_starts, before[:, 1].astype(np.int32), before[:, 2].astype(np.int32))
    return old, (starts, targets[places], relations[places])


def _directed(rows: Ids, entities: Ids) -> NDArray[np.int64]:
    """Edges in both directions: place of the source among some entities, target, directed relation."""
    heads, relations, tails = rows.astype(np.int64).T
    sources = np.searchsorted(entities, np.concatenate([heads, tails]))
    return np.stack(
        [sources, np.concatenate([tails, heads]), np.concatenate([2 * relations, 2 * relations + 1])], axis=1
    )


def _are_among(rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows are also among others."""
    if not len(rows) or not len(others):
        return np.zeros(len(rows), bool)
    limits = np.maximum(rows.max(axis=0), others.max(axis=0)) + 1
    one, other = (np.ravel_multi_index(tuple(part.T), tuple(limits)) for part in (rows, others))
    return np.isin(one, other)


@dataclass(frozen=True, eq=False)
class EdgeSample:
    """Some edges of every relation, or all where there are few: `starts[r]` ... `starts[r + 1]`."""

    starts: NDArray[np.int64]
    heads: Ids
    tails: Ids

    @classmethod
    def drawn(cls, graph: KnowledgeGraph, most: int) -> EdgeSample:
        """At most so many edges of each relation, drawn at random."""
        order = np.random.default_rng(0).permutation(graph.num_triples)
        order = order[np.argsort(graph.relations[order], kind="stable")]
        offsets = graph.by_head.offsets
        chosen = [order[low : min(low + most, end)] for low, end in pairwise(offsets.tolist())]
        places = np.concatenate([np.empty(0, np.int64), *chosen])
        starts = np.append(0, np.cumsum([len(part) for part in chosen])).astype(np.int64)
        return cls(starts, graph.heads[places].astype(np.int32), graph.tails[places].astype(np.int32))

    def after(self, change: EdgeChange, graph: KnowledgeGraph, most: int) -> EdgeSample:
        """A sample of the changed graph that has as much of this one as possible, and new edges in proportion."""
        random = np.random.default_rng(graph.num_triples)
        touched = set(change.removed[:, 1].tolist()) | set(change.added[:, 1].tolist())
        parts = []
        for relation in range(graph.num_relations):
            if relation in touched or relation + 1 >= len(self.starts):
                parts.append(self._of_changed(relation, change, graph, most, random))
            else:
                own = slice(self.starts[relation], self.starts[relation + 1])
                parts.append((self.heads[own], self.tails[own]))
        starts = np.append(0, np.cumsum([len(heads) for heads, _ in parts])).astype(np.int64)
        heads, tails = (np.concatenate([np.empty(0, np.int32), *column]) for column in zip(*parts, strict=True))
        return EdgeSample(starts, heads, tails)

    def _of_changed(
        self, relation: int, change: EdgeChange, graph: KnowledgeGraph, most: int, random: np.random.Generator
    ) -> tuple[Ids, Ids]:
        heads, tails = graph.edges_from(2 * relation)
        if len(heads) <= most:
            return heads, tails
        gone, come = (
            [(head, tail) for head, of, tail in rows.tolist() if of == relation]
            for rows in (change.removed, change.added)
        )
        own = slice(*self.starts[relation : relation + 2]) if relation + 1 < len(self.starts) else slice(0, 0)
        kept = dict.fromkeys(zip(self.heads[own].tolist(), self.tails[own].tolist(), strict=True))
        for edge in gone:
            kept.pop(edge, None)
        sample = list(kept)
        for edge, draw in zip(come, random.integers(len(heads), size=len(come)).tolist(), strict=True):
            if draw < len(sample):
                sample[draw] = edge
        there = set(sample)
        while len(there) < most:
            place = int(random.integers(len(heads)))
            there.add((int(heads[place]), int(tails[place])))
        chosen = np.array(sorted(there), np.int32)
        return chosen[:, 0], chosen[:, 1]
