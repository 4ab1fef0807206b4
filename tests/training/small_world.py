"""A dataset that a tiny network learns in seconds, and a command that trains on it in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.split import InductiveSplit
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import answers

ROOT = Path(__file__).resolve().parents[2]
NUM_ENTITIES = 24
TYPES = ("1p", "2p", "2i", "2in")
SHARED: dict[str, Any] = {
    "steps": 6,
    "batch_size": 6,
    "dim": 4,
    "layers": 2,
    "hidden_dim": 4,
    "validate_every": 3,
    "validation_queries": 5,
    "calibration_queries": 5,
    "checkpoint_every": 2,
    "log_every": 1,
    "threads": 1,
    "device": "cpu",
}
TINY = SHARED | {"types": TYPES}
LINKS = SHARED | {"tokens": 3, "negatives": 5, "learning_rate": 0.01}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "gnn-qe": ("gnn-qe", TINY),
    "zero-shot": ("zero-shot", TINY | {"relation_layers": 2}),
    "nodepiece-qe": ("nodepiece-qe", LINKS | {"average": 0.9}),
    "nodepiece-qe with gnn": ("nodepiece-qe", LINKS | {"gnn": True, "dropout": 0.2, "hidden_targets": 0.5}),
    "betae": ("betae", {key: value for key, value in TINY.items() if key != "layers"} | {"negatives": 5}),
    "nodepiece-qe with anchors": ("nodepiece-qe", LINKS | {"anchors": 6, "anchors_per_node": 2, "negatives": 0}),
}
"""Every method that can be trained, with settings for seconds."""


def small_dataset() -> Dataset:
    """Two relations, one the inverse of the other: a network can learn to predict what is missing."""
    random = np.random.default_rng(0)
    heads, tails = random.integers(0, NUM_ENTITIES, (2, 60)).astype(np.int32)
    forward = np.stack([heads, np.zeros(60, np.int32), tails], axis=1)
    back = np.stack([tails, np.ones(60, np.int32), heads], axis=1)
    vocabulary = Vocabulary.of([f"e{number}" for number in range(NUM_ENTITIES)], ["leads", "follows"])
    split = InductiveSplit(
        vocabulary, np.concatenate([forward[:30], back[:30]]), forward[30:], back[30:], forward[:0], back[:0]
    )
    dataset = Dataset("small", split, manifest={"answers": "published"})
    tables = {name: {kind: _table(dataset, name, kind) for kind in TYPES} for name in ("train", "valid")}
    return dataset.with_queries(tables, {})


def _table(dataset: Dataset, split: str, kind: str) -> QueryTable:
    shape, random = SHAPES[kind], np.random.default_rng(len(split))
    limits = {"e": NUM_ENTITIES, "r": 4}
    slots, easy, hard = [], [], []
    while len(slots) < 12:
        row = [int(random.integers(limits[slot])) for slot in shape.slots]
        known, true = (_on(graph, kind, row) for graph in (dataset.observed(split), dataset.complete(split)))
        missing = np.setdiff1d(true, known)
        if len(known) if split == "train" else len(missing):
            slots, easy, hard = [*slots, row], [*easy, known], [*hard, missing]
    return QueryTable(shape, np.array(slots, np.int32), Ragged.from_rows(easy), Ragged.from_rows(hard))


def _on(graph: KnowledgeGraph, kind: str, row: list[int]) -> np.ndarray:
    return np.intersect1d(answers(graph, SHAPES[kind].fill(row)), graph.connected_entities)


def training_command(folder: Path, case: str = "gnn-qe", **settings: Any) -> list[str]:
    """A command that trains in a fresh process."""
    code = (
        "from tests.training.small_world import CASES, small_dataset\n"
        "from unseen.training.session import train\n"
        f"method, tiny = CASES[{case!r}]\n"
        f"train(method, small_dataset(), {str(folder)!r}, tiny | {settings!r}, resume=True)"
    )
    return [sys.executable, "-c", code]
