"""Bodies that connect the ends of known facts: which, and for how many facts of a relation.

For a fact r(x, z) every path from x to z over one or two other edges is found by intersecting the neighbours of both
ends; paths over three edges by trying pairs of neighbours. All entities of a path differ, so that no path uses the fact
itself. A body is a number: a + (b + 1) n + (c + 1) n², n one more than the directed relations; 0 in place of what is
missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.rules.compiling import compiled
from unseen.rules.lookups import first_edge, mixed, place_near, sampled_place
from unseen.rules.tally import EMPTY, grown, new_tally, slot_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency

MOST_NEIGHBOURS = 1000
"""Neighbours of the end with fewer of them that are looked at for paths over two edges."""


def row_starts(adjacency: Adjacency) -> NDArray[np.int64]:
    """Where the facts of each row begin if rows are put in order of their relation."""
    starts = np.zeros(len(adjacency.rows_by_relation) + 1, np.int64)
    np.cumsum(np.diff(adjacency.row_edges)[adjacency.rows_by_relation], out=starts[1:])
    return starts


@compiled
@no_type_check
def sampled_facts(adjacency, relation, starts, wanted, salt):
    """Sources and targets of at most `wanted` facts of a relation, spread evenly over all of them."""
    low, high = adjacency.relation_rows[relation], adjacency.relation_rows[relation + 1]
    total = starts[high] - starts[low]
    count = min(total, wanted)
    sources, targets = np.empty(count, np.int32), np.empty(count, np.int32)
    place = low
    for number in range(count):
        fact = starts[low] + sampled_place(total, count, number, salt)
        while starts[place + 1] <= fact:
            place += 1
        row = adjacency.rows_by_relation[place]
        sources[number] = adjacency.row_entity[row]
        targets[number] = adjacency.targets[adjacency.row_edges[row] + fact - starts[place]]
    return sources, targets


@compiled
@no_type_check
def count_bodies(adjacency, relation, sources, targets, salt):
    """Bodies of one or two edges, and for how many of the facts they hold; and how many facts were cut short."""
    keys, weights, last = new_tally(256)
    used = 0
    base = len(adjacency.relation_rows)
    for fact in range(len(sources)):
        x, z = sources[fact], targets[fact]
        if x == z:
            continue
        place = place_near(adjacency, x, z)
        end = first_edge(adjacency, x + 1)
        while place < end and adjacency.near[place] == z:
            if adjacency.near_relation[place] != relation:
                slot = slot_of(keys, np.int64(adjacency.near_relation[place]))
                if keys[slot] == EMPTY:
                    keys[slot] = adjacency.near_relation[place]
                    used += 1
                weights[slot] += 1.0
                if 2 * used > len(keys):
                    keys, weights, last = grown(keys, weights, last)
            place += 1
        size_x = first_edge(adjacency, x + 1) - first_edge(adjacency, x)
        size_z = first_edge(adjacency, z + 1) - first_edge(adjacency, z)
        turned = size_z < size_x
        few, many = (z, x) if turned else (x, z)
        start, size = first_edge(adjacency, few), min(size_x, size_z)
        looked = min(size, MOST_NEIGHBOURS)
        for number in range(looked):
            edge = start + sampled_place(size, looked, number, salt + np.uint64(fact))
            y = adjacency.near[edge]
            if y in (x, z):
                continue
            other = place_near(adjacency, many, y)
            if other < 0:
                continue
            other_end = first_edge(adjacency, many + 1)
            while other < other_end and adjacency.near[other] == y:
                if turned:
                    first, second = adjacency.near_relation[other], adjacency.near_relation[edge] ^ 1
                else:
                    first, second = adjacency.near_relation[edge], adjacency.near_relation[other] ^ 1
                key = np.int64(first) + (np.int64(second) + 1) * base
                slot = slot_of(keys, key)
                if keys[slot] == EMPTY:
                    keys[slot] = key
                    used += 1
                if last[slot] != fact:
                    last[slot] = fact
                    weights[slot] += np.float64(size) / np.float64(looked)
                if 2 * used > len(keys):
                    keys, weights, last = grown(keys, weights, last)
                other += 1
    kept = keys != EMPTY
    return keys[kept], weights[kept]


@compiled
@no_type_check
def count_long_bodies(adjacency, sources, targets, width, salt):
    """Bodies of three edges, found by trying `width` edges at each end, and for how many of the facts they hold."""
    keys, weights, last = new_tally(256)
    used = 0
    base = np.int64(len(adjacency.relation_rows))
    for fact in range(len(sources)):
        x, z = sources[fact], targets[fact]
        if x == z:
            continue
        start_x, start_z = first_edge(adjacency, x), first_edge(adjacency, z)
        size_x, size_z = first_edge(adjacency, x + 1) - start_x, first_edge(adjacency, z + 1) - start_z
        look_x, look_z = min(size_x, width), min(size_z, width)
        own = mixed(salt + np.uint64(fact))
        for left in range(look_x):
            edge = start_x + sampled_place(size_x, look_x, left, own)
            y = adjacency.near[edge]
            if y in (x, z):
                continue
            for right in range(look_z):
                other = start_z + sampled_place(size_z, look_z, right, own + np.uint64(1000))
                w = adjacency.near[other]
                if w in (x, y, z):
                    continue
                turned = first_edge(adjacency, w + 1) - first_edge(adjacency, w) < first_edge(
                    adjacency, y + 1
                ) - first_edge(adjacency, y)
                few, many = (w, y) if turned else (y, w)
                middle = place_near(adjacency, few, many)
                if middle < 0:
                    continue
                end = first_edge(adjacency, few + 1)
                while middle < end and adjacency.near[middle] == many:
                    step = adjacency.near_relation[middle] ^ 1 if turned else adjacency.near_relation[middle]
                    key = np.int64(adjacency.near_relation[edge])
                    key += (np.int64(step) + 1) * base
                    key += (np.int64(adjacency.near_relation[other] ^ 1) + 1) * base * base
                    slot = slot_of(keys, key)
                    if keys[slot] == EMPTY:
                        keys[slot] = key
                        used += 1
                    if last[slot] != fact:
                        last[slot] = fact
                        weights[slot] += 1.0
                    if 2 * used > len(keys):
                        keys, weights, last = grown(keys, weights, last)
                    middle += 1
    kept = keys != EMPTY
    return keys[kept], weights[kept]
