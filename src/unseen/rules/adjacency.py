"""The edges of a graph in the orders in which rules are counted and followed.

A *row* is one entity with one directed relation: its targets are sorted. A row also stands for a property, "is a target
of this row": the row of (France, inverse of lives_in) are all who live in France. Memory: 28 bytes per directed edge
and 16 per row, so at most 0.9 GB for 10 M triples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.bisecting import place_in
from unseen.graph.compiling import compiled
from unseen.graph.derived import Derived
from unseen.rules.changed_adjacency import changed_adjacency
from unseen.rules.kept_adjacency import adjacency_place, are_kept, keep_arrays, kept_arrays

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.rules.kept_adjacency import Arrays

    Ids = NDArray[np.int32]
    Places = NDArray[np.int64]


class Adjacency(NamedTuple):
    """Every edge in both directions; a named tuple, which compiled loops accept."""

    entity_rows: Places
    """Rows of entity e: `entity_rows[e]` ... `entity_rows[e + 1]`, ascending by relation."""
    row_entity: Ids
    row_relation: Ids
    row_edges: Places
    """Edges of a row: `row_edges[row]` ... `row_edges[row + 1]`."""
    targets: Ids
    back_row: Ids
    """For each edge (x, a, d) the row of (d, inverse of a), whose targets include x."""
    near: Ids
    """The edges of an entity by target, then relation: targets; `row_edges[entity_rows[e]]` is where they begin."""
    near_relation: Ids
    relation_rows: Places
    """Rows of relation r: `rows_by_relation[relation_rows[r]:relation_rows[r + 1]]`."""
    rows_by_relation: Ids

    @property
    def num_entities(self) -> int:
        """Entities of the vocabulary."""
        return len(self.entity_rows) - 1

    @property
    def num_relations(self) -> int:
        """Directed relations."""
        return len(self.relation_rows) - 1


BYTES_OF_COPY, BYTES_OF_SORTING = 80, 130
"""For each edge of the graph."""
CHUNK = 1_000_000
"""Rows that are looked at in one compiled call."""


def adjacency_of(graph: KnowledgeGraph) -> Adjacency:
    """The adjacency of a graph; it is kept as long as the graph lives, and beside its database where it is large.

    That of a changed graph comes from the graph before it.
    """
    return _KEPT.of(graph)


def is_open(graph: KnowledgeGraph) -> bool:
    """Whether the adjacency of a graph has been computed already."""
    return _KEPT.is_known(graph)


def bytes_to_open(graph: KnowledgeGraph) -> int:
    """About how much memory `adjacency_of` takes at its peak; mapped files take none."""
    if is_open(graph):
        return 0
    if _KEPT.has_earlier(graph):
        return BYTES_OF_COPY * graph.num_triples
    return 0 if are_kept(adjacency_place(graph), graph) else BYTES_OF_SORTING * graph.num_triples


def _opened(graph: KnowledgeGraph) -> Adjacency:
    place = adjacency_place(graph)
    kept = kept_arrays(place, graph, Adjacency._fields)
    if kept is None:
        kept = _made(graph, place)
    return Adjacency(**kept)  # type: ignore[arg-type]


def _made(graph: KnowledgeGraph, place: Path | None) -> Arrays:
    """The arrays, sorted; where they were kept, they are mapped, so that memory holds no second copy."""
    made = _adjacency(graph)._asdict()
    keep_arrays(place, graph, made)
    return kept_arrays(place, graph, Adjacency._fields) or made


_KEPT = Derived(_opened, changed_adjacency)


def _adjacency(graph: KnowledgeGraph) -> Adjacency:
    num_entities, num_directed = graph.num_entities, 2 * graph.num_relations
    sources = np.concatenate([graph.heads, graph.tails])
    targets = np.concatenate([graph.tails, graph.heads])
    forwards = graph.relations * np.int32(2)
    relations = np.concatenate([forwards, forwards + np.int32(1)])
    sources, near, near_relation = _sorted(sources, targets, relations, (num_entities, num_entities, num_directed))
    order = _stable_order(sources, near_relation, num_entities, num_directed)
    row_relations, row_targets = near_relation[order], near[order]
    first = np.ones(len(order), bool)
    first[1:] = (sources[1:] != sources[:-1]) | (row_relations[1:] != row_relations[:-1])
    starts = np.flatnonzero(first)
    row_entity, row_relation = sources[starts], row_relations[starts]
    row_edges = np.append(starts, len(order))
    entity_rows = _offsets(row_entity, num_entities)
    rows_by_relation = np.argsort(row_relation, kind="stable").astype(np.int32)
    rows = (entity_rows, row_entity, row_relation, row_edges, row_targets)
    back_row = np.empty(len(order), np.int32)
    for low in range(0, len(row_relation), CHUNK):  # Ctrl-C counts between two calls
        _find_back_rows(low, min(low + CHUNK, len(row_relation)), rows[0], *rows[2:5], back_row)
    relation_rows = _offsets(row_relation, num_directed)
    return Adjacency(*rows, back_row, near, near_relation, relation_rows, rows_by_relation)


def _sorted(first: Ids, second: Ids, third: Ids, limits: tuple[int, int, int]) -> tuple[Ids, Ids, Ids]:
    """Three columns sorted by the first, then the second, then the third; by packed numbers where they fit."""
    bits = [max(1, int(limit - 1).bit_length()) for limit in limits]
    if sum(bits) > 63:
        order = np.lexsort((third, second, first))
        return first[order], second[order], third[order]
    packed = ((first.astype(np.int64) << bits[1] | second) << bits[2]) | third
    packed.sort()
    third = (packed & ((1 << bits[2]) - 1)).astype(np.int32)
    packed >>= bits[2]
    second = (packed & ((1 << bits[1]) - 1)).astype(np.int32)
    packed >>= bits[1]
    return packed.astype(np.int32), second, third


def _stable_order(sources: Ids, relations: Ids, num_entities: int, num_directed: int) -> Places:
    """Edges sorted by source and target, in order of source, relation and target."""
    bits = max(1, int(num_directed - 1).bit_length())
    position_bits = max(1, len(sources).bit_length())
    if max(1, int(num_entities - 1).bit_length()) + bits + position_bits > 63:
        return np.lexsort((relations, sources))
    packed = ((sources.astype(np.int64) << bits | relations) << position_bits) | np.arange(len(sources))
    packed.sort()
    packed &= (1 << position_bits) - 1
    return packed


def _offsets(owners: Ids, count: int) -> Places:
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
    return offsets


@compiled
@no_type_check
def _find_back_rows(begin, end, entity_rows, row_relation, row_edges, targets, back_row):
    for row in range(begin, end):
        wanted = row_relation[row] ^ 1
        for edge in range(row_edges[row], row_edges[row + 1]):
            low, high = entity_rows[targets[edge]], entity_rows[targets[edge] + 1]
            back_row[edge] = place_in(row_relation, low, high, wanted)
