"""The tables of a report, as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.evaluation.report_rows import METRIC_NAMES, TYPES, method_name, ordered, ratio_of, types_of
from unseen.evaluation.results import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.evaluation.report_rows import ReportRow
    from unseen.evaluation.results import RankMetrics, Result, TypeResult

GRAPH_NAMES = {
    "train": "train",
    "valid": "valid, changed",
    "test": "test, changed",
    "valid_all": "valid",
    "test_all": "test",
}
"""Graphs of training queries: on a larger graph all of them, or only those whose answers changed there."""
LATEX_SIGNS = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$"}


@dataclass(frozen=True)
class Table:
    """Text in rows and columns; the first `labels` columns say what a row is, the others hold numbers."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int

    def to_csv(self) -> str:
        """Comma-separated values with a header."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()

    def to_markdown(self) -> str:
        """A GitHub table, numbers to the right; a repeated first column is left blank."""
        signs = ["---"] * self.labels + ["---:"] * (len(self.header) - self.labels)
        lines = [_line(self.header), _line(signs), *(_line(row) for row in self._without_repeats())]
        return "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        """A `table` for the booktabs package, a rule wherever the first column changes."""
        columns = "l" * self.labels + "r" * (len(self.header) - self.labels)
        body = []
        for index, row in enumerate(self._without_repeats()):
            if index and row[0]:
                body.append(r"\midrule")
            body.append(" & ".join(_latex(cell) for cell in row) + r" \\")
        header = " & ".join(rf"\textbf{{{_latex_header(cell)}}}" for cell in self.header) + r" \\"
        lines = [
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{_latex(self.title)}}}",
            rf"\label{{tab:{self.name.replace('_', '-')}}}",
            r"\resizebox{\textwidth}{!}{%",
            rf"\begin{{tabular}}{{{columns}}}",
            *(r"\toprule", header, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def _without_repeats(self) -> Iterator[tuple[str, ...]]:
        """The rows, the first column blank where it repeats the row above."""
        above = ""
        for row in self.rows:
            yield (row[0] if row[0] != above else "", *row[1:])
            above = row[0]


def all_tables(rows: Sequence[ReportRow], results: Sequence[Result], metrics: Sequence[str]) -> list[Table]:
    """Every table that the results have numbers for."""
    tables = [
        _by_type(
            "test_queries", "Test queries: answers that need missing links (%).", _test_rows(rows, metrics), "Metric"
        ),
        _links(results),
        _by_type("training_queries", _training_title(rows), _training_rows(rows), "Graph"),
        _by_type(
            "roc_auc", "Chance that an easy answer is ranked above a hard one (%).", _test_rows(rows, ["roc_auc"])
        ),
        _by_type("probabilities", _PROBABILITIES, _test_rows(rows, ["mape", "spearman", "ece"]), "Metric"),
        _grouped("strata", "Hits@10 (%) by the number of missing links an answer needs; share of answers.", results),
        _grouped(
            "half_links", "1p: Hits@10 (%) by the half of the link that the graph has; share of answers.", results
        ),
    ]
    return [table for table in tables if table.rows]


def long_csv(rows: Sequence[ReportRow]) -> str:
    """Every row of numbers, one metric a line."""
    extra = sorted({name for row in rows for name in row.values} - set(TYPES))
    header = ("method", "source", "dataset", "ratio", "queries", "graph", "metric", "avg_p", "avg_n", *TYPES, *extra)
    lines = []
    for row in ordered(rows):
        about = (row.method, "paper" if row.from_paper else "measured", row.dataset, _plain(row.ratio))
        values = (row.avg_p, row.avg_n, *(row.values.get(name) for name in (*TYPES, *extra)))
        lines.append((*about, row.queries, row.graph, row.metric, *(_plain(value) for value in values)))
    return Table("results", "", header, tuple(lines), 7).to_csv()


_PROBABILITIES = (
    "Probabilities (%): mean absolute percentage error of the number of answers, Spearman's rho of it, "
    "expected calibration error."
)


def _by_type(name: str, title: str, rows: Sequence[ReportRow], third: str = "") -> Table:
    """One line a row: ratio, method, metric or graph, averages, types; types of your own follow the paper's."""
    kinds = types_of(rows)
    header = ("Ratio", "Method", *([third] if third else []), "avg_p", "avg_n", *kinds)
    lines = []
    for row in rows:
        about = {"Metric": METRIC_NAMES.get(row.metric, row.metric), "Graph": GRAPH_NAMES.get(row.graph, row.graph)}
        values = (row.avg_p, row.avg_n, *(row.values.get(kind) for kind in kinds))
        label = (row.place, row.label, *([about[third]] if third else []))
        lines.append((*label, *(_number(value) for value in values)))
    return Table(name, title, header, tuple(lines), 3 if third else 2)


