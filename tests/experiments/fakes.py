"""Cells as a grid would have filled them, with numbers of our choice, so that reports need no run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.cell_files import DONE, GridFolder
from experiments.grid import Cell
from unseen.evaluation.results import EPFO, NEGATION

if TYPE_CHECKING:
    from pathlib import Path

TYPES = (*EPFO, *NEGATION)
MADE_BY = {
    "command": "python -m experiments -o grid",
    "commit": "0123456789",
    "device": "a GPU",
    "run": "runs/x",
    "model": None,
}


def metrics(hits: float, **more: Any) -> dict[str, Any]:
    """Metrics of a type with this Hits@10 in percent."""
    part = hits / 100
    ranks = {"mrr": part / 2, "hits_at_1": part / 3, "hits_at_3": part / 2, "hits_at_10": part, "hits_at_100": 1.0}
    return {"queries": 50, "answers": 100, **ranks, **more}


def result(ratio: int, types: dict[str, Any] | None = None, training: dict[str, Any] | None = None) -> dict[str, Any]:
    about = {"dataset": str(ratio), "split": "test", "ratio": float(ratio), "seed": 0, "limit": 50, "candidates": 99}
    groups = {graph: {"types": some} for graph, some in (training or {}).items()}
    return {"seconds": 10.0, "made_by": MADE_BY, "result": {**about, "types": types or {}, "training_queries": groups}}


def fill(path: Path, method: str, ratio: int, hits: float, *, types: tuple[str, ...] = TYPES) -> GridFolder:
    """Every cell of a method on a ratio: each type has `hits` percent in everything."""
    folder = GridFolder(path)
    flat = {kind: metrics(hits) for kind in types}
    strata = {kind: metrics(hits, strata={"1": metrics(hits), "2": metrics(hits / 2)}) for kind in types}
    bins = [(number + 0.5) / 10 for number in range(10)]
    curve = {"ece": 0.0, "counts": [10] * 10, "probability": bins, "frequency": bins}
    count = {"mape": 0.5, "spearman": 0.9, "predicted": 3.0, "actual": 4.0}
    likely = {kind: metrics(hits, calibration=curve, answer_count=count) for kind in types}
    contents = {
        "test": result(ratio, flat),
        "test-alone": result(ratio, {kind: metrics(hits / 2) for kind in types}),
        "training": result(ratio, training={"train": flat, "test_all": flat}),
        "training-alone": result(ratio, training={"train": flat, "test_all": flat}),
        "easy-first": result(ratio, {kind: metrics(hits, roc_auc=hits / 100, roc_auc_queries=5) for kind in types}),
        "strata": result(ratio, strata),
        "probabilities": result(ratio, likely),
        "time": {
            "made_by": MADE_BY,
            "seconds_per_query": {kind: {"alone": 0.004, "batch": 0.001, "batch_size": 16} for kind in types},
        },
        "train": {
            "seconds": 60.0,
            "training": {"step": 1200, "seconds": 90.0},
            "settings": {"steps": 1200},
            "seed": 7,
            "training_commit": "fedcba9876",
            "peak_memory_gib": 4.5,
        },
    }
    for what, content in contents.items():
        folder.write(Cell(ratio, method, what), DONE, content)
    return folder
