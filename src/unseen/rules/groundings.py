"""Edges of a graph that ground a rule: an example of it, or the way in which it leads to one answer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.lookups import NONE, is_in_row, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency

MOST_FACTS = 5000
MOST_STEPS, MOST_LOOKS = 20_000, 2_000_000
"""Places that are looked at for one body, and for all bodies of one answer."""


def grounded(adjacency: Adjacency, steps: Sequence[int], source: int, target: int) -> tuple[int, ...]:
    """The entities of a path from source to target over the given directed relations; empty if there is none."""
    padded = np.full((1, 3), NONE, np.int32)
    padded[0, : len(steps)] = steps
    found = all_grounded(adjacency, padded, source, target, 1)
    return found[0][1] if found else ()


def all_grounded(
    adjacency: Adjacency, steps: NDArray[np.int32], source: int, target: int, most: int
) -> list[tuple[int, tuple[int, ...]]]:
    """The first `most` of some bodies that lead from source to target: their places, and the entities of one path.

    Bodies are rows of three directed relations, -1 behind the last.
    """
    numbers, paths = np.empty(most, np.int64), np.empty((most, 4), np.int64)
    count = _find_paths(adjacency, steps, source, target, numbers, paths)
    lengths = (steps[numbers[:count]] >= 0).sum(axis=1) + 1
    rows = zip(numbers[:count].tolist(), paths.tolist(), lengths.tolist(), strict=False)
    return [(number, tuple(path[:length])) for number, path, length in rows]


def example(adjacency: Adjacency, head: int, steps: Sequence[int]) -> tuple[int, ...]:
    """The entities of a path for which the head holds too; empty if none of the first facts has one."""
    for source, target in islice(_facts(adjacency, head), MOST_FACTS):
        path = () if source == target else grounded(adjacency, steps, source, target)
        if path:
            return path
    return ()


def _facts(adjacency: Adjacency, head: int) -> Iterator[tuple[int, int]]:
    """Sources and targets of the facts of a directed relation."""
    for row in adjacency.rows_by_relation[adjacency.relation_rows[head] : adjacency.relation_rows[head + 1]]:
        source = int(adjacency.row_entity[row])
        for target in adjacency.targets[adjacency.row_edges[row] : adjacency.row_edges[row + 1]]:
            yield source, int(target)


@compiled
@no_type_check
def _find_paths(adjacency, steps, source, target, numbers, paths):
    """The rules (rows of steps, -1 behind the last) that a path grounds, in order, and their paths; how many."""
    found, looks = 0, 0
    for number in range(len(steps)):
        length = 3
        while length > 1 and steps[number, length - 1] < 0:
            length -= 1
        is_found, more = _find_path(adjacency, steps[number], length, source, target, paths[found])
        looks += more
        if is_found:
            numbers[found] = number
            found += 1
        if found == len(numbers) or looks > MOST_LOOKS:
            break
    return found


@inner
@no_type_check
def _find_path(adjacency, steps, length, source, target, path):
    """Whether such a path exists, and how many places were looked at; its entities are written to `path`.

    It is looked for from both ends, from the one with fewer edges to the other. All its entities differ.
    """
    path[0], path[length] = source, target
    first, last = row_of(adjacency, source, steps[0]), row_of(adjacency, target, steps[length - 1] ^ 1)
    if first < 0 or last < 0 or source == target:
        return False, 1
    if length == 1:
        return is_in_row(adjacency, first, target), 1
    if length == 2:
        path[1], looks = _shared(adjacency, first, last, source, target, NONE)
        return path[1] >= 0, looks
    turned = _size(adjacency, last) < _size(adjacency, first)
    near, far = (last, first) if turned else (first, last)
    middle, looks = steps[1] ^ 1 if turned else steps[1], 0
    for edge in range(adjacency.row_edges[near], adjacency.row_edges[near + 1]):
        y = adjacency.targets[edge]
        looks += 1
        row = row_of(adjacency, y, middle)
        if row < 0 or y == source or y == target:
            continue
        w, more = _shared(adjacency, row, far, source, target, y)
        looks += more
        if w >= 0:
            path[1], path[2] = (w, y) if turned else (y, w)
            return True, looks
        if looks > MOST_STEPS:
            break
    return False, looks


@inner
@no_type_check
def _size(adjacency, row):
    return adjacency.row_edges[row + 1] - adjacency.row_edges[row]


@inner
@no_type_check
def _shared(adjacency, left, right, first, second, third):
    """The first target that two rows share, none of three entities, or `NONE`; and how many places were looked at."""
    few, many = (left, right) if _size(adjacency, left) <= _size(adjacency, right) else (right, left)
    for edge in range(adjacency.row_edges[few], adjacency.row_edges[few + 1]):
        y = adjacency.targets[edge]
        if y != first and y != second and y != third and is_in_row(adjacency, many, y):
            return np.int64(y), edge - adjacency.row_edges[few] + 1
    return np.int64(NONE), _size(adjacency, few)
