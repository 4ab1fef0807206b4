"""What a dataset holds, in the tables of the paper: graphs, numbers of queries, training queries with new answers.

As in the paper, relations and triples are counted in both directions, and the graphs of validation and test include the
training graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import SPLITS

if TYPE_CHECKING:
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.query_table import Ragged


@dataclass(frozen=True)
class SplitCounts:
    """One row of the paper's table of graphs."""

    relations: int
    entities: int
    train_entities: int
    train_triples: int
    valid_entities: int
    valid_triples: int
    valid_predict_triples: int
    test_entities: int
    test_triples: int
    test_predict_triples: int


@dataclass(frozen=True)
class NewAnswers:
    """Training queries of a type, and how many have other answers on the observed graphs of validation and test."""

    queries: int
    valid: int
    test: int


@dataclass(frozen=True)
class DatasetStatistics:
    """The three tables; the second is `queries[split][type]`."""

    name: str
    graphs: SplitCounts
    queries: dict[str, dict[str, int]]
    new_answers: dict[str, NewAnswers]


def dataset_statistics(dataset: Dataset) -> DatasetStatistics:
    """Count everything; answers of training queries are compared as sets."""
    queries = {split: {name: len(table) for name, table in dataset.tables[split].items()} for split in SPLITS}
    return DatasetStatistics(dataset.name, _graph_counts(dataset), queries, _new_answers(dataset))


def _graph_counts(dataset: Dataset) -> SplitCounts:
    entities = {split: len(dataset.candidates(split)) for split in SPLITS}
    triples = {split: 2 * dataset.observed(split).num_triples for split in SPLITS}
    predict = {split: 2 * dataset.complete(split).num_triples - triples[split] for split in SPLITS}
    return SplitCounts(
        relations=dataset.vocabulary.num_directed_relations,
        entities=dataset.vocabulary.num_entities,
        train_entities=entities["train"],
        train_triples=triples["train"],
        valid_entities=entities["valid"],
        valid_triples=triples["valid"],
        valid_predict_triples=predict["valid"],
        test_entities=entities["test"],
        test_triples=triples["test"],
        test_predict_triples=predict["test"],
    )


def _new_answers(dataset: Dataset) -> dict[str, NewAnswers]:
    counted = {}
    for name, table in dataset.tables["train"].items():
        sides = [dataset.training_answers.get(side, {}).get(name) for side in ("valid", "test")]
        changed = [0 if side is None else number_of_changed_rows(table.easy, side) for side in sides]
        counted[name] = NewAnswers(len(table), *changed)
    return counted


def number_of_changed_rows(left: Ragged, right: Ragged) -> int:
    """How many rows of two lists of sorted sets differ."""
    same_length = np.flatnonzero(left.lengths == right.lengths)
    first, second = left.take(same_length), right.take(same_length)
    rows = np.repeat(np.arange(len(first)), first.lengths)
    changed = np.unique(rows[first.values != second.values])
    return len(left) - len(same_length) + len(changed)
