"""Fitting a calibration to the validation queries of a dataset, or of several so that it carries over to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unseen.benchmark.answering import answer_table
from unseen.evaluation.questions import sample
from unseen.methods.calibration import Calibration, Frequencies, calibration_error, fit_curve, group_of
from unseen.training.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


def fit_across(
    method: Estimator,
    datasets: Sequence[Dataset],
    queries_per_type: int,
    *,
    split: str = "valid",
    progress: Progress | None = None,
) -> Calibration:
    """One calibration for several graphs; `about` says how well the curves of all others fit each of them."""
    found = {
        dataset.name: observed_frequencies(method, dataset, queries_per_type, split=split, progress=progress)
        for dataset in datasets
    }
    about = {"graphs": list(found), "split": split, "queries_per_type": queries_per_type}
    return Calibration(_curves(_together(found)), about | {"leave_one_out": leave_one_out(found)})


def leave_one_out(found: Mapping[str, Halves]) -> dict[str, dict[str, dict[str, float]]]:
    """For each graph and group of queries: what the curves fitted to all other graphs make of it.

    `error` is the expected calibration error; `expected` and `true` are numbers of answers, all queries together.
    """
    report: dict[str, dict[str, dict[str, float]]] = {}
    for name, own in found.items() if len(found) > 1 else ():
        others = Calibration(_curves(_together({other: halves for other, halves in found.items() if other != name})))
        report[name] = {
            group: calibration_error(others.curves[group], first.plus(second))
            for group, (first, second) in sorted(own.items())
            if group in others.curves
        }
    return report


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


def _together(found: Mapping[str, Halves]) -> Halves:
    """The frequencies of several graphs added up; each has about as many queries."""
    total: Halves = {}
    for halves in found.values():
        for group, (first, second) in halves.items():
            before = total.get(group, (Frequencies(), Frequencies()))
            total[group] = (before[0].plus(first), before[1].plus(second))
    return total


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
