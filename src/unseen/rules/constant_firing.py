"""Rules with constants that fire from a source, counted as they are needed.

There are too many of them to keep, and few that a question touches.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import inner
from unseen.rules.evidence import SURE, note_rule
from unseen.rules.lookups import first_edge, row_of, sampled_place
from unseen.rules.path_firing import HUB
from unseen.rules.tally import EMPTY, doubled, grown, new_tally, slot_of

PROPERTIES, MEMBERS, KNOWN, FROM_BUDGET = 100, 200, 50, 20_000
"""Of one entity so many properties are looked at, of a property so many entities that have it, of a source so many
known targets; and rules that start from the source as a constant stop after so many candidates."""
LEAST = 2
"""Entities for which a rule with constants must hold."""
STRIDE = 1_000_003
"""A prime: its multiples visit all properties of a source, spread out."""


@inner
@no_type_check
def fire_to_constants(adjacency, index, source, relation, hidden, budget, state):
    """Rules r(x, c) <- a(x, d), counted as they are needed: what others with a property of the source lead to."""
    tally = state.counts
    reached = np.empty(256, np.int32)
    edges = _properties(adjacency, source)
    stride, work = (STRIDE if len(edges) % STRIDE else 1), 0
    for turn in range(len(edges)):
        edge = edges[turn * stride % len(edges)]
        body = adjacency.back_row[edge]
        if adjacency.row_relation[body] == relation ^ 1 and adjacency.targets[edge] == hidden:
            continue
        begin, total = adjacency.row_edges[body], adjacency.row_edges[body + 1] - adjacency.row_edges[body]
        drawn = min(total, MEMBERS)
        count = 0
        for member in range(drawn):
            other = adjacency.targets[begin + sampled_place(total, drawn, member, np.uint64(body))]
            work += 1
            if other == source:
                continue
            found = row_of(adjacency, other, relation)
            if found < 0:
                continue
            first = adjacency.row_edges[found]
            for place in range(first, min(adjacency.row_edges[found + 1], first + MEMBERS)):
                z = adjacency.targets[place]
                work += 1
                if tally[z] == 0:
                    if count == len(reached):
                        reached = doubled(reached)
                    reached[count] = z
                    count += 1
                tally[z] += 1
        for place in range(count):
            z = reached[place]
            if z != source and z != adjacency.targets[edge] and tally[z] >= LEAST:
                confidence = tally[z] * (total / drawn) / (total - 1 + index.smoothing)
                note_rule(z, -np.log1p(-min(confidence, SURE)), 1, state)
            tally[z] = 0
        if work > budget:
            break


@inner
@no_type_check
def _properties(adjacency, source):
    """Edges of a source, of each relation `PROPERTIES` at most."""
    first, last = adjacency.entity_rows[source], adjacency.entity_rows[source + 1]
    count = 0
    for row in range(first, last):
        count += min(adjacency.row_edges[row + 1] - adjacency.row_edges[row], PROPERTIES)
    edges = np.empty(count, np.int64)
    count = 0
    for row in range(first, last):
        low, size = adjacency.row_edges[row], adjacency.row_edges[row + 1] - adjacency.row_edges[row]
        looked = min(size, PROPERTIES)
        for number in range(looked):
            edges[count] = low + sampled_place(size, looked, number, np.uint64(source))
            count += 1
    return edges


@inner
@no_type_check
def fire_from_constants(adjacency, index, source, relation, hidden, budget, state):
    """Rules r(c, z) <- a(z, d) of the source as c, counted as they are needed: what its known targets share."""
    row = row_of(adjacency, source, relation)
    if row < 0:
        return
    begin, size = adjacency.row_edges[row], adjacency.row_edges[row + 1] - adjacency.row_edges[row]
    drawn = min(size, KNOWN)
    keys, counts, last = new_tally(256)
    used = 0
    for number in range(drawn):
        known = adjacency.targets[begin + sampled_place(size, drawn, number, np.uint64(row))]
        if known == hidden:
            continue
        low, high = first_edge(adjacency, known), first_edge(adjacency, known + 1)
        looked = min(high - low, PROPERTIES)
        for i in range(looked):
            edge = low + sampled_place(high - low, looked, i, np.uint64(known))
            body = np.int64(adjacency.back_row[edge])
            if body == row or adjacency.targets[edge] == source:
                continue
            slot = slot_of(keys, body)
            if keys[slot] == EMPTY:
                keys[slot] = body
                used += 1
            counts[slot] += 1.0
            if 2 * used > len(keys):
                keys, counts, last = grown(keys, counts, last)
    scale = size / max(1, drawn)
    slots, confidences = np.empty(used, np.int64), np.empty(used)
    chosen = 0
    for slot in range(len(keys)):
        if keys[slot] == EMPTY or counts[slot] < LEAST:
            continue
        total = adjacency.row_edges[keys[slot] + 1] - adjacency.row_edges[keys[slot]]
        slots[chosen] = slot
        confidences[chosen] = min(counts[slot] * scale, total) / (total + index.smoothing)
        chosen += 1
    work = 0
    for i in np.argsort(-confidences[:chosen]):
        body = keys[slots[i]]
        low, high = adjacency.row_edges[body], adjacency.row_edges[body + 1]
        weight = -np.log1p(-min(confidences[i], SURE))
        for edge in range(low, min(high, low + HUB)):
            z = adjacency.targets[edge]
            if z != source:
                note_rule(z, weight, 2, state)
        work += high - low
        if work > min(budget, FROM_BUDGET):
            break
