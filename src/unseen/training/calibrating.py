"""Fitting curves of probability to the validation queries of a dataset; `calibrating_across` is for other graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unseen.datasets.answering import answer_table
from unseen.errors import TrainingError
from unseen.evaluation.query_sets import sample
from unseen.logic.query_groups import group_of
from unseen.probability.calibration import Calibration, Frequencies, fit_curve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from unseen.datasets.dataset import Dataset
    from unseen.datasets.query_table import QueryTable
    from unseen.logic.protocols import Estimator
    from unseen.probability.calibration import Curve

    Halves = tuple[Frequencies, Frequencies]
    Progress = Callable[[str, int, int], None]

SEED = 1
"""Of the sample of queries; another one than validation has."""


def fit_calibration(
    method: Estimator,
    dataset: Dataset,
    queries_per_type: int,
    *,
    split: str = "valid",
    by_type: bool = False,
    progress: Progress | None = None,
) -> Calibration:
    """The calibration of a method on a sample of a split's queries; truth is the complete graph.

    With `by_type` each type has a curve of its own: for a method that answers each in another way.
    """
    tables = {name: table for name, table in dataset.tables[split].items() if len(table)}
    if not tables:
        raise TrainingError(f"the dataset {dataset.name} has no {split} queries to calibrate on")
    seen: dict[str, Halves] = {}
    for done, (name, table) in enumerate(tables.items()):
        if progress is not None:
            progress(f"calibrating on {name}", done, len(tables))
        rows = sample(len(table), queries_per_type, SEED, name)
        seen[name] = _observed(method, dataset, split, table.take(rows))
    about = {"dataset": dataset.name, "split": split, "queries_per_type": queries_per_type, "types": list(tables)}
    return Calibration(_curves(_grouped(seen, tables)), about, _curves(seen) if by_type else {})


def _grouped(seen: Mapping[str, Halves], tables: Mapping[str, QueryTable]) -> dict[str, Halves]:
    """What was seen of each type, added up by group of queries."""
    groups: dict[str, Halves] = {}
    for name, (first, second) in seen.items():
        group = group_of(tables[name].shape.skeleton)
        before = groups.get(group, (Frequencies(), Frequencies()))
        groups[group] = (before[0].plus(first), before[1].plus(second))
    return groups


def _curves(seen: Mapping[str, Halves]) -> dict[str, Curve]:
    return {name: fit_curve(*both) for name, both in seen.items()}


def _observed(method: Estimator, dataset: Dataset, split: str, table: QueryTable) -> Halves:
    """How often entities of each membership are answers, in two halves: of every other query of a batch."""
    graph, candidates = dataset.observed(split), dataset.candidates(split)
    truth = answer_table(dataset.complete(split), table.shape, table.slots)
    size = max(1, (1 << 22) // max(1, graph.num_entities))
    halves = (Frequencies(), Frequencies())
    for start in range(0, len(table), size):
        rows = range(start, min(start + size, len(table)))
        queries = [table.query(row) for row in rows]
        memberships = method.estimate(graph, queries).stacked(queries)[:, torch.from_numpy(candidates.astype(np.int64))]
        is_answer = _matrix([truth.row(row) for row in rows], candidates, graph.num_entities).to(memberships.device)
        for half, frequencies in enumerate(halves):
            frequencies.add(memberships[half::2], is_answer[half::2])
    return halves


def _matrix(rows: list[Any], candidates: Any, num_entities: int) -> torch.Tensor:
    """Which candidates are in each row's set."""
    members = np.zeros((len(rows), num_entities), bool)
    for line, row in zip(members, rows, strict=True):
        line[row] = True
    return torch.from_numpy(members[:, candidates])
