"""Small compiled look-ups in an `Adjacency`, and samples that depend on a seed and a place alone."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled

NONE = -1


@compiled
@no_type_check
def row_of(adjacency, entity, relation):
    """The row of an entity and a directed relation; `NONE` if it has no such edge."""
    low, high = adjacency.entity_rows[entity], adjacency.entity_rows[entity + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if adjacency.row_relation[middle] < relation:
            low = middle + 1
        else:
            high = middle
    if low < end and adjacency.row_relation[low] == relation:
        return low
    return NONE


@compiled
@no_type_check
def first_edge(adjacency, entity):
    """Where the edges of an entity begin."""
    return adjacency.row_edges[adjacency.entity_rows[entity]]


@compiled
@no_type_check
def place_near(adjacency, entity, other):
    """The first place in `near` where `entity` has an edge to `other`; `NONE` if there is none."""
    low, high = first_edge(adjacency, entity), first_edge(adjacency, entity + 1)
    end = high
    while low < high:
        middle = (low + high) >> 1
        if adjacency.near[middle] < other:
            low = middle + 1
        else:
            high = middle
    if low < end and adjacency.near[low] == other:
        return low
    return NONE


@compiled
@no_type_check
def is_in_row(adjacency, row, target):
    """Whether a row has a target."""
    low, high = adjacency.row_edges[row], adjacency.row_edges[row + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if adjacency.targets[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low < end and adjacency.targets[low] == target


@compiled
@no_type_check
def mixed(value):
    """A 64-bit number that looks random, the same for the same value (splitmix64)."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
@no_type_check
def sampled_place(count, wanted, number, salt):
    """Place `number` of `wanted` distinct places among `count`: all if they suffice, else one from each stratum."""
    if count <= wanted:
        return number
    share = np.float64(mixed(np.uint64(salt) + np.uint64(number)) >> np.uint64(11)) / np.float64(1 << 53)
    return min(np.int64((number + share) * count / wanted), count - 1)
