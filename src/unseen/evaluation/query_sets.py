"""Which queries are asked on which graph, which of their answers are wanted, and which sample of them is drawn."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.query_table import QueryTable, Ragged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from unseen.datasets.dataset import Dataset
    from unseen.graph import KnowledgeGraph


@dataclass(frozen=True, eq=False)
class Questions:
    """Queries of one shape on one graph: `wanted` answers are ranked against the candidates that are no answers."""

    graph: KnowledgeGraph
    candidates: NDArray[np.int32]
    table: QueryTable
    wanted: Ragged
    others: Ragged

    def __len__(self) -> int:
        return len(self.table)

    def take(self, rows: NDArray[np.int64]) -> Questions:
        """Some of the questions."""
        wanted, others = self.wanted.take(rows), self.others.take(rows)
        return Questions(self.graph, self.candidates, self.table.take(rows), wanted, others)

    def batches(self, size: int) -> Iterator[Questions]:
        """The questions in order, `size` at a time."""
        for start in range(0, len(self), size):
            yield self.take(np.arange(start, min(start + size, len(self))))


def hard_answers(dataset: Dataset, split: str, shape: str) -> Questions:
    """The queries of a split with their hard answers wanted; in training, where nothing is missing, all answers."""
    table = dataset.tables[split][shape]
    wanted, others = (table.easy, Ragged.empty(len(table))) if split == "train" else (table.hard, table.easy)
    return Questions(dataset.observed(split), dataset.candidates(split), table, wanted, others)


def training_answers(dataset: Dataset, split: str, shape: str) -> Questions:
    """The training queries on a split's larger graph, with all their answers there wanted."""
    table, answers = dataset.tables["train"][shape], dataset.training_answers[split][shape]
    return Questions(dataset.observed(split), dataset.candidates(split), table, answers, Ragged.empty(len(table)))


def sample(count: int, limit: int | None, seed: int, shape: str) -> NDArray[np.int64]:
    """Sorted positions of at most `limit` of `count` queries: chosen by seed and shape alone."""
    if limit is None or count <= limit:
        return np.arange(count)
    generator = np.random.default_rng([seed, zlib.crc32(shape.encode())])
    return np.sort(generator.permutation(count)[:limit])
