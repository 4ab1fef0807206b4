"""The numbers of a cell, type by type; a slice loses one type at the most, a process that is killed some seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from experiments.timing import seconds_per_query
from unseen.evaluation.collectors import (
    Collector,
    EstimateCollector,
    GroupCollector,
    RankCollector,
    RocCollector,
    changes,
    half_links,
    strata,
)
from unseen.evaluation.evaluator import measure
from unseen.evaluation.query_sets import Questions, hard_answers, sample, training_answers
from unseen.evaluation.results import EPFO, NEGATION, Result, TypeResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.cell_files import GridFolder, Json
    from experiments.clock import Clock
    from experiments.grid import Cell
    from unseen.datasets.dataset import Dataset

OFTEN = 2.0
"""Seconds between two writings of what was found; also written when something ends the work."""
SEED = 0
"""Of the samples of queries."""
TEST, TRAIN, LARGER = "test", "train", "test_all"
"""Test queries; training queries on the training graph; training queries on the test graph."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """One cell to measure: a method, asked at most `limit` queries a type."""

    folder: GridFolder
    cell: Cell
    dataset: Dataset
    method: Any
    limit: int

    def run(self, clock: Clock, tell: Callable[[str], None]) -> Json:
        """What the file of the cell holds, from its part on; `tell` is called with every type that is begun."""
        part = self._part()
        left = [(group, kind) for group, kind in _questions(self.cell, self.dataset) if kind not in part.get(group, {})]
        written = time.monotonic()
        try:
            for group, kind in left:
                clock.check()
                tell(kind)
                part.setdefault(group, {})[kind] = self._measured(group, kind)
                if time.monotonic() - written > OFTEN:
                    self.folder.write_part(self.cell, part)
                    written = time.monotonic()
        finally:
            self.folder.write_part(self.cell, part)
        return _written(self.cell, self.dataset, part, self.limit)

    def _part(self) -> Json:
        """What a slice before has left; only its time if it asked another number of queries."""
        part = self.folder.read_part(self.cell)
        if part.get("limit", self.limit) == self.limit:
            return part | {"limit": self.limit}
        return {"limit": self.limit, "cell_seconds": part.get("cell_seconds", 0.0)}

    def _measured(self, group: str, kind: str) -> Json:
        questions = _asked(self.dataset, group, kind)
        questions = questions.take(sample(len(questions), self.limit, SEED, kind))
        if self.cell.what == "time":
            return seconds_per_query(self.method, questions)
        found = measure(self.method, questions, _collectors(self.cell, self.dataset, questions))
        changed = {name: one for name, one in found.by_change.items() if name == "changed"}
        return replace(found, by_rank={}, by_change=changed).to_json()


def _questions(cell: Cell, dataset: Dataset) -> list[tuple[str, str]]:
    """The groups and types of queries of a cell."""
    groups = (TRAIN, LARGER) if cell.what.startswith("training") else (TEST,)
    tables = {group: dataset.tables["test" if group == TEST else "train"] for group in groups}
    return [(group, kind) for kind in (*EPFO, *NEGATION) for group in groups if len(tables[group].get(kind, ())) > 0]


def _asked(dataset: Dataset, group: str, kind: str) -> Questions:
    if group == LARGER:
        return training_answers(dataset, "test", kind)
    return hard_answers(dataset, group, kind)


def _collectors(cell: Cell, dataset: Dataset, questions: Questions) -> list[Collector]:
    """Ranks always; beside them what the experiment is about."""
    complete = dataset.complete("test")
    more: Mapping[str, Callable[[], list[Collector]]] = {
        "test": lambda: [RocCollector(), *_half_links(questions)],
        "test-alone": lambda: [RocCollector(), *_half_links(questions)],
        "training": lambda: [GroupCollector("by_change", changes)],
        "training-alone": lambda: [GroupCollector("by_change", changes)],
        "easy-first": lambda: [RocCollector()],
        "strata": lambda: [GroupCollector("strata", partial(strata, complete))],
        "probabilities": lambda: [EstimateCollector(complete, questions.candidates)],
    }
    return [RankCollector(), *more[cell.what]()]


def _half_links(questions: Questions) -> list[Collector]:
    return [GroupCollector("half_links", half_links)] if questions.table.shape.template == "e/r" else []


def _written(cell: Cell, dataset: Dataset, part: Json, limit: int) -> Json:
    """What the file of a cell holds: a result of `unseen evaluate`, or the times of each type."""
    if cell.what == "time":
        return {"seconds_per_query": part.get(TEST, {})}
    groups = {group: _types(part.get(group, {})) for group in (TEST, TRAIN, LARGER)}
    training = {group: types for group, types in groups.items() if group != TEST and types}
    result = Result(
        method=cell.method,
        dataset=dataset.name,
        split="test",
        types=groups[TEST],
        training_queries=training,
        ratio=float(cell.ratio),
        candidates=len(dataset.candidates("test")),
        seed=SEED,
        limit=limit,
    )
    return {"result": {key: value for key, value in result.to_json().items() if key not in ("provenance", "method")}}


def _types(found: Mapping[str, Json]) -> dict[str, TypeResult]:
    return {kind: TypeResult.from_json(value) for kind, value in found.items()}
