"""Probabilities for new graphs: fitted to facts hidden from several other graphs at random.

A graph of a user's own lacks facts here and there. So some shares of each graph's facts are hidden, and questions are
asked that the whole graph has an answer to, whether or not a hidden fact is needed: as someone asks who does not know
what is missing. What is true is what the whole graph says, so a graph should be given as complete as it is to be had.
`leave_one_out` fits to all graphs but one and judges by that one. The graph is left out of the calibration only: the
network may have learned from it, and is then surer there than on a graph of one's own. It says what to expect
elsewhere only by graphs that the network has never seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unseen.datasets.answering import answer_table
from unseen.datasets.hidden_facts import hidden_dataset, hidden_facts
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.errors import TrainingError
from unseen.logic.shapes import SHAPES
from unseen.methods.known_facts import CEILING
from unseen.methods.training_settings import TYPES
from unseen.probability.query_calibration_fit import fit_query_calibration, judged
from unseen.probability.query_samples import QuerySample
from unseen.training.pretraining.world_queries import drawn_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.datasets.query_table import QueryTable
    from unseen.logic.method import Method
    from unseen.probability.query_calibration import QueryCalibration
    from unseen.training.pretraining.source_graphs import NamedGraph

    Progress = Callable[[str, int, int], None]

SHARES = (0.05, 0.1, 0.2)
"""Of a graph's facts, how many are hidden, in turns."""
AT_ONCE = 1 << 18
"""Memberships that are asked for together: few, so that progress is told often."""


def fit_across(
    method: Method,
    graphs: Sequence[NamedGraph],
    queries_per_type: int,
    *,
    types: Sequence[str] = TYPES,
    seed: int = 0,
    progress: Progress | None = None,
) -> QueryCalibration:
    """One calibration for several graphs; `about` says how well that of all others fits each of them."""
    questions = [(one.name, part) for one in graphs for part in _questions(one, queries_per_type, types, seed)]
    found: dict[str, list[QuerySample]] = {one.name: [] for one in graphs}
    total, done = sum(len(table) for _, (_, table) in questions), 0
    for name, (dataset, table) in questions:
        for sample in samples(method, dataset, table):
            found[name].append(sample)
            done += 1
            if progress is not None:
                progress(f"{name} {table.shape.name}", done, total)
    return fitted(found, ceiling_of_method(method), {"queries_per_type": queries_per_type, "seed": seed})


def fitted(found: Mapping[str, list[QuerySample]], ceiling: float, about: Mapping[str, Any]) -> QueryCalibration:
    """The calibration of what was seen of some graphs, and what it is worth; graphs without questions are left out."""
    asked = {name: samples for name, samples in found.items() if samples}
    if not asked:
        raise TrainingError(
            f"no question has an answer on {', '.join(found) or 'no graph'}: give larger graphs, or ask more questions"
        )
    every = [sample for samples in asked.values() for sample in samples]
    facts = {"graphs": list(asked), "hidden_shares": list(SHARES), "queries": len(every), **about}
    calibration = fit_query_calibration(every, ceiling)
    report = {"fitted": judged(calibration, every), "leave_one_out": leave_one_out(asked, ceiling)}
    return replace(calibration, about=facts | report)


def leave_one_out(found: Mapping[str, list[QuerySample]], ceiling: float) -> dict[str, dict[str, float]]:
    """For each graph, what the calibration fitted to all others makes of its predicted answers (see `judged`).

    A graph without questions is neither fitted to nor judged by.
    """
    report, asked = {}, {name: samples for name, samples in found.items() if samples}
    for name, own in asked.items() if len(asked) > 1 else ():
        others = [sample for other, samples in asked.items() if other != name for sample in samples]
        report[name] = judged(fit_query_calibration(others, ceiling), own)
    return report


def samples(method: Method, dataset: Dataset, table: QueryTable) -> Iterator[QuerySample]:
    """What a method says to questions on what is left of a graph, beside what the whole graph says."""
    observed = dataset.observed("test")
    truth = answer_table(dataset.complete("test"), table.shape, table.slots)
    size, ceiling = max(1, AT_ONCE // max(1, observed.num_entities)), ceiling_of_method(method)
    for start in range(0, len(table), size):
        rows = range(start, min(start + size, len(table)))
        queries = [table.query(row) for row in rows]
        execution = method.estimate(observed, queries)
        for row, query in zip(rows, queries, strict=True):
            memberships = execution.memberships(query)
            is_true = np.zeros(observed.num_entities, bool)
            is_true[truth.row(row)] = True
            true = torch.from_numpy(is_true).to(memberships.device)
            yield QuerySample.of(observed, query, memberships, true, ceiling)


def ceiling_of_method(method: Any) -> float:
    """The largest membership of what a projection of the method only predicts."""
    return float(getattr(getattr(method, "answering", method), "ceiling", CEILING))


def _questions(
    one: NamedGraph, queries_per_type: int, types: Sequence[str], seed: int
) -> Iterator[tuple[Dataset, QueryTable]]:
    """For each share of hidden facts what is left of a graph, and its part of the questions of each type."""
    for place, share in enumerate(SHARES):
        count = (queries_per_type + place) // len(SHARES)
        if count == 0:
            continue
        dataset = hidden_dataset(one.graph, hidden_facts(one.graph, share, seed + place), one.name)
        complete = dataset.complete("test")
        shapes = {SHAPES[name]: count for name in types}
        for table in drawn_tables(SplitGraphs("any", complete, complete), shapes, seed + place).values():
            if len(table):
                yield dataset, table
