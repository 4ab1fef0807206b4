"""A dataset small enough to check by brute force: a random graph, split, with random queries of a few shapes."""

from __future__ import annotations

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.split import inductive_split
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.shapes import SHAPES, Shape
from unseen.logic.traverse import answers

NUM_ENTITIES, NUM_RELATIONS, NUM_TRIPLES = 40, 3, 600
TYPES = ("1p", "2p", "2i", "2u", "2in", "pni")


def small_dataset(queries: int = 20, types: tuple[str, ...] = TYPES, seed: int = 3) -> Dataset:
    """Graphs and queries with their answers; every test query has a hard answer."""
    generator = np.random.default_rng(seed)
    dataset = Dataset("small-175", inductive_split(_graph(generator), 175, seed=1), manifest={"ratio": 175})
    tables = {
        split: {name: _table(dataset, split, SHAPES[name], queries, generator) for name in types}
        for split in ("train", "test")
    }
    larger = {name: _answers(dataset.observed("test"), table) for name, table in tables["train"].items()}
    return dataset.with_queries(tables, {"test": larger})


def _graph(generator: np.random.Generator) -> KnowledgeGraph:
    heads, tails = generator.integers(0, NUM_ENTITIES, (2, NUM_TRIPLES))
    relations = generator.integers(0, NUM_RELATIONS, NUM_TRIPLES)
    return KnowledgeGraph(heads, relations, tails, Vocabulary.numbered(NUM_ENTITIES, NUM_RELATIONS))


def _table(dataset: Dataset, split: str, shape: Shape, count: int, generator: np.random.Generator) -> QueryTable:
    slots, easy, hard = [], [], []
    entities = dataset.candidates(split)
    while len(slots) < count:
        row = [
            int(generator.choice(entities)) if kind == "e" else int(generator.integers(0, 2 * NUM_RELATIONS))
            for kind in shape.slots
        ]
        known, true = (_on(graph, shape, row) for graph in (dataset.observed(split), dataset.complete(split)))
        missing = np.setdiff1d(true, known)
        if len(known) and (split == "train" or len(missing)):
            slots, easy, hard = [*slots, row], [*easy, known], [*hard, missing]
    return QueryTable(shape, np.array(slots, np.int32), Ragged.from_rows(easy), Ragged.from_rows(hard))


def _on(graph: KnowledgeGraph, shape: Shape, row: list[int]) -> np.ndarray:
    """Answers among the entities that have an edge, as published answers are."""
    return np.intersect1d(answers(graph, shape.fill(row)), graph.connected_entities)


def _answers(graph: KnowledgeGraph, table: QueryTable) -> Ragged:
    return Ragged.from_rows([_on(graph, table.shape, row) for row in table.slots.tolist()])