def _test_rows(rows: Sequence[ReportRow], metrics: Sequence[str]) -> list[ReportRow]:
    return ordered(row for row in rows if row.queries != "training" and row.metric in metrics)


def _training_rows(rows: Sequence[ReportRow]) -> list[ReportRow]:
    return ordered(row for row in rows if row.queries == "training" and row.metric == "hits_at_10")


def _training_title(rows: Sequence[ReportRow]) -> str:
    changed = any(row.queries == "training" and row.graph in {"valid", "test"} for row in rows)
    note = ' "changed": only queries whose answers differ there.' if changed else ""
    return f"Training queries on the training graph and on the larger one: Hits@10 (%).{note}"


def _grouped(field: str, title: str, results: Sequence[Result]) -> Table:
    """One line a method and type: for each group of answers its share and its Hits@10."""
    found = [(result, kind, getattr(one, field)) for result in results for kind, one in _types(result)]
    filled = [(result, kind, groups) for result, kind, groups in found if groups]
    names = sorted({name for _, _, groups in filled for name in groups})
    header = (
        "Ratio",
        "Method",
        "Type",
        *(column for name in names for column in (f"{name}: share", f"{name}: Hits@10")),
    )
    lines = tuple((*_about(result, kind), *_group_cells(groups, names)) for result, kind, groups in filled)
    return Table(field, title, header, lines, 3)


def _links(results: Sequence[Result]) -> Table:
    """One line a method and direction."""
    lines = []
    for result in results:
        found = {} if result.links is None else {"both": result.links.metrics, **result.links.directions}
        triples = 0 if result.links is None else result.links.triples
        for asked, one in found.items():
            numbers = (_number(100 * getattr(one, metric)) for metric in METRICS)
            lines.append((*_about(result, asked), f"{triples}", f"{one.answers}", *numbers))
    header = ("Ratio", "Method", "Asked for", "Triples", "Ranks", *(METRIC_NAMES[metric] for metric in METRICS))
    return Table("links", "Hidden triples from both ends, means over triples (%).", header, tuple(lines), 3)


def _types(result: Result) -> Iterator[tuple[str, TypeResult]]:
    """The types in the paper's order, then others."""
    for kind in (*TYPES, *sorted(set(result.types) - set(TYPES))):
        if kind in result.types:
            yield kind, result.types[kind]


def _about(result: Result, kind: str) -> tuple[str, str, str]:
    ratio = ratio_of(result)
    return result.dataset if ratio is None else f"{ratio:g} %", method_name(result.method), kind


def _group_cells(groups: dict[str, RankMetrics], names: Sequence[str]) -> Iterator[str]:
    total = sum(metrics.answers for metrics in groups.values())
    for name in names:
        metrics = groups.get(name)
        yield _number(100 * metrics.answers / total if metrics else None)
        yield _number(100 * metrics.hits_at_10 if metrics else None)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _latex(text: str) -> str:
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in text)


def _latex_header(text: str) -> str:
    """A column head; avg_p and avg_n get their index."""
    return f"avg$_{text[-1]}$" if text in {"avg_p", "avg_n"} else _latex(text)
