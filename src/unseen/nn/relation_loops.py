"""The compiled loops that find which relations share an entity; they hold no lock of Python's."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.nn.kernels.cpu_loops import compiled


@compiled
@no_type_check
def count_ends(heads, tails, counts):
    """How many edges begin or end at each entity; an entity numbered -1 is left out."""
    for edge in range(len(heads)):
        if heads[edge] >= 0:
            counts[heads[edge]] += 1
        if tails[edge] >= 0:
            counts[tails[edge]] += 1


@compiled
@no_type_check
def fill_ends(heads, relations, tails, directed, cursor, slots):
    """Write each directed relation into the row of its source; `directed` is [way, relation]."""
    for edge in range(len(heads)):
        head, relation, tail = heads[edge], relations[edge], tails[edge]
        if head >= 0:
            slots[cursor[head]] = directed[0, relation]
            cursor[head] += 1
        if tail >= 0:
            slots[cursor[tail]] = directed[1, relation]
            cursor[tail] += 1


@compiled
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
