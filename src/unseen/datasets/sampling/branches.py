"""Branches of a shape that may change places: queries that differ in nothing but their order are the same question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.algebra import And, Or, Query, walk
from unseen.logic.shapes import slot_values, template_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from unseen.logic.shapes import Shape

    Ids = NDArray[np.int32]


@dataclass(frozen=True)
class Branches:
    """The groups of equal branches of a shape, innermost first: `groups[i]` is [branch, slot]."""

    shape: Shape

    @cached_property
    def groups(self) -> list[NDArray[np.int64]]:
        """The slots of branches with the same structure under the same *and* or *or*."""
        return [group for query in walk(self.shape.skeleton) for group in _equal_branches(query)]

    def canonical(self, slots: Ids) -> Ids:
        """The queries with their branches in one fixed order, the same for every way of writing them."""
        result = slots.copy()
        for group in self.groups:
            result[:, group] = _sorted_rows(result[:, group])
        return result

    def repeated(self, slots: Ids) -> NDArray[np.bool_]:
        """For each query, whether two branches of the same structure are identical."""
        found = np.zeros(len(slots), bool)
        for group in self.groups:
            for left in range(len(group)):
                for right in range(left + 1, len(group)):
                    found |= (slots[:, group[left]] == slots[:, group[right]]).all(axis=1)
        return found


def _equal_branches(query: Query) -> Iterator[NDArray[np.int64]]:
    if not isinstance(query, And | Or):
        return
    by_template: dict[str, list[list[int]]] = {}
    for part in query.parts:
        slots = [int(slot) for slot in slot_values(part)]
        by_template.setdefault(template_of(part), []).append(slots)
    for group in by_template.values():
        if len(group) > 1:
            yield np.array(group, np.int64)


def _sorted_rows(blocks: Ids) -> Ids:
    """Blocks [query, branch, slot] with the branches of each query in ascending order of their slots."""
    for slot in reversed(range(blocks.shape[2])):
        order = np.argsort(blocks[:, :, slot], axis=1, kind="stable")
        blocks = np.take_along_axis(blocks, order[:, :, None], axis=1)
    return blocks
