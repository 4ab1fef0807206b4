"""The grid: which methods, on which ratios, measured how. A cell is one of each; every cell has a file of its own.

| what | experiment | on |
| --- | --- | --- |
| `train`, `tune`, `tune-alone` | what a method needs before it is measured, with or without known facts | all ratios |
| `test` | (a) test queries, Hits@k by type: section 5.2 | all ratios |
| `test-alone` | (a) the same without known facts, as the paper's models are | all ratios |
| `training` | (b) training queries on the training and on the test graph, as it answers: section 5.3 | all ratios |
| `training-alone` | (b) the same without known facts, as the paper's models are | all ratios |
| `easy-first` | (c) ROC AUC, easy before hard, without known facts: section 5.4 | 175 |
| `strata` | (e) by the number of missing links | all ratios |
| `probabilities` | (f) calibration and numbers of answers | all ratios |
| `time` | (g) seconds for a query, alone and in a batch | all ratios |

(d), the large graph of section 5.5, is a benchmark of its own whose lines the report takes in. Cells of a method are
run in this order; the grid in three rounds, so that what matters most is there first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from experiments.grid_errors import ReproductionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RATIOS = (175, 550, 300, 217, 150, 134, 122, 113, 106)
"""The paper's nine, the reference first, then those where growth matters most."""
PREPARING = ("train", "tune", "tune-alone")
ROUNDS = (("test", "test-alone", "training", "training-alone", "easy-first"), ("strata", "probabilities"), ("time",))
"""What belongs to the paper, what is ours, and what must be measured with nothing beside it."""
EXPERIMENTS = tuple(name for some in ROUNDS for name in some)
WITHOUT_FACTS = ("test-alone", "training-alone", "easy-first")
"""Measured without known facts; pointless for a method that has none."""
REFERENCE = 175


@dataclass(frozen=True, order=True)
class Cell:
    """One number of the grid, or rather one file of them."""

    ratio: int
    method: str
    what: str

    @property
    def name(self) -> str:
        """How a cell is called, and where its file lies."""
        return f"{self.ratio}/{self.method}/{self.what}"


@dataclass(frozen=True)
class MethodPlan:
    """How a method of the grid comes about."""

    trained_as: str | None = None
    """What `unseen train` calls it; None is not trained."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    by_ratio: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    tuned: bool = False
    model: str | None = None
    """Which of the given models it is, or begins with: `general` or `without-fb`."""
    has_known_facts: bool = True
    weights: str = "best"
    ratios: tuple[int, ...] = RATIOS

    def settings_at(self, ratio: int) -> dict[str, Any]:
        """The settings of the run of one ratio."""
        return {**self.settings, **self.by_ratio.get(ratio, {})}


SMALL_GRAPH = {
    "average": 0.99,
    "relation_dropout": 0.6,
    "validate_every": 50,
    "validation_queries": 60,
    "steps": 400,
}
"""For GNN-QE where the training graph is small and soon learned by heart (experiments/history.md)."""
LARGE_GRAPH = {"relation_dropout": 0.0, "steps": 8000}
"""For GNN-QE where the training graph is nearly the test graph: without dropout its loss falls twice as fast, and
validation was still rising after 4,000 steps (experiments/history.md)."""
CAREFULLY = {"learning_rate": 3e-4}
"""For fine-tuning on a small training graph, where the start is hard to better."""
BASELINES = ("edge-type", "path-counts")
"""Methods that learn nothing and give no answer a known fact's certainty."""
METHODS: dict[str, MethodPlan] = {
    "edge-type": MethodPlan(has_known_facts=False),
    "path-counts": MethodPlan(has_known_facts=False),
    "zero-shot-without-fb": MethodPlan(model="without-fb"),
    "zero-shot": MethodPlan(model="general"),
    "gnn-qe": MethodPlan(
        "gnn-qe",
        {"steps": 2000, "schedule": "cosine"},
        {
            550: SMALL_GRAPH,
            300: SMALL_GRAPH | {"validate_every": 100, "steps": 800},
            **{ratio: {"steps": 4000} for ratio in (134, 122)},
            **dict.fromkeys((113, 106), LARGE_GRAPH),
        },
    ),
    "nodepiece-qe": MethodPlan(
        "nodepiece-qe", {"recipe": "large-batch"}, {550: {"tokens": 10, "dim": 1000}}, tuned=True
    ),
    "nodepiece-qe-gnn": MethodPlan(
        "nodepiece-qe",
        {"recipe": "large-batch", "gnn": True},
        {**{ratio: {"layers": 5} for ratio in (106, 113, 122, 134, 150)}, 550: {"tokens": 10}},
        tuned=True,
    ),
    "zero-shot-fine-tuned": MethodPlan(
        "zero-shot", by_ratio=dict.fromkeys((217, 300, 550), CAREFULLY), model="general"
    ),
    "betae": MethodPlan("betae", has_known_facts=False, weights="last", ratios=(REFERENCE,)),
}
"""Cheapest first. BetaE is measured after its last step: validation, all about new entities, says nothing of it."""


