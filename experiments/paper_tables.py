"""The paper's tables with our rows beside its rows and the difference, made of the files of cells alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.comparison import (
    ALONE,
    DIFFERENCE,
    MEASURED,
    GridResults,
    Line,
    compared,
    has_known_facts,
)
from experiments.grid import RATIOS
from experiments.mean_tables import READ_OFF, SEEN, STARRED, mean_over_ratios
from experiments.own_tables import coverage, number, origins, strata_table, time_table
from unseen.evaluation.report_rows import METRIC_NAMES, TYPES, method_name
from unseen.evaluation.report_tables import GRAPH_NAMES, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


LARGER, TRAIN = "test_all", "train"


def grid_tables(found: GridResults) -> list[Table]:
    """Every table that there are numbers for."""
    tables = [
        mean_over_ratios(found),
        against_the_paper(found),
        by_type("test_hits_at_10", f"Test queries, Hits@10 (%). {_FAIR}", _test_lines(found, "hits_at_10")),
        by_type("test_hits_at_3", f"Test queries, Hits@3 (%). {_FAIR}", _test_lines(found, "hits_at_3")),
        by_type("training_queries", _TRAINING, _training_lines(found), graphs=True),
        by_type("easy_first", _EASY_FIRST, _easy_lines(found)),
        strata_table(found),
        by_type("probabilities", _PROBABILITIES, _probability_lines(found), metrics=True),
        time_table(found),
        coverage(found),
        origins(found),
    ]
    return [noted(table, found) for table in tables if table.rows]


def noted(table: Table, found: GridResults) -> Table:
    """A table of accuracies with what a reader must know of some of its rows."""
    if table.name not in NOTED:
        return table
    methods = {row[1] for row in table.rows}
    notes = [f" {LEARNED}"] if methods & {method_name(name) for name in STARRED} else []
    notes += [f" {MARKED}"] if found.read_off and "GNN-QE" in methods else []
    return replace(table, title=table.title + "".join(notes))


NOTED = (
    "test_hits_at_10",
    "test_hits_at_3",
    "training_queries",
    "easy_first",
    "strata",
    "probabilities",
    "probability_averages",
)
LEARNED = SEEN.replace("* `default`", "Zero-shot (`default`)").replace("the models fine-tuned", "models fine-tuned")
MARKED = f"GNN-QE at 106 and 113 %: {READ_OFF.removeprefix('† ')}"


_FAIR = (
    "The paper's models have no known facts: the difference is that of our rows without them, where a method has any."
)
_TRAINING = f"Training queries on the training and on the test graph, Hits@10 of all answers (%). {_FAIR}"
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
    """Differences of averages to the paper, with and without known facts; one column a ratio."""
    ratios = sorted(RATIOS)
    body = []
    for method, whose, lines in _by_method(found):
        cells = {one.row.ratio: one.averages for one in compared(lines) if one.whose == DIFFERENCE}
        if cells:
            marks = {ratio for name, ratio in found.read_off if method_name(name) == method}
            pairs = (_pair(cells.get(float(ratio)), sign=True) + "†" * (ratio in marks) for ratio in ratios)
            body.append((method, whose, *pairs))
    title = (
        "Hits@10 of test queries less the paper's, avg_p / avg_n in points. The paper's models have no known facts, "
        f"its NodePiece-QE no avg_n.{f' {READ_OFF}' if found.read_off else ''}"
    )
    return Table("against_the_paper", title, ("Method", "", *(f"{ratio} %" for ratio in ratios)), tuple(body), 2)


def _by_method(found: GridResults) -> list[tuple[str, str, list[Line]]]:
    """The measured lines of test queries of each method, with its known facts and without."""
    lines = _measured(found, ("test", "test-alone"), "hits_at_10")
    keys = [(method, whose) for method in dict.fromkeys(one.row.method for one in lines) for whose in (ALONE, MEASURED)]
    groups = ((*key, [one for one in lines if (one.row.method, one.whose) == key]) for key in keys)
    return [group for group in groups if group[2]]


def _measured(
    found: GridResults, whats: tuple[str, str], metric: str, queries: str = "test", graphs: Sequence[str] = ("test",)
) -> list[Line]:
    """The lines of an experiment as methods answer, then those of its twin without known facts."""
    answering, alone = (found.rows(what, metric, queries, graphs) for what in whats)
    return [Line.of(row, MEASURED) for row in answering] + [Line.of(row, ALONE) for row in alone]


def _test_lines(found: GridResults, metric: str) -> list[Line]:
    return _fairly_compared(_measured(found, ("test", "test-alone"), metric))


def _training_lines(found: GridResults) -> list[Line]:
    whats = ("training", "training-alone")
    return _fairly_compared(_measured(found, whats, "hits_at_10", "training", (TRAIN, LARGER)))


def _fairly_compared(lines: Sequence[Line]) -> list[Line]:
    """Lines with the paper's, smallest ratio first; a difference only where neither side has known facts."""
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


def _pair(values: tuple[float | None, float | None] | None, sign: bool = False) -> str:
    return "" if values is None else " / ".join(number(value, sign) or "–" for value in values)
