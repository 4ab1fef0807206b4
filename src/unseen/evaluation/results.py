"""The result of an evaluation, and its JSON form: `Result.to_json()`, `Result.from_json(value)`.

```
{"method": "edge-type", "dataset": "175", "split": "test", "ratio": 175, "seed": 0, "limit": null, "candidates": 9781,
 "types": {"1p": {"queries": 2000, "answers": 3301, "mrr": 0.08, "hits_at_1": 0.03, ..., "hits_at_100": 0.6,
                  "by_rank": {"expected": {...}, "optimistic": {...}, "pessimistic": {...}},
                  "roc_auc": 0.5, "roc_auc_queries": 1404,
                  "strata": {"1": {...}}, "half_links": {"both": {...}, ...},
                  "answer_count": {...}, "calibration": {...}}},
 "avg_p": {"types": ["1p", ...], "mrr": ..., ...}, "avg_n": {...},
 "links": {"triples": ..., "queries": ..., "answers": ..., "mrr": ...,
           "directions": {"tails": {...}, "heads": {...}}, "by_rank": ...},
 "training_queries": {"train": {"types": {...}, "avg_p": {...}, "avg_n": {...}}, "test": {...}, "test_all": {...}}}
```

All metrics are fractions between 0 and 1. What was not measured is absent. Averages are computed from the types.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from unseen.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Mapping

EPFO = ("1p", "2p", "3p", "2i", "3i", "pi", "ip", "2u", "up")
"""The nine types without negation, in the paper's order; their mean is avg_p."""
NEGATION = ("2in", "3in", "inp", "pin", "pni")
"""The five types with negation, in the paper's order; their mean is avg_n."""
HITS = (1, 3, 10, 100)
METRICS = ("mrr", *(f"hits_at_{k}" for k in HITS))

LARGEST_NUMBER = 1e18

Json = dict[str, Any]


@dataclass(frozen=True)
class RankMetrics:
    """Means over queries of means over their answers."""

    queries: int
    answers: int
    mrr: float
    hits_at_1: float
    hits_at_3: float
    hits_at_10: float
    hits_at_100: float


