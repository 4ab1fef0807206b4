"""Measured rows with the paper's beside them and the difference, from the files of cells alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.grid import METHODS
from experiments.paper_numbers import paper_rows
from unseen.evaluation.report_rows import ReportRow, method_name, rows_of
from unseen.evaluation.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from experiments.cell_files import Filled, GridFolder

MEASURED, ALONE, PAPER, DIFFERENCE = "unseen", "unseen, no known facts", "paper", "difference"


@dataclass(frozen=True)
class Line:
    """One line of a comparison: whose numbers these are, and percentages by type."""

    row: ReportRow
    whose: str
    averages: tuple[float | None, float | None]

    @classmethod
    def of(cls, row: ReportRow, whose: str) -> Line:
        """A row as it is."""
        return cls(row, whose, (row.avg_p, row.avg_n))

    @property
    def key(self) -> tuple[float, str, str, str, str]:
        """What makes two lines comparable."""
        return key_of(self.row)


@dataclass(frozen=True, eq=False)
class GridResults:
    """What the cells of a grid say, in the forms that tables and figures need."""

    cells: tuple[Filled, ...]

    @classmethod
    def of(cls, folder: GridFolder) -> GridResults:
        """All files of a folder, smallest ratio first, methods in the grid's order."""
        found = sorted(folder.all_cells(), key=lambda one: (one.cell.ratio, _place(one.cell.method)))
        return cls(tuple(found))

    def __bool__(self) -> bool:
        return bool(self.cells)

    def results(self, what: str) -> list[Result]:
        """The results of one experiment that are there."""
        return [_result(filled) for filled in self.done(what)]

    def done(self, what: str) -> list[Filled]:
        """The cells of one experiment that are filled."""
        return [one for one in self.cells if one.is_done and one.cell.what == what]

    @property
    def read_off(self) -> set[tuple[str, float]]:
        """Methods and ratios whose runs were trained with a setting that was read off test queries."""
        trained = [one for one in self.done("train") if "type_weights" in one.content["settings"]]
        return {(one.cell.method, float(one.cell.ratio)) for one in trained}

    @property
    def is_made_up(self) -> bool:
        """Whether any of these are results of the tiny preset."""
        return any(result.dataset.startswith("tiny-") for result in self.results("test"))

    def rows(self, what: str, metric: str, queries: str = "test", graphs: Sequence[str] = ("test",)) -> list[ReportRow]:
        """The rows of one experiment and metric."""
        return [
            row
            for result in self.results(what)
            for row in rows_of(result)
            if row.metric == metric and row.queries == queries and row.graph in graphs
        ]


def compared(lines: Iterable[Line]) -> Iterator[Line]:
    """For each method and ratio all measured lines, the paper's, and the difference of the last measured one to it."""
    published = {key_of(row): row for row in paper_rows()}
    groups: dict[tuple[float, str, str, str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault(line.key, []).append(line)
    for key, some in groups.items():
        yield from some
        paper = published.get(key)
        if paper is not None:
            yield Line.of(paper, PAPER)
            yield difference(some[-1], paper)


def difference(line: Line, paper: ReportRow) -> Line:
    """Measured less published, type by type; averages only where both have all types."""
    common = [kind for kind in line.row.values if kind in paper.values]
    values = {kind: line.row.values[kind] - paper.values[kind] for kind in common}
    pairs = zip(line.averages, (paper.avg_p, paper.avg_n), strict=True)
    averages = [None if own is None or other is None else own - other for own, other in pairs]
    return Line(replace(line.row, values=values), DIFFERENCE, (averages[0], averages[1]))


def matching_paper(rows: Sequence[ReportRow]) -> list[ReportRow]:
    """The paper's rows for the ratios, queries, graphs and metrics that were measured."""
    wanted = {(row.ratio, row.queries, row.graph, row.metric) for row in rows}
    return [row for row in paper_rows() if (row.ratio, row.queries, row.graph, row.metric) in wanted]


def has_known_facts(method: str) -> bool:
    """Whether a method, by its name in print, answers with known facts where nobody forbids it."""
    return any(plan.has_known_facts for name, plan in METHODS.items() if method_name(name) == method)


def key_of(row: ReportRow) -> tuple[float, str, str, str, str]:
    """What makes two rows comparable."""
    return (row.ratio or 0.0, row.method, row.queries, row.graph, row.metric)


def _result(filled: Filled) -> Result:
    return Result.from_json({**filled.content["result"], "method": filled.cell.method}, filled.cell.name)


def _place(method: str) -> int:
    return list(METHODS).index(method) if method in METHODS else len(METHODS)
