"""Bodies that connect the ends of known facts: which, and for how many facts of a relation.

For a fact r(x, z) every path from x to z over one or two other edges is found by intersecting the neighbours of both
ends; paths over three edges by trying pairs of neighbours. All entities of a path differ, so that no path uses the fact
itself. A body is a number: a + (b + 1) n + (c + 1) n², n one more than the directed relations; 0 in place of what is
missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.lookups import first_edge, mixed, place_near, sampled_place
from unseen.rules.tally import EMPTY, grown, slot_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency

MOST_NEIGHBOURS = 1000
"""Neighbours of the end with fewer of them that are looked at for paths over two edges."""
MOST_PATHS, MOST_LONG_PATHS = 20_000, 5_000
"""Paths of one fact that are counted; only facts between hubs with many relations to the same neighbours have more."""
MOST_BODIES = 1 << 20
"""Bodies of one head that are counted: a table of 50 MB."""
STRIDE = 1009
"""A prime above the numbers of neighbours and of pairs of edges: its multiples visit all of them, spread out."""


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


@inner
@no_type_check
def noted(table, used, key, fact, weight):
    """The table and how many keys it has, after a fact has counted for a body, once; a full table takes no new one.

    A weight above 1 stands for neighbours that were not looked at. It holds for a body that was met once; one that was
    met again would hardly have been missed, and counts as 1.
    """
    keys, weights, last = table
    slot = slot_of(keys, key)
    if keys[slot] == EMPTY:
        if used >= MOST_BODIES:
            return table, used
        keys[slot] = key
        used += 1
    if last[slot] >> 1 != fact:
        last[slot] = 2 * fact
        weights[slot] += weight
    elif last[slot] == 2 * fact:
        last[slot] += 1
        weights[slot] -= weight - 1
    if 2 * used > len(keys):
        return grown(keys, weights, last), used
    return table, used


@compiled
@no_type_check
def count_bodies(adjacency, relation, sources, targets, low, high, salt, table, used):
    """Bodies of one or two edges of the facts from `low` to before `high`, added to a table of `used` keys.

    A fact counts once for a body. It stops after `MOST_PATHS` paths, in an order that favours none.
    """
    base = len(adjacency.relation_rows)
    for fact in range(low, high):
        x, z = sources[fact], targets[fact]
        if x == z:
            continue
        place = place_near(adjacency, x, z)
        end = first_edge(adjacency, x + 1)
        while place < end and adjacency.near[place] == z:
            if adjacency.near_relation[place] != relation:
                table, used = noted(table, used, np.int64(adjacency.near_relation[place]), fact, 1.0)
            place += 1
        size_x = first_edge(adjacency, x + 1) - first_edge(adjacency, x)
        size_z = first_edge(adjacency, z + 1) - first_edge(adjacency, z)
        turned = size_z < size_x
        few, many = (z, x) if turned else (x, z)
        start, size = first_edge(adjacency, few), min(size_x, size_z)
        looked = min(size, MOST_NEIGHBOURS)
        weight = np.float64(size) / np.float64(looked)
        paths = 0
        for turn in range(looked):
            number = turn * STRIDE % looked
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
                table, used = noted(table, used, np.int64(first) + (np.int64(second) + 1) * base, fact, weight)
                paths += 1
                other += 1
            if paths > MOST_PATHS:
                break
    return table, used


@compiled
@no_type_check
def count_long_bodies(adjacency, sources, targets, low, high, width, salt, table, used):
    """Bodies of three edges, found by trying `width` edges at each end, added to a table like those of two."""
    base = np.int64(len(adjacency.relation_rows))
    for fact in range(low, high):
        x, z = sources[fact], targets[fact]
        if x == z:
            continue
        start_x, start_z = first_edge(adjacency, x), first_edge(adjacency, z)
        size_x, size_z = first_edge(adjacency, x + 1) - start_x, first_edge(adjacency, z + 1) - start_z
        look_x, look_z = min(size_x, width), min(size_z, width)
        own = mixed(salt + np.uint64(fact))
        paths = 0
        for turn in range(look_x * look_z):
            number = turn * STRIDE % (look_x * look_z)
            edge = start_x + sampled_place(size_x, look_x, number // look_z, own)
            other = start_z + sampled_place(size_z, look_z, number % look_z, own + np.uint64(1000))
            y, w = adjacency.near[edge], adjacency.near[other]
            if y in (x, z) or w in (x, y, z):
                continue
            size_y = first_edge(adjacency, y + 1) - first_edge(adjacency, y)
            turned = first_edge(adjacency, w + 1) - first_edge(adjacency, w) < size_y
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
                table, used = noted(table, used, key, fact, 1.0)
                paths += 1
                middle += 1
            if paths > MOST_LONG_PATHS:
                break
    return table, used