@dataclass(frozen=True)
class Limits:
    """Most queries a type in each experiment; the samples are fixed, and a smaller one is part of a larger."""

    test: int = 2000
    test_alone: int = 1000
    training: int = 1000
    training_alone: int = 1000
    easy_first: int = 1000
    strata: int = 500
    probabilities: int = 100
    time: int = 64
    tune: int = 200
    tune_alone: int = 200

    def of(self, what: str) -> int:
        """The limit of an experiment."""
        return int(getattr(self, what.replace("-", "_")))

    def cut(self, most: int | None, named: Mapping[str, int]) -> Limits:
        """No more than `most` anywhere, and exactly as many as asked for in the experiments that are named."""
        cut = {name: value if most is None else min(most, value) for name, value in asdict(self).items()}
        return Limits(**cut | {what.replace("-", "_"): value for what, value in named.items()})


@dataclass(frozen=True)
class Task:
    """Cells of one method on one ratio that one process runs one after the other."""

    ratio: int
    method: str
    whats: tuple[str, ...]
    alone: bool = False
    """Whether nothing else may run beside it."""

    @property
    def run(self) -> tuple[int, str]:
        """What only one process may work on."""
        return self.ratio, self.method

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells in order."""
        return tuple(Cell(self.ratio, self.method, what) for what in self.whats)


def cells_of(ratio: int, method: str, plan: MethodPlan, experiments: Sequence[str]) -> tuple[str, ...]:
    """What is to be done for a method on a ratio, in order; nothing if it is not part of the grid there."""
    if ratio not in plan.ratios and ratio in RATIOS:
        return ()
    measured = [what for what in EXPERIMENTS if what in experiments and _applies(what, ratio, method, plan)]
    needed = {
        "train": plan.trained_as is not None,
        "tune": plan.tuned,
        "tune-alone": plan.tuned and any(what in WITHOUT_FACTS for what in measured),
    }
    return (*(what for what in PREPARING if needed[what]), *measured)


def tasks_of(ratios: Sequence[int], methods: Mapping[str, MethodPlan], experiments: Sequence[str]) -> Iterator[Task]:
    """The grid in the order in which it is run: round by round, in each the first method first.

    A run is made when something is first measured with it, and never where nothing may run beside it. Times are
    measured ratio by ratio, so that each dataset is opened once.
    """
    prepared: set[tuple[int, str]] = set()
    for some in ROUNDS:
        alone = "time" in some
        asked = [what for what in some if what in experiments]
        pairs = list(product(ratios, methods) if alone else ((ratio, name) for name, ratio in product(methods, ratios)))
        cells = {pair: cells_of(*pair, methods[pair[1]], asked) for pair in pairs}
        wanted = {pair: whats for pair, whats in cells.items() if any(what in some for what in whats)}
        for (ratio, method), whats in wanted.items():
            needed = tuple(what for what in whats if what in PREPARING)
            if alone and needed and (ratio, method) not in prepared:
                yield Task(ratio, method, needed)
        for (ratio, method), whats in wanted.items():
            yield Task(ratio, method, whats, alone)
        prepared |= set(wanted)


def chosen(kind: str, wanted: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """What was asked for, in the order of asking; everything if nothing was, and an unknown name is an error."""
    for name in wanted or ():
        if name not in known:
            raise ReproductionError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    return list(known if wanted is None else dict.fromkeys(wanted))


def _applies(what: str, ratio: int, method: str, plan: MethodPlan) -> bool:
    if what == "easy-first":
        return (ratio == REFERENCE or ratio not in RATIOS) and method not in BASELINES
    return plan.has_known_facts or what not in WITHOUT_FACTS
