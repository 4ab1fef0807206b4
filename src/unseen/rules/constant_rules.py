"""Rules with constants, r(x, c) <- a(x, d) and r(x, c) <- a(x, y): counted from the members of r(x, c).

The members x of a head are a row of the adjacency. Each member's other edges are properties; those that many members
share are bodies. How many entities have a property is the length of its row, so only the numerator is ever a sample.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.rules.lookups import mixed, sampled_place
from unseen.rules.tally import EMPTY, doubled, grown, new_tally, slot_of

MOST_EDGES = 200
"""Edges of one member that are looked at."""


@compiled
@no_type_check
def count_properties(adjacency, head_rows, members, keep, smoothing, least, seed):
    """The best bodies of every head: (head row, body, support, confidence), a body being a row or -1 - relation."""
    found_heads, found_bodies = np.empty(1024, np.int32), np.empty(1024, np.int32)
    found_support, found_confidence = np.empty(1024, np.float32), np.empty(1024, np.float32)
    found = 0
    properties = np.int64(len(adjacency.row_relation))
    for place in range(len(head_rows)):
        head = head_rows[place]
        begin, size = adjacency.row_edges[head], adjacency.row_edges[head + 1] - adjacency.row_edges[head]
        drawn = min(size, members)
        salt = mixed(np.uint64(head) + np.uint64(seed) * np.uint64(0x632BE59BD9B4E019))
        relation = adjacency.row_relation[head] ^ 1
        constant = adjacency.row_entity[head]
        keys, weights, last = new_tally(256)
        used = 0
        for number in range(drawn):
            x = adjacency.targets[begin + sampled_place(size, drawn, number, salt)]
            for row in range(adjacency.entity_rows[x], adjacency.entity_rows[x + 1]):
                own = adjacency.row_relation[row]
                if own == relation:
                    continue
                slot = slot_of(keys, properties + own)
                if keys[slot] == EMPTY:
                    keys[slot] = properties + own
                    used += 1
                weights[slot] += 1.0
                if 2 * used > len(keys):
                    keys, weights, last = grown(keys, weights, last)
            low, high = adjacency.row_edges[adjacency.entity_rows[x]], adjacency.row_edges[adjacency.entity_rows[x + 1]]
            look = min(high - low, MOST_EDGES)
            weight = (high - low) / max(1, look)
            for i in range(look):
                edge = low + sampled_place(high - low, look, i, salt + np.uint64(x))
                body = np.int64(adjacency.back_row[edge])
                if body == head or adjacency.targets[edge] == constant:
                    continue
                slot = slot_of(keys, body)
                if keys[slot] == EMPTY:
                    keys[slot] = body
                    used += 1
                weights[slot] += weight
                if 2 * used > len(keys):
                    keys, weights, last = grown(keys, weights, last)
        scale = size / drawn
        prior = size / (adjacency.relation_rows[relation + 1] - adjacency.relation_rows[relation] + smoothing)
        bodies, supports, confidences = np.empty(used, np.int64), np.empty(used), np.empty(used)
        chosen = 0
        for slot in range(len(keys)):
            body = keys[slot]
            if body == EMPTY or weights[slot] < least:
                continue
            if body < properties:
                total = adjacency.row_edges[body + 1] - adjacency.row_edges[body]
            else:
                other = body - properties
                total = adjacency.relation_rows[other + 1] - adjacency.relation_rows[other]
            support = min(weights[slot] * scale, size, total)
            confidence = support / (total + smoothing)
            if confidence <= prior:
                continue
            bodies[chosen], supports[chosen], confidences[chosen] = body, support, confidence
            chosen += 1
        order = np.argsort(-confidences[:chosen], kind="mergesort")[:keep]
        while found + len(order) > len(found_heads):
            found_heads, found_bodies = doubled(found_heads), doubled(found_bodies)
            found_support, found_confidence = doubled(found_support), doubled(found_confidence)
        for i in order:
            found_heads[found] = head
            found_bodies[found] = bodies[i] if bodies[i] < properties else properties - bodies[i] - 1
            found_support[found], found_confidence[found] = supports[i], confidences[i]
            found += 1
    return found_heads[:found], found_bodies[:found], found_support[:found], found_confidence[:found]
