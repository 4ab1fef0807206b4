"""Batches of mixed queries, drawn by step number alone: a run that is resumed needs no memory of what it drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.training.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.benchmark.query_table import QueryTable
    from unseen.logic.algebra import Query

    Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Batch:
    """Queries and all their answers on the training graph."""

    queries: Sequence[Query]
    answers: Sequence[Ids]

    def __len__(self) -> int:
        return len(self.queries)

    def share(self, rank: int, size: int) -> Batch:
        """Every `size`-th query from `rank` on: what one of several processes computes."""
        return Batch(self.queries[rank::size], self.answers[rank::size])

    def to_json(self) -> list[dict[str, Any]]:
        """The batch for people to look at."""
        pairs = zip(self.queries, self.answers, strict=True)
        return [{"query": str(query), "answers": answers.tolist()} for query, answers in pairs]


class Batches:
    """An endless sequence of batches: batch i depends on the seed and i only.

    Every query of a wanted type is equally likely, times the weight of its type.
    """

    def __init__(
        self,
        tables: Mapping[str, QueryTable],
        types: Sequence[str],
        weights: Mapping[str, float],
        *,
        batch_size: int,
        seed: int,
    ) -> None:
        self.tables = _chosen(tables, types, weights)
        self.batch_size, self.seed = batch_size, seed
        mass = np.array([len(table) * weights.get(table.shape.name, 1.0) for table in self.tables])
        if not mass.sum() > 0:
            raise ConfigError("no training query is left: all types have weight zero or no queries")
        self._shares = mass / mass.sum()

    def __getitem__(self, step: int) -> Batch:
        """The batch of a step."""
        generator = np.random.default_rng([self.seed, step])
        types = generator.choice(len(self.tables), self.batch_size, p=self._shares)
        rows = generator.integers(0, [len(self.tables[kind]) for kind in types])
        chosen = [(self.tables[kind], int(row)) for kind, row in zip(types, rows, strict=True)]
        queries = [table.query(row) for table, row in chosen]
        return Batch(queries, [table.easy.row(row) for table, row in chosen])


def seed_of(seed: int, step: int) -> int:
    """The seed of everything random in one step, apart from what is in its batch."""
    return int(np.random.SeedSequence([seed, step, 1]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _chosen(tables: Mapping[str, QueryTable], types: Sequence[str], weights: Mapping[str, float]) -> list[QueryTable]:
    for name in [*types, *weights]:
        if name not in tables:
            raise ConfigError(f"the dataset has no training queries of type {name}; it has {', '.join(tables)}")
    return [tables[name] for name in types if len(tables[name])]
