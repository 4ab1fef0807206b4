"""Distinct numbers by sorting.

`np.unique` of integers looks each up in a hash table, which takes up to a hundred times longer for millions of numbers,
and no other thread runs meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.integer)


def distinct(numbers: NDArray[Number]) -> NDArray[Number]:
    """Each number once, sorted."""
    ordered = np.sort(numbers, axis=None)
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    found: NDArray[Number] = ordered[is_first]
    return found


def union(first: NDArray[Number], second: NDArray[Number]) -> NDArray[Number]:
    """Each number of both once, sorted."""
    return distinct(np.concatenate([first, second]))
