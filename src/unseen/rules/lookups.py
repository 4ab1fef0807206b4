"""Small compiled look-ups in an `Adjacency`, and samples that depend on a seed and a place alone."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.bisecting import NONE, place_in
from unseen.graph.compiling import compiled, inner

__all__ = ["NONE", "first_edge", "is_in_row", "mixed", "place_near", "row_of", "sampled_place"]


@compiled
@no_type_check
def row_of(adjacency, entity, relation):
    """The row of an entity and a directed relation; `NONE` if it has no such edge."""
    return place_in(adjacency.row_relation, adjacency.entity_rows[entity], adjacency.entity_rows[entity + 1], relation)


@inner
@no_type_check
def first_edge(adjacency, entity):
    """Where the edges of an entity begin."""
    return adjacency.row_edges[adjacency.entity_rows[entity]]


@inner
@no_type_check
def place_near(adjacency, entity, other):
    """The first place in `near` where `entity` has an edge to `other`; `NONE` if there is none."""
    return place_in(adjacency.near, first_edge(adjacency, entity), first_edge(adjacency, entity + 1), other)


@inner
@no_type_check
def is_in_row(adjacency, row, target):
    """Whether a row has a target."""
    return place_in(adjacency.targets, adjacency.row_edges[row], adjacency.row_edges[row + 1], target) >= 0


@inner
@no_type_check
def mixed(value):
    """A 64-bit number that looks random, the same for the same value (splitmix64)."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@inner
@no_type_check
def sampled_place(count, wanted, number, salt):
    """Place `number` of `wanted` distinct places among `count`: all if they suffice, else one from each stratum."""
    if count <= wanted:
        return number
    share = np.float64(mixed(np.uint64(salt) + np.uint64(number)) >> np.uint64(11)) / np.float64(1 << 53)
    return min(np.int64((number + share) * count / wanted), count - 1)
