"""The stream of distinct candidate queries that satisfy the rules, in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.answering import BatchAnswerer
from unseen.datasets.edge_index import index_of
from unseen.datasets.sampling.branches import Branches
from unseen.datasets.sampling.grounding import Grounder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from unseen.datasets.query_table import QueryTable
    from unseen.datasets.sampling.selection_rules import SelectionRules, SplitGraphs

    Ids = NDArray[np.int32]

REMEMBERED = 4_000_000
"""Candidates that are remembered when they fail, so that they are not answered again."""


class CandidateStream:
    """Candidates of one shape in the order of their numbers, none twice; `key` chooses the random stream.

    Two candidates that differ only in the order of their branches are the same, except by the published
    rules. With `missing`, candidates are grounded over so many missing links.
    """

    def __init__(self, graphs: SplitGraphs, rules: SelectionRules, key: int, missing: int = -1) -> None:
        index = index_of(graphs.complete, graphs.observed)
        self._rules, self._key, self._missing = rules, key, missing
        self._grounder = Grounder(index, rules.shape, rules.compatible)
        self._answerer = BatchAnswerer(index, rules.shape)
        self._branches = Branches(rules.shape)
        self._seen: set[bytes] = set()
        self.drawn = 0

    @property
    def largest_batch(self) -> int:
        """How many candidates to draw at once at most."""
        return self._answerer.batch_size

    def draw(self, count: int) -> QueryTable:
        """The new acceptable queries among the next `count` candidates."""
        slots, grounded = self._grounder.draw(self._key, self.drawn, count, self._missing)
        self.drawn += count
        return self._judged(slots[grounded])

    def everything_else(self, ways: int) -> Iterator[QueryTable] | None:
        """All acceptable queries not seen so far, if there are at most so many ways to ground the shape."""
        slots = self._grounder.everything(ways)
        if slots is None:
            return None
        size = self.largest_batch
        return (self._judged(slots[start : start + size]) for start in range(0, len(slots), size))

    def _judged(self, slots: Ids) -> QueryTable:
        written = slots if self._rules.compatible else self._branches.canonical(slots)
        distinct = ~self._branches.repeated(written)
        slots, keys = slots[distinct], _row_keys(written[distinct])
        fresh = self._unseen(keys)
        slots = slots[fresh]
        found = self._answerer.answer(slots)
        accepted = np.flatnonzero(self._rules.accepted(found))
        if len(self._seen) > REMEMBERED:
            self._forget([keys[row] for row in fresh], accepted)
        return self._rules.table(slots[accepted], found.take(accepted))

    def _unseen(self, keys: list[bytes]) -> list[int]:
        """The rows of keys that were not met before, here or earlier."""
        rows = []
        for row, key in enumerate(keys):
            if key not in self._seen:
                self._seen.add(key)
                rows.append(row)
        return rows

    def _forget(self, keys: list[bytes], accepted: NDArray[np.int64]) -> None:
        failed = set(range(len(keys))).difference(accepted.tolist())
        self._seen.difference_update(keys[row] for row in failed)


def _row_keys(slots: Ids) -> list[bytes]:
    """The bytes of each row."""
    rows: list[bytes] = np.ascontiguousarray(slots).view(f"V{slots.dtype.itemsize * slots.shape[1]}")[:, 0].tolist()
    return rows
