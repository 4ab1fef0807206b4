"""Choosing the options of CQD-Beam on validation queries: what `unseen tune` does.

For each type of query one option after the other is tried with all its values, the others staying as they are, and the
best value is kept; this is repeated until nothing gets better (coordinate search). What is measured is what `unseen
evaluate` measures, on a fixed sample of the validation queries. Test queries are never read.

| file of the run folder | what |
| --- | --- |
| `tuning.json` | the chosen options by type, the calibration of links, and every trial with its numbers |
| `tuning-alone.json` | the same for predictions only, where that was chosen beside it |
| `calibration.json` | curves of probability, fitted anew, because they belong to the options |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from unseen.errors import ConfigError, TrainingError
from unseen.evaluation.evaluator import STREAMED_FROM, Options, evaluate
from unseen.evaluation.query_sets import sample
from unseen.evaluation.results import METRICS
from unseen.logic.shapes import SHAPES
from unseen.methods.cqd_beam import BeamOptions, Choices, CqdBeam, Tuning
from unseen.methods.cqd_beam.link_calibration import LinkCalibration, fit_link_calibration
from unseen.models.checkpoint import write_json
from unseen.models.tuned_method import TUNING
from unseen.training.calibrating import fit_calibration

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.datasets.dataset import Dataset
    from unseen.logic.protocols import LinkScorer

CALIBRATION = "calibration.json"
VALUES: dict[str, tuple[Any, ...]] = {
    "scale": ("softmax", "sigmoid", "calibrated", "min-max"),
    "logic": ("product", "goedel"),
    "heads": ("best", "any"),
    "popularity": (0.0, 0.5, 1.0),
    "known_facts": (True, False),
    "ceiling": (0.5, 0.9, 0.99),
    "negation": (0.5, 1.0, 2.0, 4.0),
    "sharpness": (1.0, 3.0, 10.0),
}
"""What is tried of every option."""
MOST_ROUNDS = 3
CALIBRATION_ROWS = 5000
"""Most (head, relation) rows that the calibration of links is fitted to."""

Progress = Callable[[str, int, int], None]
Score = tuple[float, float]


@dataclass(frozen=True)
class TuningPlan:
    """What to tune, and how carefully."""

    types: tuple[str, ...] | None = None
    """Names of shapes; all that the validation queries have by default."""
    limit: int = 200
    """Validation queries a type."""
    metric: str = "hits_at_10"
    """What is made large; MRR decides between equals."""
    start: BeamOptions = field(default_factory=BeamOptions)
    """Where the search begins, and what stays where nothing is tried: the beam, say."""
    values: Mapping[str, Sequence[Any]] = field(default_factory=lambda: VALUES)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ConfigError(f"there is no metric {self.metric!r} to tune for; there are {', '.join(METRICS)}")
        if self.limit < 1:
            raise ConfigError(f"the number of queries a type must be at least 1, not {self.limit}")

    def without_known_facts(self) -> TuningPlan:
        """The same search among predictions only."""
        values = {option: tried for option, tried in self.values.items() if option != "known_facts"}
        return replace(self, start=replace(self.start, known_facts=False), values=values)


def tune(
    scorer: LinkScorer,
    dataset: Dataset,
    plan: TuningPlan | None = None,
    progress: Progress | None = None,
    links: LinkCalibration | None = None,
) -> Tuning:
    """The best options of each type on the validation queries of a dataset; `links` if these are calibrated already."""
    plan = plan or TuningPlan()
    types = _types(dataset, plan)
    links = links or _link_calibration(scorer, dataset, plan)
    tally = _Tally(progress, sum(_most_trials(plan, name, links) for name in types))
    method = CqdBeam(scorer, plan.start, links)
    searches = [_Search(method, dataset, plan, name, tally) for name in types]
    chosen = {search.name: search.best() for search in searches}
    default = Counter(chosen.values()).most_common(1)[0][0]
    about = {
        "dataset": dataset.name,
        "split": "valid",
        "metric": plan.metric,
        "queries_per_type": plan.limit,
        "seed": plan.seed,
        "trials": {search.name: search.trials() for search in searches},
    }
    return Tuning(Choices(default, chosen), links, about)


def write_tuning(folder: Path, tuning: Tuning, scorer: LinkScorer, dataset: Dataset, calibration_queries: int) -> bool:
    """Keep a tuning in a run folder, with probabilities that fit it; whether there are such."""
    curves = None
    if calibration_queries and dataset.observed("valid").num_entities <= STREAMED_FROM:
        curves = fit_calibration(tuning.method(scorer), dataset, calibration_queries, by_type=True)
    (folder / CALIBRATION).unlink(missing_ok=True)
    write_json(folder / TUNING, tuning.to_json())
    if curves is not None:
        write_json(folder / CALIBRATION, curves.to_json())
    return curves is not None


class _Search:
    """The coordinate search for one type of query."""

    def __init__(self, method: CqdBeam, dataset: Dataset, plan: TuningPlan, name: str, tally: _Tally) -> None:
        self.method, self.dataset, self.plan, self.name = method, dataset, plan, name
        self.links = method.link_calibration
        self.tally = tally
        self.scores: dict[BeamOptions, Score] = {}

    def best(self) -> BeamOptions:
        """The best options found; of equal ones the first, so that the start stays where nothing helps."""
        best, before = self.plan.start, None
        for _ in range(MOST_ROUNDS):
            if best == before:
                break
            before = best
            for option, values in _coordinates(self.plan, self.name, self.links).items():
                if option == "ceiling" and not best.known_facts:
                    continue
                tried = [best, *(replace(best, **{option: value}) for value in values)]
                best = max(tried, key=self.score)
        self.tally.finish(self.name, _most_trials(self.plan, self.name, self.links), len(self.scores))
        return best

    def score(self, options: BeamOptions) -> Score:
        """The metric and MRR of the sampled queries; measured once."""
        if options not in self.scores:
            method = self.method.with_choices(options)
            asked = Options(types=(self.name,), limit=self.plan.limit, seed=self.plan.seed)
            metrics = evaluate(method, self.dataset, "valid", asked).types[self.name].metrics
            self.scores[options] = (getattr(metrics, self.plan.metric), metrics.mrr)
            self.tally.advance(self.name)
        return self.scores[options]

    def trials(self) -> list[dict[str, Any]]:
        """Everything that was tried, in order."""
        return [
            {**options.to_json(), self.plan.metric: score[0], "mrr": score[1]} for options, score in self.scores.items()
        ]


class _Tally:
    """Progress over all types: a search that ends early gives back what it did not need."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def advance(self, name: str) -> None:
        """One more trial."""
        self.done += 1
        if self.progress is not None:
            self.progress(name, self.done, self.total)

    def finish(self, name: str, expected: int, needed: int) -> None:
        """A search is over."""
        self.total += needed - expected
        if self.progress is not None:
            self.progress(name, self.done, self.total)


