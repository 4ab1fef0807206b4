"""A small benchmark with every shape, answers and names, made without a sampler."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import SPLITS, Dataset
from unseen.datasets.published.betae import transductive_split
from unseen.datasets.published.npz import answered
from unseen.datasets.split import InductiveSplit, inductive_split
from unseen.graph import KnowledgeGraph
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from unseen.datasets.query_table import QueryTable, Ragged

QUERIES = 12
PARTS = ("train_graph", "valid_inference", "valid_predict", "test_inference", "test_predict")


def random_graph(seed: int = 0, entities: int = 60, relations: int = 5, edges: int = 500) -> KnowledgeGraph:
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, [entities, relations, entities], (edges, 3))
    names = [(f"/m/{head}", f"is {relation}", f"/m/{tail}") for head, relation, tail in rows]
    return KnowledgeGraph.from_triples(names)


@cache
def inductive_dataset() -> Dataset:
    return with_questions(Dataset("small", inductive_split(random_graph(), 175)))


@cache
def disjoint_dataset() -> Dataset:
    return with_questions(Dataset("apart", inductive_split(random_graph(), 175, disjoint=True)))


@cache
def transductive_dataset() -> Dataset:
    graph = random_graph(1)
    edges = np.stack([graph.heads, graph.relations, graph.tails], axis=1)
    split = transductive_split(graph.vocabulary, [edges[:350], edges[350:400], edges[400:]])
    whole = with_questions(Dataset("growing", split))
    return whole.with_queries(whole.tables, {}, kind="transductive")


def with_questions(dataset: Dataset) -> Dataset:
    """The dataset with random queries of every shape and what traversal says about them."""
    generator = np.random.default_rng(3)
    slots = {split: {name: _slots(dataset, split, name, generator) for name in SHAPES} for split in SPLITS}
    about = {"answers": "published", "kind": "disjoint" if dataset.split.disjoint else "inductive"}
    filled = answered(dataset, slots)
    return filled.with_queries(filled.tables, filled.training_answers, **about)


def _slots(dataset: Dataset, split: str, name: str, generator: np.random.Generator) -> np.ndarray:
    """Different queries, with entities of that split."""
    entities, relations = dataset.candidates(split), dataset.vocabulary.num_directed_relations
    columns = [
        generator.choice(entities, QUERIES) if kind == "e" else generator.integers(0, relations, QUERIES)
        for kind in SHAPES[name].slots
    ]
    return np.unique(np.stack(columns, axis=1).astype(np.int32), axis=0)


def assert_same(left: Dataset, right: Dataset, *, names: bool = True) -> None:
    """Two datasets hold the same graphs, queries and answers, in any order of queries."""
    assert_same_split(left.split, right.split)
    if names:
        assert left.vocabulary.entities.keys == right.vocabulary.entities.keys
        assert left.vocabulary.relations.keys == right.vocabulary.relations.keys
    for split in SPLITS:
        assert set(left.tables[split]) == set(right.tables[split])
        for name, table in left.tables[split].items():
            assert contents(table) == contents(right.tables[split][name]), (split, name)
    for side, answers in left.training_answers.items():
        for name, rows in answers.items():
            theirs = right.training_answers[side][name]
            assert aligned(left.tables["train"][name], rows) == aligned(right.tables["train"][name], theirs)


def assert_same_split(left: InductiveSplit, right: InductiveSplit) -> None:
    for part in PARTS:
        assert np.array_equal(getattr(left, part), getattr(right, part)), part
    assert left.disjoint == right.disjoint


def contents(table: QueryTable) -> dict[tuple[int, ...], tuple[list[int], list[int]]]:
    """Queries and their easy and hard answers."""
    rows = enumerate(table.slots.tolist())
    return {tuple(row): (table.easy.row(i).tolist(), table.hard.row(i).tolist()) for i, row in rows}


def aligned(table: QueryTable, rows: Ragged) -> dict[tuple[int, ...], list[int]]:
    """Queries and their row of answers."""
    return {tuple(query): rows.row(i).tolist() for i, query in enumerate(table.slots.tolist())}
