"""A compiled table that counts numbers: open addressing in plain arrays, which grow when half full."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.lookups import mixed

EMPTY = -1


@compiled
@no_type_check
def new_tally(size):
    """An empty table of a power of two places: keys, weights, and who counted last."""
    return np.full(size, EMPTY, np.int64), np.zeros(size, np.float64), np.full(size, EMPTY, np.int64)


@inner
@no_type_check
def slot_of(keys, key):
    """Where a key is, or where it would go."""
    mask = len(keys) - 1
    slot = np.int64(mixed(key) & np.uint64(mask))
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@inner
@no_type_check
def grown(keys, weights, last):
    """The same entries in a table twice as large."""
    more_keys, more_weights, more_last = new_tally(2 * len(keys))
    for slot in range(len(keys)):
        if keys[slot] != EMPTY:
            place = slot_of(more_keys, keys[slot])
            more_keys[place], more_weights[place], more_last[place] = keys[slot], weights[slot], last[slot]
    return more_keys, more_weights, more_last


@inner
@no_type_check
def doubled(values):
    """The values in an array of twice the size; copied one by one, because a slice takes seconds to compile."""
    more = np.empty(2 * len(values), values.dtype)
    for place in range(len(values)):
        more[place] = values[place]
    return more
