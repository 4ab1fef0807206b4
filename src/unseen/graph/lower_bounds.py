"""Many binary searches at a time, each in its own part of a sorted array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Places = NDArray[np.int64]


def lower_bounds(low: Places, end: Places, is_before: Callable[[Places], NDArray[np.bool_]]) -> Places:
    """For each search the first place from `low` on that is not before what is looked for; `end` if there is none.

    `is_before` says it of one place for each search; it is asked for places before the last `end` only.
    """
    last = max(int(end.max(initial=0)) - 1, 0)
    high = end
    while (open_ := low < high).any():
        middle = (low + high) >> 1
        before = open_ & is_before(np.minimum(middle, last))
        low, high = np.where(before, middle + 1, low), np.where(open_ & ~before, middle, high)
    return low