NOTHING = RankMetrics(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The metrics of no query at all."""


@dataclass(frozen=True)
class AnswerCount:
    """How well the sum of probabilities estimates the number of answers."""

    mape: float
    """Mean absolute percentage error, as a fraction."""
    spearman: float | None
    """Rank correlation with the true number; none where one side never varies."""
    predicted: float
    """Mean predicted number."""
    actual: float
    """Mean true number."""


@dataclass(frozen=True)
class ReliabilityCurve:
    """Probabilities beside what came true, over all candidates of all queries, in bins of equal width."""

    ece: float
    """Expected calibration error: the mean distance of probability and frequency, weighted by the bins' counts."""
    counts: tuple[int, ...]
    probability: tuple[float, ...]
    """Mean probability in each bin; 0 in an empty one."""
    frequency: tuple[float, ...]
    """Share of true answers in each bin; 0 in an empty one."""
    ece_likely: float | None = None
    """The same error over probabilities above 0.01 alone, because small ones are nearly always right."""


@dataclass(frozen=True)
class TypeResult:
    """Everything measured on the queries of one type."""

    metrics: RankMetrics
    by_rank: dict[str, RankMetrics] = field(default_factory=dict)
    """The same metrics from the expected, the optimistic and the pessimistic rank; they agree where nothing ties."""
    roc_auc: float | None = None
    """The chance that an easy answer is scored above a hard one; mean over queries that have both."""
    roc_auc_queries: int = 0
    strata: dict[str, RankMetrics] = field(default_factory=dict)
    """By the number of missing links an answer needs."""
    half_links: dict[str, RankMetrics] = field(default_factory=dict)
    """For 1p: by whether (head, relation, *) and (*, relation, tail) occur in the observed graph."""
    directions: dict[str, RankMetrics] = field(default_factory=dict)
    """Of links: by the end that is asked for, tails or heads."""
    triples: int = 0
    """Of links: how many triples were asked for; `answers` counts ranks, one for each end, `queries` questions."""
    by_change: dict[str, RankMetrics] = field(default_factory=dict)
    """For training queries on a larger graph: by whether their answers differ there."""
    answer_count: AnswerCount | None = None
    calibration: ReliabilityCurve | None = None

    def value(self, metric: str) -> float | None:
        """One number by its name: a rank metric, `roc_auc`, `mape`, `spearman` or `ece`; None if not measured."""
        for holder in (self.metrics, self, self.answer_count, self.calibration):
            found = getattr(holder, metric, None)
            if isinstance(found, int | float):
                return float(found)
        return None

    def to_json(self) -> Json:
        """The rank metrics, and beside them the rest that was measured."""
        plain = asdict(self)
        metrics: Json = plain.pop("metrics")
        return metrics | {key: value for key, value in plain.items() if value or key == "roc_auc"}

    @classmethod
    def from_json(cls, value: Json) -> TypeResult:
        """The result of `to_json`."""
        plain = ("roc_auc", "roc_auc_queries", "triples")
        parts: Json = {key: _number_or_none(value[key], key) for key in plain if key in value}
        for key in ("by_rank", "strata", "half_links", "directions", "by_change"):
            parts[key] = {name: _rank_metrics(metrics) for name, metrics in value.get(key, {}).items()}
        if "tails" in parts["directions"]:
            parts.setdefault("triples", parts["directions"]["tails"].answers)
        if "answer_count" in value:
            counted = {key: _number_or_none(number, key) for key, number in value["answer_count"].items()}
            parts["answer_count"] = AnswerCount(**counted)
        if "calibration" in value:
            parts["calibration"] = _calibration(value["calibration"])
        return cls(_rank_metrics(value), **parts)


@dataclass(frozen=True)
class Result:
    """The result of one method on one split of one dataset."""

    method: str
    dataset: str
    split: str
    types: dict[str, TypeResult]
    training_queries: dict[str, dict[str, TypeResult]] = field(default_factory=dict)
    """By graph, then by type: `train`, and for the larger graph of a split its name (only queries whose answers differ
    there, the definition of faithfulness) and its name with `_all` (all of them, as in the paper's table)."""
    ratio: float | None = None
    """Entities of the inference graph in percent of those of the training graph, where the dataset says so."""
    candidates: int | None = None
    seed: int = 0
    limit: int | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    """How it was made: version, seconds, ..."""
    links: TypeResult | None = None
    """Link prediction (see `links`): unlike all others, means over hidden triples and both directions."""

    def _repr_html_(self) -> str:
        from unseen.evaluation.result_display import result_html

        return result_html(self)

    @property
    def averages(self) -> dict[str, Json]:
        """avg_p and avg_n of the test queries."""
        return averages(self.types)

    def to_json(self) -> Json:
        """Plain data; what was not measured is left out."""
        simple = ("method", "dataset", "split", "ratio", "seed", "limit", "candidates", "provenance")
        training = {graph: _group_json(types) for graph, types in self.training_queries.items()}
        plain = {name: getattr(self, name) for name in simple} | _group_json(self.types)
        plain |= {} if self.links is None else {"links": self.links.to_json()}
        return plain | ({"training_queries": training} if training else {})

    @classmethod
    def from_json(cls, value: Any, source: str = "result") -> Result:
        """The result of `to_json`; anything else is an error that names `source`."""
        try:
            training = {graph: _types(group) for graph, group in value.get("training_queries", {}).items()}
            links = TypeResult.from_json(value["links"]) if "links" in value else None
            known = {f.name for f in fields(cls)} - {"types", "training_queries", "links"}
            simple = {name: _checked(name, value[name]) for name in known if name in value}
            return cls(types=_types(value), training_queries=training, links=links, **simple)
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise EvaluationError(f"{source}: this is not a result of `unseen evaluate`: {error!r}") from error


def averages(types: Mapping[str, TypeResult]) -> dict[str, Json]:
    """avg_p and avg_n: means over the types with any query, which are named; empty if there are none."""
    asked = {name: result for name, result in types.items() if result.metrics.queries}
    groups = {"avg_p": EPFO, "avg_n": NEGATION}
    return {key: _mean({name: asked[name] for name in names if name in asked}) for key, names in groups.items()}


def _mean(types: Mapping[str, TypeResult]) -> Json:
    means: Json = {"types": list(types)} if types else {}
    for metric in (*METRICS, "roc_auc", "mape", "spearman", "ece"):
        values = [value for result in types.values() if (value := result.value(metric)) is not None]
        if values:
            means[metric] = sum(values) / len(values)
    return means


def _group_json(types: Mapping[str, TypeResult]) -> Json:
    return {"types": {name: result.to_json() for name, result in types.items()}} | averages(types)


def _types(group: Json) -> dict[str, TypeResult]:
    return {name: TypeResult.from_json(value) for name, value in group["types"].items()}


def _rank_metrics(value: Json) -> RankMetrics:
    return RankMetrics(**{f.name: _number(value[f.name], f.name) for f in fields(RankMetrics)})


def _number(value: Any, name: str) -> Any:
    """The same value, which must be a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST_NUMBER:
        raise ValueError(f"{name} is {value!r:.60}, not a number")
    return value


def _number_or_none(value: Any, name: str) -> Any:
    return None if value is None else _number(value, name)


def _checked(key: str, value: Any) -> Any:
    """A plain value of a result, in the type that its name asks for."""
    if key in ("method", "dataset", "split"):
        if not isinstance(value, str):
            raise ValueError(f"{key} is {value!r:.60}, not a text")
        return value
    if key == "provenance":
        return dict(value)
    return _number(value, key) if key == "seed" else _number_or_none(value, key)


def _calibration(value: Json) -> ReliabilityCurve:
    """Calibration out of JSON: numbers, and as many of them in each column."""
    numbers: Json = {
        key: tuple(_number(n, key) for n in part) if isinstance(part, list | tuple) else _number_or_none(part, key)
        for key, part in value.items()
    }
    found = ReliabilityCurve(**numbers)
    if not len(found.counts) == len(found.probability) == len(found.frequency):
        raise ValueError("the columns of its calibration differ in length")
    return found
