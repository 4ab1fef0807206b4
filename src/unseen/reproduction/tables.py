"""The paper's tables with our rows beside its rows and the difference, made of the files of cells alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.evaluation.report_rows import METRIC_NAMES, TYPES
from unseen.evaluation.report_tables import GRAPH_NAMES, Table
from unseen.reproduction.comparison import (
    ALONE,
    DIFFERENCE,
    MEASURED,
    GridResults,
    Line,
    compared,
    has_known_facts,
    matching_paper,
)
from unseen.reproduction.grid import RATIOS
from unseen.reproduction.own_tables import coverage, number, origins, strata_table, time_table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from unseen.evaluation.report_rows import Row

LARGER, TRAIN = "test_all", "train"
PUBLISHED_BEST = ("UltraQuery (its paper)", "47.9", "29.1")
"""The best published mean over the nine ratios, Hits@10 of one model for all."""


def grid_tables(found: GridResults) -> list[Table]:
    """Every table that there are numbers for."""
    tables = [
        against_the_paper(found),
        mean_over_ratios(found),
        by_type("test_hits_at_10", "Test queries, Hits@10 (%).", _test_lines(found, "hits_at_10")),
        by_type("test_hits_at_3", "Test queries, Hits@3 (%).", _test_lines(found, "hits_at_3")),
        by_type("training_queries", _TRAINING, _training_lines(found), graphs=True),
        by_type("easy_first", _EASY_FIRST, _easy_lines(found)),
        strata_table(found),
        by_type("probabilities", _PROBABILITIES, _probability_lines(found), metrics=True),
        time_table(found),
        coverage(found),
        origins(found),
    ]
    return [table for table in tables if table.rows]


_TRAINING = (
    "Training queries on the training and on the test graph, Hits@10 of all answers (%). The paper's models have no "
    "known facts: the difference is that of our rows without them, where a method has any."
)
_EASY_FIRST = "Chance that an easy answer is ranked above a hard one (ROC AUC, %), without known facts, ratio 175."
_PROBABILITIES = (
    "Probabilities: mean absolute percentage error of the expected number of answers, its rank correlation with the "
    "true one, expected calibration error (all x 100)."
)


def by_type(name: str, title: str, lines: Sequence[Line], *, graphs: bool = False, metrics: bool = False) -> Table:
    """One line each: ratio, method, graph or metric, whose; averages, then types."""
    third = ("Graph",) if graphs else ("Metric",) if metrics else ()
    header = ("Ratio", "Method", *third, "", "avg_p", "avg_n", *TYPES)
    body = []
    for line in lines:
        row = line.row
        extra = (GRAPH_NAMES.get(row.graph, row.graph),) if graphs else (METRIC_NAMES[row.metric],) if metrics else ()
        numbers = (*line.averages, *(row.values.get(kind) for kind in TYPES))
        sign = line.whose == DIFFERENCE
        body.append((row.place, row.method, *extra, line.whose, *(number(value, sign) for value in numbers)))
    return Table(name, title, header, tuple(body), 3 + len(third))


def against_the_paper(found: GridResults) -> Table:
    """Differences of averages to the paper, one line a method, one column a ratio."""
    lines = [line for line in _test_lines(found, "hits_at_10") if line.whose == DIFFERENCE]
    ratios = sorted(RATIOS)
    cells = {(line.row.method, line.row.ratio): line.averages for line in lines}
    methods = dict.fromkeys(line.row.method for line in lines)
    body = tuple(
        (method, *(_pair(cells.get((method, float(ratio))), sign=True) for ratio in ratios)) for method in methods
    )
    title = "Hits@10 of test queries less the paper's, avg_p / avg_n in points; the paper's NodePiece-QE has no avg_n."
    return Table("against_the_paper", title, ("Method", *(f"{ratio} %" for ratio in ratios)), body, 1)


def mean_over_ratios(found: GridResults) -> Table:
    """Hits@10 averaged over the ratios that were measured, the paper's over the same ones."""
    rows = found.rows("test", "hits_at_10")
    paper = matching_paper(rows)
    body = []
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method]
        ratios = {row.ratio for row in own}
        theirs = [row for row in paper if row.method == method and row.ratio in ratios]
        body.append((method, str(len(own)), *_means(own), *_means(theirs)))
    body.append((PUBLISHED_BEST[0], str(len(RATIOS)), "", "", *PUBLISHED_BEST[1:]))
    header = ("Method", "Ratios", "avg_p", "avg_n", "avg_p, published", "avg_n, published")
    return Table(
        "mean_over_ratios", "Test queries, Hits@10 (%), mean over ratios.", header, tuple(body) * bool(rows), 1
    )


def _test_lines(found: GridResults, metric: str) -> list[Line]:
    return list(compared(Line.of(row, MEASURED) for row in found.rows("test", metric)))


def _training_lines(found: GridResults) -> list[Line]:
    graphs = (TRAIN, LARGER)
    answering = found.rows("training", "hits_at_10", "training", graphs)
    alone = found.rows("training-alone", "hits_at_10", "training", graphs)
    lines = [Line.of(row, MEASURED) for row in answering] + [Line.of(row, ALONE) for row in alone]
    alone_keys = {line.key for line in lines if line.whose == ALONE}
    kept = [line for line in compared(lines) if line.whose != DIFFERENCE or _is_fair(line, alone_keys)]
    return sorted(kept, key=lambda line: line.row.ratio or 0)


def _is_fair(line: Line, alone: Collection[object]) -> bool:
    """Whether our side of a difference has no known facts, as the paper's has none."""
    return line.key in alone or not has_known_facts(line.row.method)


def _easy_lines(found: GridResults) -> list[Line]:
    return list(compared(Line.of(row, MEASURED) for row in found.rows("easy-first", "roc_auc")))


def _probability_lines(found: GridResults) -> list[Line]:
    lines = [Line.of(row, "") for metric in ("mape", "spearman", "ece") for row in found.rows("probabilities", metric)]
    return sorted(lines, key=lambda line: (line.row.ratio or 0, line.row.method))


def _means(rows: Sequence[Row]) -> tuple[str, str]:
    columns = ([row.avg_p for row in rows], [row.avg_n for row in rows])
    filled = [[value for value in column if value is not None] for column in columns]
    first, second = (number(sum(values) / len(values) if values else None) for values in filled)
    return first, second


def _pair(values: tuple[float | None, float | None] | None, sign: bool = False) -> str:
    return "" if values is None else " / ".join(number(value, sign) or "–" for value in values)
