"""Defaults that depend on the dataset: the paper's hyper-parameters by ratio, and ours for large batches.

A setting that is given, by flag or file, always comes before a recipe's; the run folder says what was used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.benchmark.dataset import Dataset

OTHER_RATIO = 175
"""Whose row is taken for a dataset that does not say its ratio."""


class Row(NamedTuple):
    """What differs between ratios in the paper's tables; layers only with a GNN."""

    tokens: int
    dim: int
    epochs: int
    temperature: float
    layers: int = 3


WITHOUT_GNN = {
    106: Row(20, 400, 400, 1.0),
    113: Row(20, 400, 400, 1.0),
    122: Row(20, 400, 400, 1.0),
    134: Row(20, 400, 1000, 1.0),
    150: Row(20, 400, 1000, 0.5),
    175: Row(20, 400, 2000, 0.5),
    217: Row(20, 400, 2000, 0.5),
    300: Row(20, 400, 2000, 0.2),
    550: Row(10, 1000, 3000, 1.0),
}
WITH_GNN = {
    106: Row(20, 200, 600, 1.0, 5),
    113: Row(20, 200, 1000, 1.0, 5),
    122: Row(20, 200, 1000, 1.0, 5),
    134: Row(20, 200, 1000, 1.0, 5),
    150: Row(20, 200, 1000, 1.0, 5),
    175: Row(20, 200, 1000, 1.0, 3),
    217: Row(20, 200, 3000, 1.0, 3),
    300: Row(20, 200, 4000, 0.5, 3),
    550: Row(10, 400, 4000, 1.0, 3),
}
FINE_TUNING: dict[str, Any] = {
    "steps": 1000,
    "learning_rate": 1e-3,
    "schedule": "cosine",
    "warmup": 50,
    "average": 0.99,
    "validate_every": 100,
    "relation_memory": True,
}
"""For a model that has learned from other graphs already: minutes, small steps, and names to be remembered."""

PAPER_BATCH = 256
"""Triples in a batch; an epoch shows each triple once."""


def completed(method: str, dataset: Dataset, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a new run with what its recipe says for this dataset in place of general defaults."""
    if method != "nodepiece-qe":
        return dict(settings)
    gnn = bool(settings.get("gnn", False))
    triples = max(1, dataset.observed("train").num_triples)
    row = (WITH_GNN if gnn else WITHOUT_GNN)[_nearest_ratio(dataset)]
    recipe = _large_batch if settings.get("recipe") == "large-batch" else _paper
    return recipe(row, gnn, triples) | dict(settings)


def _paper(row: Row, gnn: bool, triples: int) -> dict[str, Any]:
    """The paper's table."""
    steps = -(-row.epochs * triples // PAPER_BATCH)
    return {
        "tokens": row.tokens,
        "dim": row.dim,
        "layers": row.layers,
        "temperature": row.temperature,
        "batch_size": PAPER_BATCH,
        "negatives": 128,
        "learning_rate": 5e-4 if gnn else 1e-4,
        "steps": steps,
    }


def _large_batch(row: Row, gnn: bool, triples: int) -> dict[str, Any]:
    """The paper's model, with all nodes as negatives; what a step asks for, it cannot see.

    It fits a small graph within a thousand steps, so it is held back by dropout, of tokens too where a GNN reads them,
    and by batches that hide a good part of the graph: chosen on the validation queries of 175.
    """
    shared = {
        "tokens": row.tokens,
        "layers": row.layers,
        "temperature": 1.0,
        "negatives": 0,
        "hidden_targets": 1.0,
        "learning_rate": 1e-3,
        "schedule": "cosine",
        "warmup": 200,
        "validate_every": 250,
        "average": 0.999,
    }
    if not gnn:
        size = max(64, min(4096, triples // 8))
        return shared | {"dim": row.dim, "batch_size": size, "dropout": 0.2, "steps": 3000}
    size = max(64, min(12_288, triples // 4))
    wide = max(400, row.dim)
    return shared | {"dim": wide, "batch_size": size, "dropout": 0.4, "token_dropout": 0.3, "steps": 2500}


def _nearest_ratio(dataset: Dataset) -> int:
    """The paper's ratio that is nearest to the dataset's."""
    ratio = dataset.manifest.get("ratio")
    wanted = ratio if isinstance(ratio, int | float) else OTHER_RATIO
    return min(WITHOUT_GNN, key=lambda known: abs(known - wanted))