def _coordinates(plan: TuningPlan, name: str, links: LinkCalibration | None) -> dict[str, list[Any]]:
    """The values to try for a type: calibrated memberships need a calibration, negation something negated."""
    tried = {option: list(values) for option, values in plan.values.items()}
    if links is None and "scale" in tried:
        tried["scale"] = [value for value in tried["scale"] if value != "calibrated"]
    if name in SHAPES and not SHAPES[name].has_negation:
        tried = {option: values for option, values in tried.items() if option not in ("negation", "sharpness")}
    return tried


def _most_trials(plan: TuningPlan, name: str, links: LinkCalibration | None) -> int:
    return 1 + 2 * sum(len(values) - 1 for values in _coordinates(plan, name, links).values())


def _types(dataset: Dataset, plan: TuningPlan) -> list[str]:
    """The types to tune, each with at least one validation query."""
    available = [name for name, table in dataset.tables.get("valid", {}).items() if len(table)]
    if not available:
        raise TrainingError(f"the dataset {dataset.name} has no valid queries to tune on: `unseen sample` makes some")
    for name in plan.types or ():
        if name not in available:
            raise TrainingError(f"there are no valid queries of type {name}, only {', '.join(available)}")
    return [name for name in available if plan.types is None or name in plan.types]


def _link_calibration(scorer: LinkScorer, dataset: Dataset, plan: TuningPlan) -> LinkCalibration | None:
    """The calibration by the missing links of one-step validation queries, if there are such and it may be chosen."""
    table = dataset.tables["valid"].get("1p")
    if table is None or not len(table) or "calibrated" not in plan.values.get("scale", ()):
        return None
    rows = sample(len(table), CALIBRATION_ROWS, plan.seed, "1p")
    heads, relations = table.slots[rows].T
    tails = [table.hard.row(int(row)) for row in rows]
    return fit_link_calibration(scorer, dataset.observed("valid"), heads, relations, tails, plan.seed)
