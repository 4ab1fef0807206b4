"""The part of a graph around chosen entities: their edges among each other, by target.

Hubs are not walked over: an edge of a hub is met at its other end. Only edges between two hubs are looked for, pair by
pair. Cost: the edges of the entities that are not hubs, and a search for each pair of hubs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.lookups import first_edge, place_near
from unseen.rules.pushing import FREE, place_of_key, table_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency

    Ids = NDArray[np.int32]
    Masses = NDArray[np.float64]

HUB = 2048
"""Edges from which on an entity is a hub."""
MOST_HUBS = 512
"""Hubs that a part has."""


class GraphPart(NamedTuple):
    """Entities, and the directed edges between them, those that lead to one entity together."""

    entities: Ids
    degrees: Ids
    """Edges that lead to each entity in the whole graph."""
    offsets: Ids
    """Where the edges that lead to each entity begin, and where the last ones end."""
    sources: Ids
    """Places in `entities`."""
    relations: Ids


def part_around(adjacency: Adjacency, ranked: Ids, most_nodes: int, most_edges: int) -> GraphPart:
    """The part of the first of `ranked`, without repeats, as many as the limits allow.

    Entities that are not hubs have at most `most_edges` edges together, so a part has at most twice as many.
    """
    chosen = _chosen(adjacency, ranked.astype(np.int32), most_nodes, most_edges)
    return GraphPart(*_induced(adjacency, chosen))


@compiled
@no_type_check
def _chosen(adjacency, ranked, most_nodes, most_edges):
    """The entities of a part, the first ones first; one whose edges are too many for what is left is left out."""
    chosen, count, hubs, edges = np.empty(min(most_nodes, len(ranked)), np.int32), 0, 0, 0
    seen = np.full(table_size(len(ranked)), FREE, np.int32)
    for entity in ranked:
        if count == len(chosen):
            break
        place = place_of_key(seen, entity)
        if seen[place] != FREE:
            continue
        seen[place] = entity
        degree = first_edge(adjacency, entity + 1) - first_edge(adjacency, entity)
        if degree > HUB:
            hubs += 1
            if hubs > MOST_HUBS:
                continue
        elif edges + degree > most_edges:
            continue
        else:
            edges += degree
        chosen[count] = entity
        count += 1
    return chosen[:count]


@compiled
@no_type_check
def _induced(adjacency, entities):
    keys = np.full(table_size(len(entities)), FREE, np.int32)
    numbers = np.empty(len(keys), np.int32)
    degrees = np.empty(len(entities), np.int32)
    for number in range(len(entities)):
        place = place_of_key(keys, entities[number])
        keys[place], numbers[place] = entities[number], number
        degrees[number] = first_edge(adjacency, entities[number] + 1) - first_edge(adjacency, entities[number])
    table, hubs = (keys, numbers), np.flatnonzero(degrees > HUB).astype(np.int32)
    offsets, nothing = np.zeros(len(entities) + 1, np.int32), np.empty(0, np.int32)
    _walk(adjacency, entities, degrees, hubs, table, offsets[1:], nothing, nothing)
    for number in range(len(entities)):
        offsets[number + 1] += offsets[number]
    sources, relations = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    _walk(adjacency, entities, degrees, hubs, table, offsets[:-1].copy(), sources, relations)
    return entities, degrees, offsets, sources, relations


@inner
@no_type_check
def _walk(adjacency, entities, degrees, hubs, table, ends, sources, relations):
    """Meet every edge of the part once: count those to each target or, with columns for them, write them down."""
    keys, numbers = table
    near, near_relation, writes = adjacency.near, adjacency.near_relation, len(sources) > 0
    for number in range(len(entities)):
        if degrees[number] > HUB:
            continue
        begin = first_edge(adjacency, entities[number])
        for edge in range(begin, begin + degrees[number]):
            place = place_of_key(keys, near[edge])
            if keys[place] == FREE:
                continue
            other = numbers[place]
            if writes:
                sources[ends[number]], relations[ends[number]] = other, near_relation[edge] ^ 1
            ends[number] += 1
            if degrees[other] > HUB:
                if writes:
                    sources[ends[other]], relations[ends[other]] = number, near_relation[edge]
                ends[other] += 1
    for hub in hubs:
        end = first_edge(adjacency, entities[hub] + 1)
        for other in hubs:
            edge = place_near(adjacency, entities[hub], entities[other])
            while 0 <= edge < end and near[edge] == entities[other]:
                if writes:
                    sources[ends[hub]], relations[ends[hub]] = other, near_relation[edge] ^ 1
                ends[hub] += 1
                edge += 1
