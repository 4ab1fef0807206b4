"""Fitting curves of probability to the validation queries of a dataset; `calibrating_across` is for other graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unseen.benchmark.answering import answer_table
from unseen.evaluation.questions import sample
from unseen.methods.calibration import Calibration, Frequencies, fit_curve
from unseen.methods.query_groups import group_of
from unseen.training.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.benchmark.dataset import Dataset
    from unseen.benchmark.query_table import QueryTable
    from unseen.logic.protocols import Estimator

    Halves = dict[str, tuple[Frequencies, Frequencies]]
    Progress = Callable[[str, int, int], None]

SEED = 1
"""Of the sample of queries; another one than validation has."""


def fit_calibration(
    method: Estimator,
    dataset: Dataset,
    queries_per_type: int,
    *,
    split: str = "valid",
    progress: Progress | None = None,
) -> Calibration:
    """The calibration of a method on a sample of a split's queries; truth is the complete graph."""
    halves = observed_frequencies(method, dataset, queries_per_type, split=split, progress=progress)
    types = list(dataset.tables[split])
    about = {"dataset": dataset.name, "split": split, "queries_per_type": queries_per_type, "types": types}
    return Calibration(_curves(halves), about)


def observed_frequencies(
    method: Estimator,
    dataset: Dataset,
    queries_per_type: int,
    *,
    split: str = "valid",
    progress: Progress | None = None,
) -> Halves:
    """How often entities of each membership are answers, by group of queries, in two halves."""
    tables = dataset.tables[split]
    if not tables:
        raise TrainingError(f"the dataset {dataset.name} has no {split} queries to calibrate on")
    halves: Halves = {}
    for done, (name, table) in enumerate(tables.items()):
        if progress is not None:
            progress(f"calibrating on {name}", done, len(tables))
        rows = sample(len(table), queries_per_type, SEED, name)
        _collect(method, dataset, split, table.take(rows), halves)
    return halves


def _curves(halves: Halves) -> dict[str, Any]:
    return {group: fit_curve(*both) for group, both in sorted(halves.items())}


def _collect(method: Estimator, dataset: Dataset, split: str, table: QueryTable, halves: Halves) -> None:
    """Add the memberships of a table's queries to their group, alternately to its two halves."""
    graph, candidates = dataset.observed(split), dataset.candidates(split)
    truth = answer_table(dataset.complete(split), table.shape, table.slots)
    size = max(1, (1 << 22) // max(1, graph.num_entities))
    for start in range(0, len(table), size):
        rows = range(start, min(start + size, len(table)))
        queries = [table.query(row) for row in rows]
        memberships = method.estimate(graph, queries).stacked(queries)[:, torch.from_numpy(candidates.astype(np.int64))]
        is_answer = _matrix([truth.row(row) for row in rows], candidates, graph.num_entities).to(memberships.device)
        for half, frequencies in enumerate(halves.setdefault(group_of(queries[0]), (Frequencies(), Frequencies()))):
            frequencies.add(memberships[half::2], is_answer[half::2])


def _matrix(rows: list[Any], candidates: Any, num_entities: int) -> torch.Tensor:
    """Which candidates are in each row's set."""
    members = np.zeros((len(rows), num_entities), bool)
    for line, row in zip(members, rows, strict=True):
        line[row] = True
    return torch.from_numpy(members[:, candidates])
