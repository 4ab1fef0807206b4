"""The edges of a complete graph, sorted for walking from entities, with those missing from the observed graph marked.

A *group* is everything that one directed relation leads to from one entity. Its targets lie together, the observed
ones before the missing ones, so that one look-up serves both graphs. Plain arrays in a named tuple: numba reads it.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from unseen.graph.vocabulary import directed_relation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int32]
    Positions = NDArray[np.int64]
    Words = NDArray[np.uint64]


PACKED_BITS = 63
"""Edges are sorted as plain numbers where so many bits suffice for one."""


class EdgeIndex(NamedTuple):
    """Groups by (entity, directed relation), the same groups by relation, and who exists in either graph.

    Targets of group g: `targets[group_start[g]:group_missing[g]]` are observed, those up to `group_start[g + 1]` are
    missing, both sorted. Groups of entity v: `entity_groups[v]` up to `entity_groups[v + 1]`. Groups of relation r:
    `relation_members[relation_groups[r]:relation_groups[r + 1]]`. Universes are bit sets of connected entities.
    """

    entity_groups: Positions
    group_entity: Ids
    group_relation: Ids
    group_start: Positions
    group_missing: Positions
    targets: Ids
    relation_groups: Positions
    relation_members: Positions
    universe: Words
    observed_universe: Words

    @property
    def num_entities(self) -> int:
        """Entities in the vocabulary."""
        return len(self.entity_groups) - 1

    @property
    def num_directed_relations(self) -> int:
        """Relations in the vocabulary, each forwards and backwards."""
        return len(self.relation_groups) - 1

    @property
    def num_missing(self) -> int:
        """Directed edges that the observed graph lacks."""
        return int((self.group_start[1:] - self.group_missing).sum())

    @property
    def num_words(self) -> int:
        """Words of a bit set of entities."""
        return len(self.universe)


def index_of(complete: KnowledgeGraph, observed: KnowledgeGraph | None = None) -> EdgeIndex:
    """The index of a complete graph and its observed part (all of it unless given), built once for each pair."""
    part = complete if observed is None else observed
    with _BUILDING:
        known = _KNOWN.setdefault(complete, WeakKeyDictionary())
        if part not in known:
            known[part] = _build(complete, part)
        return known[part]


_BUILDING = Lock()
_KNOWN: WeakKeyDictionary[KnowledgeGraph, WeakKeyDictionary[KnowledgeGraph, EdgeIndex]] = WeakKeyDictionary()


def _build(complete: KnowledgeGraph, observed: KnowledgeGraph) -> EdgeIndex:
    size, directed = complete.num_entities, complete.vocabulary.num_directed_relations
    sources, relations, missing, targets = _sorted_edges(complete, _missing_edges(complete, observed))
    first = np.flatnonzero(_changes(sources) | _changes(relations))
    group_entity, group_relation = sources[first], relations[first]
    observed_counts = np.add.reduceat(~missing, first, dtype=np.int64) if len(first) else np.empty(0, np.int64)
    return EdgeIndex(
        entity_groups=_row_starts(group_entity, size),
        group_entity=group_entity,
        group_relation=group_relation,
        group_start=np.append(first, len(targets)).astype(np.int64),
        group_missing=first + observed_counts,
        targets=targets,
        relation_groups=_row_starts(np.sort(group_relation), directed),
        relation_members=np.argsort(group_relation, kind="stable"),
        universe=bit_set(complete.connected_entities, size),
        observed_universe=bit_set(observed.connected_entities, size),
    )


def bit_set(members: Ids, size: int) -> Words:
    """A set of ids below `size` as bits, least first, in 64-bit words."""
    marked = np.zeros(-(-size // 64) * 64, np.uint8)
    marked[members] = 1
    words: Words = np.packbits(marked, bitorder="little").view("<u8").astype(np.uint64)
    return words


def _missing_edges(complete: KnowledgeGraph, observed: KnowledgeGraph) -> NDArray[np.bool_]:
    """For each edge of the complete graph, whether the observed one lacks it."""
    if complete is observed:
        return np.zeros(complete.num_triples, bool)
    return ~np.isin(_edge_keys(complete), _edge_keys(observed))


def _edge_keys(graph: KnowledgeGraph) -> Positions:
    """One number for each edge; 2^63 suffices for 2^21 relations over 2^21 entities."""
    pairs = graph.heads.astype(np.int64) * graph.num_entities + graph.tails
    return pairs * max(graph.num_relations, 1) + graph.relations


def _sorted_edges(graph: KnowledgeGraph, missing: NDArray[np.bool_]) -> tuple[Ids, Ids, NDArray[np.bool_], Ids]:
    """Both directions of every edge by source, directed relation, observed before missing, target."""
    sources = np.concatenate([graph.heads, graph.tails])
    targets = np.concatenate([graph.tails, graph.heads])
    directions = np.array([[directed_relation(r, way) for r in range(graph.num_relations)] for way in (False, True)])
    relations = directions[:, graph.relations].ravel().astype(np.int32)
    both = np.concatenate([missing, missing])
    entity_bits, relation_bits = graph.num_entities.bit_length(), (2 * graph.num_relations).bit_length()
    if 2 * entity_bits + relation_bits + 1 <= PACKED_BITS:
        return _sorted_packed((sources, relations, both, targets), (entity_bits, relation_bits))
    order = np.lexsort((targets, both, relations, sources))
    return sources[order], relations[order], both[order], targets[order]


def _sorted_packed(
    columns: tuple[Ids, Ids, NDArray[np.bool_], Ids], bits: tuple[int, int]
) -> tuple[Ids, Ids, NDArray[np.bool_], Ids]:
    """The same order by sorting one number an edge, which is several times as fast as sorting an order of edges."""
    sources, relations, missing, targets = columns
    entity_bits, relation_bits = bits
    packed = sources.astype(np.int64) << relation_bits | relations
    packed = (packed << 1 | missing) << entity_bits | targets
    packed.sort()
    targets = (packed & ((1 << entity_bits) - 1)).astype(np.int32)
    packed >>= entity_bits
    missing, pairs = (packed & 1).astype(bool), packed >> 1
    sources = (pairs >> relation_bits).astype(np.int32)
    return sources, (pairs & ((1 << relation_bits) - 1)).astype(np.int32), missing, targets


def _changes(column: Ids) -> NDArray[np.bool_]:
    """Whether each value differs from the one before it; the first one does."""
    return np.append(True, column[1:] != column[:-1])[: len(column)]


def _row_starts(rows: Ids, count: int) -> Positions:
    """Where each of `count` rows begins among sorted row numbers, and where the last one ends."""
    return np.searchsorted(rows, np.arange(count + 1)).astype(np.int64)
