"""Defaults that depend on the size of the training graph: the paper's hyper-parameters, and ours for large batches.

A setting that is given, by flag or file, always comes before a recipe's; the run folder says what was used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.datasets.dataset import Dataset

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
PAPER_EPOCHS, PAPER_EPOCHS_WITH_GNN = 2000, 1000
TOKENS, DIM, LAYERS = 20, 400, 3


def completed(method: str, dataset: Dataset, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a new run, with the recipe's values for this dataset where `settings` has none."""
    if method != "nodepiece-qe":
        return dict(settings)
    gnn = bool(settings.get("gnn", False))
    triples = max(1, dataset.observed("train").num_triples)
    recipe = _large_batch if settings.get("recipe") == "large-batch" else _paper
    return recipe(gnn, triples) | dict(settings)


def _paper(gnn: bool, triples: int) -> dict[str, Any]:
    """The paper's settings for its reference dataset, with as many epochs on a graph of any size."""
    return {
        "tokens": TOKENS,
        "dim": DIM // 2 if gnn else DIM,
        "layers": LAYERS,
        "temperature": 1.0 if gnn else 0.5,
        "batch_size": PAPER_BATCH,
        "negatives": 128,
        "learning_rate": 5e-4 if gnn else 1e-4,
        "steps": -(-(PAPER_EPOCHS_WITH_GNN if gnn else PAPER_EPOCHS) * triples // PAPER_BATCH),
    }


def _large_batch(gnn: bool, triples: int) -> dict[str, Any]:
    """The paper's model with all nodes as negatives; a step never sees the links that it asks for.

    It fits a small graph within a thousand steps. Dropout, of tokens too where a GNN reads them, and batches that hide
    a large part of the graph keep it from overfitting; both were chosen on the validation queries of 175.
    """
    shared = {
        "tokens": TOKENS,
        "dim": DIM,
        "layers": LAYERS,
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
        return shared | {"batch_size": max(64, min(4096, triples // 8)), "dropout": 0.2, "steps": 3000}
    size = max(64, min(12_288, triples // 4))
    return shared | {"batch_size": size, "dropout": 0.4, "token_dropout": 0.3, "steps": 2500}
