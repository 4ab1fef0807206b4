"""The compiled loops of tokenisation: over ranges of nodes, without Python's lock, so that threads share them out."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner

NONE = -1
"""In place of an anchor where a node has fewer than it may have."""


@compiled
@no_type_check
def count_ends(sources, targets, counts):
    """How many edges each node has, at either end."""
    for edge in range(len(sources)):
        counts[sources[edge]] += 1
        counts[targets[edge]] += 1


@compiled
@no_type_check
def fill_neighbours(sources, targets, cursor, neighbours):
    """Write each edge into the rows of both its ends; `cursor` says where a row goes on."""
    for edge in range(len(sources)):
        source, target = sources[edge], targets[edge]
        neighbours[cursor[source]] = target
        cursor[source] += 1
        neighbours[cursor[target]] = source
        cursor[target] += 1


@compiled
@no_type_check
def choose_tokens(low, high, offsets, tokens, priority, way, chosen):
    """For each node the tokens of one way (0, 1, or any if -1) that come first by priority, in ascending order."""
    most = chosen.shape[1]
    ranks = np.empty(len(priority), priority.dtype)
    for node in range(low, high):
        count = 0
        for place in range(offsets[node], offsets[node + 1]):
            if way < 0 or tokens[place] % 2 == way:
                ranks[count] = priority[tokens[place]]
                count += 1
        last = len(priority)
        if count > most:
            last = np.partition(ranks[:count], most - 1)[most - 1]
        slot = 0
        for place in range(offsets[node], offsets[node + 1]):
            token = tokens[place]
            if (way < 0 or token % 2 == way) and priority[token] <= last:
                chosen[node, slot] = token
                slot += 1


@compiled
@no_type_check
def spread_rank(low, high, offsets, neighbours, shares, restart, damping, ranks):
    """One step of PageRank: what neighbours pass on, and where the walk starts over."""
    for node in range(low, high):
        received = 0.0
        for place in range(offsets[node], offsets[node + 1]):
            received += shares[neighbours[place]]
        ranks[node] = (1 - damping) * restart[node] + damping * received


@compiled
@no_type_check
def pull_anchors(low, high, offsets, neighbours, anchors, begin, end, next_end):
    """The next level of the search: what neighbours found in the last level and a node has not, smallest first.

    Anchors of node v found in the last level stand at `begin[v]` ... `end[v]`; new ones go behind them.
    """
    most = anchors.shape[1]
    best = np.empty(most, anchors.dtype)
    for node in range(low, high):
        known = end[node]
        next_end[node] = known
        if known == most:
            continue
        found = 0
        for place in range(offsets[node], offsets[node + 1]):
            other = neighbours[place]
            for slot in range(begin[other], end[other]):
                anchor = anchors[other, slot]
                if not _is_among(anchors[node], known, anchor):
                    found = _keep_smallest(best, found, most - known, anchor)
        for slot in range(found):
            anchors[node, known + slot] = best[slot]
        next_end[node] = known + found


@compiled
@no_type_check
def _is_among(row, count, value):
    for slot in range(count):  # noqa: SIM110 - numba compiles loops, not generators
        if row[slot] == value:
            return True
    return False


@inner
@no_type_check
def _keep_smallest(best, count, most, value):
    """Insert a value into an ascending row without repeats; the new length."""
    if count == most and value >= best[count - 1]:
        return count
    place = 0
    while place < count and best[place] < value:
        place += 1
    if place < count and best[place] == value:
        return count
    grown = min(count + 1, most)
    for slot in range(grown - 1, place, -1):
        best[slot] = best[slot - 1]
    best[place] = value
    return grown


@compiled
@no_type_check
def settle_anchors(sources, targets, offsets, neighbours, anchors, distances, changed):
    """Let the ends of new edges tell each other, then all who learned something their neighbours, until nobody does.

    `changed` marks who has news to begin with, and in the end who learned anything.
    """
    for edge in range(len(sources)):
        if _learn(sources[edge], targets[edge], anchors, distances):
            changed[targets[edge]] = True
        if _learn(targets[edge], sources[edge], anchors, distances):
            changed[sources[edge]] = True
    waits = changed.copy()
    pending = list(np.flatnonzero(changed))
    place = 0
    while place < len(pending):
        node = pending[place]
        place += 1
        waits[node] = False
        for edge in range(offsets[node], offsets[node + 1]):
            other = neighbours[edge]
            if _learn(node, other, anchors, distances):
                changed[other] = True
                if not waits[other]:
                    waits[other] = True
                    pending.append(other)


@inner
@no_type_check
def _learn(node, other, anchors, distances):
    """Offer all anchors of a node to its neighbour; whether that one took any."""
    learned = False
    for slot in range(anchors.shape[1]):
        anchor = anchors[node, slot]
        if anchor == NONE:
            break
        if take(anchors[other], distances[other], anchor, distances[node, slot] + 1):
            learned = True
    return learned


@compiled
@no_type_check
def take(anchors, distances, anchor, distance):
    """Put an anchor where it belongs by distance, then number; False if the row is better without."""
    most = len(anchors)
    last = most - 1
    for slot in range(most):
        if anchors[slot] == anchor:
            if distances[slot] <= distance:
                return False
            last = slot
            break
    else:
        if anchors[last] != NONE and not _is_before(distance, anchor, distances[last], anchors[last]):
            return False
    place = last
    while place > 0 and (
        anchors[place - 1] == NONE or _is_before(distance, anchor, distances[place - 1], anchors[place - 1])
    ):
        anchors[place], distances[place] = anchors[place - 1], distances[place - 1]
        place -= 1
    anchors[place], distances[place] = anchor, distance
    return True


@inner
@no_type_check
def _is_before(distance, anchor, other_distance, other_anchor):
    return distance < other_distance or (distance == other_distance and anchor < other_anchor)
