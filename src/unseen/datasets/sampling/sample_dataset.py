"""All queries of a dataset: every shape for training, validation and test, one task each, shared among threads."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, NamedTuple

from unseen.datasets.answering import answer_table
from unseen.datasets.dataset import SPLITS
from unseen.datasets.sampling.link_tables import is_one_link
from unseen.datasets.sampling.sample import Sample, SampleOptions, sample_queries
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.datasets.sampling.strata import sample_strata
from unseen.datasets.shared_work import in_threads
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.datasets.query_table import QueryTable, Ragged
    from unseen.logic.shapes import Shape

    Progress = Callable[[int, int], None]
    SpreadSampling = Callable[["SampleWork", Sequence["SampleTask"]], Iterable[tuple[int, "SampleOutcome"]]]

PAPER_COUNT, PAPER_NEGATION_COUNT = 50_000, 10_000
"""Queries a type in the paper's 175 % dataset; the second holds for negation in validation and test."""
HARD_PART = 10
"""By strata, one query for so many otherwise: the hardest are rare."""
PAPER_TRAINING_EDGES, PAPER_PREDICT_EDGES = 51_261, 14_346
"""Edges of the 175 % training graph, and those to predict in its validation graph."""


@dataclass(frozen=True)
class SamplePlan:
    """What to sample: shapes, and how many queries of each in each split.

    A count not given is the paper's, scaled to the graph by `default_count`; questions of one link are then all kept.
    """

    shapes: tuple[Shape, ...] = tuple(SHAPES.values())
    counts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    options: SampleOptions = field(default_factory=SampleOptions)

    def count(self, dataset: Dataset, split: str, shape: Shape) -> int | None:
        """How many queries of a shape in a split are wanted; nothing says all."""
        given = self.counts.get((split, shape.name))
        if given is not None:
            return given
        by_strata = self.options.hard and split != "train"
        if is_one_link(shape) and not by_strata:
            return None
        return default_count(dataset, split, shape) // (HARD_PART if by_strata else 1)


def default_count(dataset: Dataset, split: str, shape: Shape) -> int:
    """The paper's count at 175 %, less in proportion where there are fewer edges to ask for: at least ten, or none."""
    count = PAPER_NEGATION_COUNT if shape.has_negation and split != "train" else PAPER_COUNT
    edges = dataset.split.train_graph if split == "train" else getattr(dataset.split, f"{split}_predict")
    share = len(edges) / (PAPER_TRAINING_EDGES if split == "train" else PAPER_PREDICT_EDGES)
    return max(10, round(count * min(1.0, share))) if len(edges) else 0


class SampleTask(NamedTuple):
    """Queries of one shape in one split."""

    split: str
    shape: Shape


class SampleOutcome(NamedTuple):
    """The queries of a task, and their answers on larger graphs."""

    sample: Sample
    answers: dict[str, Ragged]


@dataclass(frozen=True, eq=False)
class SampleWork:
    """What every task needs."""

    graphs: Mapping[str, SplitGraphs]
    options: SampleOptions
    wanted: Mapping[SampleTask, int | None]

    def perform(self, task: SampleTask, tell: Progress | None = None) -> SampleOutcome:
        """The outcome of a task; it depends on the task and the seed alone."""
        mine, count, options = self.graphs[task.split], self.wanted[task], self.options
        if options.hard and not mine.is_training:
            sample = sample_strata(mine, task.shape, count or 0, options, tell)
        else:
            sample = sample_queries(mine, task.shape, count, options, tell)
        larger = [self.graphs[side] for side in ("valid", "test")] if mine.is_training else []
        answers = {side.name: answer_table(side.observed, task.shape, sample.table.slots) for side in larger}
        return SampleOutcome(sample, answers)


def sample_dataset(
    dataset: Dataset,
    plan: SamplePlan,
    progress: Progress | None = None,
    threads: int | None = None,
    spread: SpreadSampling | None = None,
) -> tuple[Dataset, list[str]]:
    """The dataset with newly sampled queries, and a remark for every table that is shorter than wanted.

    Answers of the training queries on the graphs of validation and test come with them. `progress(done, total)` is
    told of queries, from several threads but never at once; what it raises ends the run. `spread` lets other processes
    draw; the queries are the same.
    """
    tasks = [SampleTask(split, shape) for split in reversed(SPLITS) for shape in plan.shapes]
    graphs = {split: SplitGraphs(split, dataset.observed(split), dataset.complete(split)) for split in SPLITS}
    work = SampleWork(graphs, plan.options, {task: plan.count(dataset, *task) for task in tasks})
    tally = _Tally(progress, work.wanted)
    with tally:
        if spread is None:
            outcomes = in_threads(lambda task: _performed(work, task, tally), tasks, threads)
            found = dict(zip(tasks, outcomes, strict=True))
        else:
            placed = {place: tally.finished(tasks[place], one) for place, one in spread(work, tasks)}
            found = {task: placed[place] for place, task in enumerate(tasks)}
    return _with_outcomes(dataset, plan, found), _remarks(found)


def _performed(work: SampleWork, task: SampleTask, tally: _Tally) -> SampleOutcome:
    return tally.finished(task, work.perform(task, tally.teller(task)))


class _Tally:
    """Adds up the progress of tasks; leaving it by an exception ends the tasks that still run."""

    def __init__(self, progress: Progress | None, wanted: Mapping[SampleTask, int | None]) -> None:
        self._progress = progress
        self._totals = {task: count or 0 for task, count in wanted.items()}
        self._done = dict.fromkeys(wanted, 0)
        self._lock, self._ended = Lock(), Event()

    def __enter__(self) -> None:
        """Nothing has been done."""

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def teller(self, task: SampleTask) -> Progress:
        """Tells of one task."""
        return lambda done, wanted: self._tell(task, done, wanted)

    def finished(self, task: SampleTask, outcome: SampleOutcome) -> SampleOutcome:
        """The outcome of a task that is done."""
        queries = len(outcome.sample.table)
        self._tell(task, queries, queries)
        return outcome

    def _tell(self, task: SampleTask, done: int, wanted: int) -> None:
        if self._ended.is_set():
            raise InterruptedError("sampling was ended")
        with self._lock:
            self._done[task], self._totals[task] = done, wanted
            if self._progress is not None:
                self._progress(sum(self._done.values()), sum(self._totals.values()))


def _with_outcomes(dataset: Dataset, plan: SamplePlan, found: dict[SampleTask, SampleOutcome]) -> Dataset:
    tables: dict[str, dict[str, QueryTable]] = {split: {} for split in SPLITS}
    answers: dict[str, dict[str, Ragged]] = defaultdict(dict)
    for task, outcome in found.items():
        tables[task.split][task.shape.name] = outcome.sample.table
        for side, rows in outcome.answers.items():
            answers[side][task.shape.name] = rows
    options = plan.options
    return dataset.with_queries(
        tables,
        dict(answers),
        answers="published" if options.compatible else "true",
        sampling={"seed": options.seed, "compatible": options.compatible, "hard": options.hard},
    )


def _remarks(found: dict[SampleTask, SampleOutcome]) -> list[str]:
    shortfalls = ((task, outcome.sample.shortfall) for task, outcome in found.items())
    return [f"{task.split} {task.shape.name}: {shortfall}" for task, shortfall in shortfalls if shortfall]
