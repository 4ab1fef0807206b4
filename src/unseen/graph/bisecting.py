"""Binary search in a part of a sorted array, for compiled loops."""

from __future__ import annotations

from typing import no_type_check

from unseen.graph.compiling import inner

NONE = -1


@inner
@no_type_check
def place_in(values, low, high, wanted):
    """The first place from `low` to before `high` that holds a value; `NONE` if there is none."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low < end and values[low] == wanted:
        return low
    return NONE
