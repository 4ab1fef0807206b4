"""How often a body holds, and how often a head with it: estimated from the pairs that it connects.

For one body at most `samples` sources x are drawn evenly from all that have its first relation. From each, the body is
followed; where a step has more than `HUB` targets, so many are drawn and stand for the rest. Every end z counts once
for a source, however many paths lead there. The share of pairs (x, z) with head r(x, z) estimates the confidence: a
ratio of two sums over the same sample, exact as long as nothing is drawn. Where hubs are drawn, an end with many paths
is more likely to be seen than one with few; nothing corrects that. `estimating` says how samples and counts give
support and pairs.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.lookups import NONE, first_edge, mixed, place_near, row_of, sampled_place

HUB = 32
MOST_PAIRS = 1024
"""Steps that are made from one source at most."""


@compiled
@no_type_check
def measure_bodies(adjacency, bodies, head_offsets, heads, samples, seed, pairs, paths, hits, seen, stamp):
    """For each body the pairs that it connects, for each of its heads those with the head; scaled to all sources.

    `paths` counts the paths of bodies of one or two edges, also those that come back to where they were. `seen` are
    the pairs that were looked at. `stamp` has a place for each entity and a last one for the latest mark.
    """
    slots = np.full(len(adjacency.relation_rows), NONE, np.int64)
    base = np.int64(len(adjacency.relation_rows))
    mark = stamp[-1]
    steps = np.empty(3, np.int64)
    for body in range(len(bodies)):
        rest, length = bodies[body], 0
        steps[0] = rest % base
        rest //= base
        length = 1
        while rest > 0:
            steps[length] = rest % base - 1
            rest //= base
            length += 1
        for place in range(head_offsets[body], head_offsets[body + 1]):
            slots[heads[place]] = place
        low, high = adjacency.relation_rows[steps[0]], adjacency.relation_rows[steps[0] + 1]
        count = high - low
        drawn = min(count, samples)
        salt = mixed(np.uint64(bodies[body]) + np.uint64(seed) * np.uint64(0x632BE59BD9B4E019))
        for number in range(drawn):
            row = adjacency.rows_by_relation[low + sampled_place(count, drawn, number, salt)]
            x = adjacency.row_entity[row]
            mark += 1
            own = mixed(salt + np.uint64(x))
            begin, size = adjacency.row_edges[row], adjacency.row_edges[row + 1] - adjacency.row_edges[row]
            look = min(size, HUB)
            first_weight = size / look
            work = 0
            for i in range(look):
                y = adjacency.targets[begin + sampled_place(size, look, i, own)]
                if length == 1:
                    paths[body] += first_weight
                if y == x:
                    if length == 2:
                        paths[body] += first_weight * _row_size(adjacency, y, steps[1])
                    continue
                if length == 1:
                    seen[body] += 1
                    _count(adjacency, x, y, first_weight, body, slots, pairs, hits)
                    continue
                second = row_of(adjacency, y, steps[1])
                if second < 0:
                    continue
                begin2, size2 = (
                    adjacency.row_edges[second],
                    adjacency.row_edges[second + 1] - adjacency.row_edges[second],
                )
                look2 = min(size2, HUB)
                second_weight = first_weight * size2 / look2
                for j in range(look2):
                    w = adjacency.targets[begin2 + sampled_place(size2, look2, j, own + np.uint64(y))]
                    work += 1
                    if length == 2:
                        paths[body] += second_weight
                    if w in (x, y):
                        continue
                    if length == 2:
                        if stamp[w] != mark:
                            stamp[w] = mark
                            seen[body] += 1
                            _count(adjacency, x, w, second_weight, body, slots, pairs, hits)
                        continue
                    third = row_of(adjacency, w, steps[2])
                    if third < 0:
                        continue
                    begin3 = adjacency.row_edges[third]
                    size3 = adjacency.row_edges[third + 1] - begin3
                    look3 = min(size3, HUB)
                    third_weight = second_weight * size3 / look3
                    for k in range(look3):
                        z = adjacency.targets[begin3 + sampled_place(size3, look3, k, own + np.uint64(w))]
                        work += 1
                        if z not in (x, y, w) and stamp[z] != mark:
                            stamp[z] = mark
                            seen[body] += 1
                            _count(adjacency, x, z, third_weight, body, slots, pairs, hits)
                    if work > MOST_PAIRS:
                        break
                if work > MOST_PAIRS:
                    break
        scale = count / max(1, drawn)
        pairs[body] *= scale
        paths[body] *= scale
        for place in range(head_offsets[body], head_offsets[body + 1]):
            slots[heads[place]] = NONE
            hits[place] *= scale
    stamp[-1] = mark


@inner
@no_type_check
def _row_size(adjacency, entity, relation):
    row = row_of(adjacency, entity, relation)
    return adjacency.row_edges[row + 1] - adjacency.row_edges[row] if row >= 0 else 0


@inner
@no_type_check
def _count(adjacency, x, z, weight, body, slots, pairs, hits):
    """Count the pair, and the heads that it has."""
    pairs[body] += weight
    place = place_near(adjacency, x, z)
    if place < 0:
        return
    end = first_edge(adjacency, x + 1)
    while place < end and adjacency.near[place] == z:
        slot = slots[adjacency.near_relation[place]]
        if slot >= 0:
            hits[slot] += weight
        place += 1
