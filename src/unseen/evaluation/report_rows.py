"""Results as rows of percentages by query type, the common form of measured and of published numbers."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.datasets.split import NAMED_SHARES
from unseen.errors import EvaluationError
from unseen.evaluation.results import EPFO, METRICS, NEGATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from unseen.evaluation.results import Result, TypeResult

TYPES = (*EPFO, *NEGATION)
PUBLISHED_COLUMNS = ("method", "ratio", "queries", "graph", "metric")
MEASURED = (*METRICS, "roc_auc", "mape", "spearman", "ece")
METHOD_NAMES = {
    "edge-type": "Edge-type heuristic",
    "path-counts": "Path counts",
    "exact": "Exact traversal",
    "gnn-qe": "GNN-QE",
    "nodepiece-qe": "NodePiece-QE",
    "nodepiece-qe-gnn": "NodePiece-QE w/ GNN",
    "zero-shot": "Zero-shot",
    "zero-shot-without-fb": "Zero-shot w/o FB15k-237",
    "zero-shot-fine-tuned": "Zero-shot, fine-tuned",
    "betae": "BetaE",
}
"""How methods are called in print."""
METRIC_NAMES = {
    "mrr": "MRR",
    **{metric: f"Hits@{metric.removeprefix('hits_at_')}" for metric in METRICS[1:]},
    "roc_auc": "ROC AUC",
    "mape": "MAPE",
    "spearman": "Spearman",
    "ece": "ECE",
}


@dataclass(frozen=True)
class ReportRow:
    """One metric of one method on one set of queries; `values` are percentages by type."""

    method: str
    dataset: str
    ratio: float | None
    queries: str
    """`training`, or the split whose own queries these are."""
    graph: str
    """Where they were asked: `train`, or a split; with `_all`, see `Result.training_queries`."""
    metric: str
    values: Mapping[str, float]
    from_paper: bool = False

    @property
    def label(self) -> str:
        """The method, and whether its numbers are the paper's."""
        return f"{self.method} (paper)" if self.from_paper else self.method

    @property
    def place(self) -> str:
        """The ratio if there is one, else the dataset."""
        return self.dataset if self.ratio is None else f"{self.ratio:g} %"

    def average(self, types: Iterable[str]) -> float | None:
        """The mean over the types that have a value."""
        values = [self.values[name] for name in types if name in self.values]
        return sum(values) / len(values) if values else None

    @property
    def avg_p(self) -> float | None:
        """The mean over types without negation."""
        return self.average(EPFO)

    @property
    def avg_n(self) -> float | None:
        """The mean over types with negation."""
        return self.average(NEGATION)


def rows_of(result: Result) -> Iterator[ReportRow]:
    """Every number of a result that has one value a type."""
    yield from _group_rows(result, result.split, result.split, result.types)
    for graph, types in result.training_queries.items():
        yield from _group_rows(result, "training", graph, types)


def published_rows(path: Path) -> list[ReportRow]:
    """Published numbers from a CSV file: method, ratio, queries, graph, metric, then a percentage for each type."""
    try:
        return [_published_row(record) for record in csv.DictReader(path.read_text("utf-8").splitlines())]
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be read: {error.strerror}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise EvaluationError(
            f"{path}: is not a table of published numbers ({error}); its columns are {', '.join(PUBLISHED_COLUMNS)} "
            "and the types of queries"
        ) from None


def ratio_of(result: Result) -> float | None:
    """The ratio that the dataset states, or the one of the paper's nine that its name ends in (`fb15k-237-175`)."""
    if result.ratio is not None:
        return result.ratio
    found = re.search(r"(?<!\d)(\d{3})$", result.dataset)
    return float(found.group(1)) if found and int(found.group(1)) in NAMED_SHARES else None


def ordered(rows: Iterable[ReportRow]) -> list[ReportRow]:
    """Rows by ratio, then dataset; within one as given."""
    return sorted(rows, key=lambda row: (row.ratio is None, row.ratio or 0.0, row.dataset if row.ratio is None else ""))


def types_of(rows: Iterable[ReportRow]) -> list[str]:
    """The types that have a value, in the paper's order, then others."""
    found = {kind for row in rows for kind in row.values}
    return [*(kind for kind in TYPES if kind in found), *sorted(found - set(TYPES))]


def is_on_larger_graph(row: ReportRow) -> bool:
    """Whether these are training queries on a graph larger than that of training."""
    return row.queries == "training" and row.graph != "train"


def method_name(method: str) -> str:
    """The printed name of a method; unknown methods keep their names."""
    return METHOD_NAMES.get(method, method)


def _group_rows(result: Result, queries: str, graph: str, types: Mapping[str, TypeResult]) -> Iterator[ReportRow]:
    asked = {name: found for name, found in types.items() if found.metrics.queries}
    for metric in MEASURED:
        values = {name: 100 * value for name, found in asked.items() if (value := found.value(metric)) is not None}
        if values:
            name = method_name(result.method)
            yield ReportRow(name, result.dataset, ratio_of(result), queries, graph, metric, values)


def _published_row(record: dict[str, str]) -> ReportRow:
    training = record["queries"] == "training"
    graph = "test_all" if training and record["graph"] == "test" else record["graph"]
    values = {name: float(record[name]) for name in TYPES if record.get(name)}
    place = (f"FB15k-237 {record['ratio']}", float(record["ratio"]))
    return ReportRow(record["method"], *place, record["queries"], graph, record["metric"], values, from_paper=True)
