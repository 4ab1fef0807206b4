"""Edges of a graph that ground a rule: an example of it, or the way in which it leads to one answer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.rules.lookups import is_in_row, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.rules.adjacency import Adjacency

MOST_FACTS = 5000
MOST_STEPS = 20_000


def grounded(adjacency: Adjacency, steps: Sequence[int], source: int, target: int) -> tuple[int, ...]:
    """The entities of a path from source to target over the given directed relations; empty if there is none."""
    path = np.empty(len(steps) + 1, np.int64)
    found = _find_path(adjacency, np.asarray(steps, np.int64), source, target, path)
    return tuple(path.tolist()) if found else ()


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
def _find_path(adjacency, steps, source, target, path):
    """Whether such a path exists; its entities are written to `path`."""
    path[0], path[len(steps)] = source, target
    first = row_of(adjacency, source, steps[0])
    if first < 0:
        return False
    if len(steps) == 1:
        return is_in_row(adjacency, first, target)
    work = 0
    for edge in range(adjacency.row_edges[first], adjacency.row_edges[first + 1]):
        y = adjacency.targets[edge]
        work += 1
        second = row_of(adjacency, y, steps[1])
        if second < 0 or y == source or y == target:
            continue
        path[1] = y
        if len(steps) == 2:
            if is_in_row(adjacency, second, target):
                return True
            continue
        for other in range(adjacency.row_edges[second], adjacency.row_edges[second + 1]):
            w = adjacency.targets[other]
            work += 1
            if w == source or w == y or w == target:
                continue
            third = row_of(adjacency, w, steps[2])
            if third >= 0 and is_in_row(adjacency, third, target):
                path[2] = w
                return True
        if work > MOST_STEPS:
            return False
    return False
