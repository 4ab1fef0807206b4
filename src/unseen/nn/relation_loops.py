"""The compiled loops that find which relations share an entity; they hold no lock of Python's."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner


@inner
@no_type_check
def mark_shared(offsets, slots, shared):
    """Set bit b of row a for all pairs (a, b) of one row of `slots`, by pairs or by whole words, whichever is less."""
    words, one = shared.shape[1], np.uint64(1)
    last_row = np.full(len(shared), -1, np.int64)
    distinct = np.empty(len(shared), np.int64)
    members = np.zeros(words, np.uint64)
    for row in range(len(offsets) - 1):
        count = 0
        for place in range(offsets[row], offsets[row + 1]):
            slot = slots[place]
            if last_row[slot] != row:
                last_row[slot] = row
                distinct[count] = slot
                count += 1
        if count < words:
            for left in range(count):
                for right in range(count):
                    shared[distinct[left], distinct[right] >> 6] |= one << np.uint64(distinct[right] & 63)
        else:
            members[:] = 0
            for left in range(count):
                members[distinct[left] >> 6] |= one << np.uint64(distinct[left] & 63)
            for left in range(count):
                for word in range(words):
                    shared[distinct[left], word] |= members[word]


@compiled
@no_type_check
def mark_ends(heads, relations, tails, directed, num_entities, shared):
    """Set bit b of row a for all directed relations a and b that some entity is a head of.

    An entity numbered -1 is left out; `directed` is [way, relation].
    """
    offsets = np.zeros(num_entities + 2, np.int64)
    for edge in range(len(heads)):
        offsets[heads[edge] + 2] += heads[edge] >= 0
        offsets[tails[edge] + 2] += tails[edge] >= 0
    for entity in range(num_entities):
        offsets[entity + 2] += offsets[entity + 1]
    slots = np.empty(offsets[num_entities + 1], np.int32)
    for edge in range(len(heads)):
        head, relation, tail = heads[edge], relations[edge], tails[edge]
        if head >= 0:
            slots[offsets[head + 1]] = directed[0, relation]
            offsets[head + 1] += 1
        if tail >= 0:
            slots[offsets[tail + 1]] = directed[1, relation]
            offsets[tail + 1] += 1
    mark_shared(offsets[:-1], slots, shared)
