"""Batches, drawn by step number alone: a run that is resumed needs no memory of what it drew.

What a batch is belongs to the method: mixed queries with their answers here, triples in `link_batches`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unseen.errors import ConfigError
from unseen.methods.beta_e.training_questions import AnsweredQueries
from unseen.methods.training_settings import parsed_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.datasets.dataset import Dataset
    from unseen.datasets.query_table import QueryTable
    from unseen.logic.algebra import Query
    from unseen.methods.beta_e.beta_e import BetaE
    from unseen.methods.beta_e.beta_e_settings import BetaEConfig
    from unseen.methods.beta_e.training_questions import TrainingQuestions
    from unseen.methods.fuzzy_gnn.neural_projector import NeuralProjector
    from unseen.methods.gnn_qe.gnn_qe_settings import GnnQeConfig
    from unseen.training.distributed import Workers

    Ids = NDArray[np.int32]


class BatchSource(Protocol):
    """What a method learns from, step by step."""

    def prepared(self, step: int, workers: Workers) -> Any:
        """This process's share of a step's batch, ready for the device."""
        ...

    def to_json(self, step: int) -> list[dict[str, Any]]:
        """The whole batch of a step for people to look at."""
        ...


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
        self._lengths = np.array([len(table) for table in self.tables])

    def drawn(self, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the tables that a step's queries are of, and their rows in these."""
        generator = np.random.default_rng([self.seed, step])
        types = generator.choice(len(self.tables), self.batch_size, p=self._shares)
        return types, generator.integers(0, self._lengths[types])

    def __getitem__(self, step: int) -> Batch:
        """The batch of a step."""
        types, rows = self.drawn(step)
        chosen = [(self.tables[kind], int(row)) for kind, row in zip(types, rows, strict=True)]
        queries = [table.query(row) for table, row in chosen]
        return Batch(queries, [table.easy.row(row) for table, row in chosen])


@dataclass(frozen=True, eq=False)
class QuerySource:
    """A `BatchSource` of mixed queries on the training graph."""

    method: NeuralProjector
    dataset: Dataset
    batches: Batches

    @classmethod
    def of(cls, method: NeuralProjector, dataset: Dataset, config: GnnQeConfig) -> QuerySource:
        """The queries that the settings ask for."""
        weights, size = parsed_weights(config.type_weights), config.batch_size
        tables = dataset.tables["train"]
        return cls(method, dataset, Batches(tables, config.types, weights, batch_size=size, seed=config.seed))

    def prepared(self, step: int, workers: Workers) -> Any:
        """This process's share of a step's batch, ready for the device."""
        whole = self.batches[step]
        own = whole.share(workers.rank, workers.size)
        everything = None if workers.size == 1 else whole.queries
        return self.method.prepare(self.dataset.observed("train"), own.queries, own.answers, everything)

    def to_json(self, step: int) -> list[dict[str, Any]]:
        """The whole batch of a step for people to look at."""
        return self.batches[step].to_json()


@dataclass(frozen=True, eq=False)
class AnswerSource:
    """A `BatchSource` of mixed queries, each with one of its answers: batch i depends on the seed and i only."""

    questions: TrainingQuestions
    batches: Batches

    @classmethod
    def of(cls, method: BetaE, dataset: Dataset, config: BetaEConfig) -> AnswerSource:
        """The queries that the settings ask for, with all their answers on the method's device."""
        weights, size = parsed_weights(config.type_weights), config.batch_size
        batches = Batches(dataset.tables["train"], config.types, weights, batch_size=size, seed=config.seed)
        tables = [
            AnsweredQueries(table.shape.template, table.slots, table.easy.offsets, table.easy.values)
            for table in batches.tables
        ]
        return cls(method.training_questions(dataset.observed("train"), tables), batches)

    def prepared(self, step: int, workers: Workers) -> Any:
        """This process's share of a step's batch, ready for the device."""
        draws = np.random.default_rng([self.batches.seed, step, 1]).random(self.batches.batch_size)
        return self.questions.batch(*self.batches.drawn(step), draws, slice(workers.rank, None, workers.size))

    def to_json(self, step: int) -> list[dict[str, Any]]:
        """The whole batch of a step for people to look at."""
        return self.batches[step].to_json()


def seed_of(seed: int, step: int) -> int:
    """The seed of everything random in one step, apart from what is in its batch."""
    return int(np.random.SeedSequence([seed, step, 1]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _chosen(tables: Mapping[str, QueryTable], types: Sequence[str], weights: Mapping[str, float]) -> list[QueryTable]:
    for name in [*types, *weights]:
        if name not in tables:
            raise ConfigError(f"the dataset has no training queries of type {name}; it has {', '.join(tables)}")
    return [tables[name] for name in types if len(tables[name])]
