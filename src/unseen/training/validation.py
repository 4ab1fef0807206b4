"""What a run is measured by while it learns: a fixed sample of questions, of one dataset or of several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unseen.errors import ConfigError
from unseen.evaluation.evaluator import Options, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.evaluation.results import Result
    from unseen.logic.protocols import Answerer
    from unseen.methods.training_settings import TrainingConfig


@dataclass(frozen=True)
class Measured:
    """The outcome of a validation: `score` decides, the rest is for people."""

    score: float
    averages: Mapping[str, float]
    types: Mapping[str, float | None]
    more: Mapping[str, Any] = field(default_factory=dict)


class Validation:
    """The validation queries of some datasets, each measured alone; their means count."""

    def __init__(self, datasets: Sequence[Dataset], config: TrainingConfig) -> None:
        self.datasets = [dataset for dataset in datasets if dataset.tables["valid"]]
        self.metric = config.validation_metric
        self.options = [_options(dataset, config) for dataset in self.datasets]

    def __bool__(self) -> bool:
        return bool(self.datasets)

    def measure(self, method: Answerer) -> Measured:
        """The method on every dataset's sample, by the evaluator that also measures test queries."""
        pairs = zip(self.datasets, self.options, strict=True)
        results = {dataset.name: evaluate(method, dataset, "valid", options) for dataset, options in pairs}
        found = [self._measured(result) for result in results.values()]
        if len(found) == 1:
            return found[0]
        scores = {name: one.score for name, one in zip(results, found, strict=True)}
        mean = sum(scores.values()) / len(scores)
        averages, types = (_means([getattr(one, part) for one in found]) for part in ("averages", "types"))
        return Measured(mean, averages, types, {"graphs": scores})

    def _measured(self, result: Result) -> Measured:
        averages = {
            f"{group}_{name}": values[name]
            for group, values in result.averages.items()
            for name in ("mrr", "hits_at_10")
            if name in values
        }
        types = {name: each.value(self.metric) for name, each in result.types.items()}
        return Measured(validation_score(result, self.metric), averages, types)


def validation_score(result: Result, metric: str) -> float:
    """The mean of a metric over all types that were measured."""
    values = [value for each in result.types.values() if (value := each.value(metric)) is not None]
    return sum(values) / max(1, len(values))


def _means(found: Sequence[Mapping[str, float | None]]) -> dict[str, float]:
    """The mean of each number over those that have it."""
    names = dict.fromkeys(name for one in found for name in one)
    columns = {name: [value for one in found if (value := one.get(name)) is not None] for name in names}
    return {name: sum(values) / len(values) for name, values in columns.items() if values}


def _options(dataset: Dataset, config: TrainingConfig) -> Options:
    """What is measured in a validation; a type that the dataset does not have is an error, before anything is run."""
    missing = [name for name in config.validation_types if name not in dataset.tables["valid"]]
    if missing:
        raise ConfigError(f"validation_types: the dataset has no validation queries of type {missing[0]}")
    return Options(types=config.validation_types or None, limit=config.validation_queries)
