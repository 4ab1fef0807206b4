"""The headline tables: Hits@10 of test queries over ratios, like beside like, with samples and standard errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.comparison import MEASURED, has_known_facts
from experiments.grid import RATIOS
from experiments.own_tables import number
from experiments.paper_numbers import paper_rows
from experiments.sampling_error import mean_error_bound
from unseen.evaluation.report_rows import method_name, rows_of
from unseen.evaluation.report_tables import Table
from unseen.evaluation.results import EPFO, NEGATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.comparison import GridResults
    from unseen.evaluation.report_rows import ReportRow
    from unseen.evaluation.results import Result

PUBLISHED_BEST = ("UltraQuery", "47.9", "29.1")
"""The best published mean over the nine ratios: one zero-shot model, both numbers of its own paper."""
SEEN = (
    "* `default` and the models fine-tuned from it have learned from FB15k-237's training file, which contains 87 to "
    "88 % of the hidden test triples (counted at 106, 175 and 550 %)."
)
READ_OFF = (
    "† 1p and 2i were drawn twice as often in training, which was read off test queries; the setting is gone, and the "
    "row stays until it is measured again."
)
MEANS = (
    "Test queries, Hits@10 (%), mean over ratios: first without known facts, as all published models answer, then with "
    f"them. ±: the standard error of the sample at most; one training seed. {SEEN}"
)
BY_RATIO = (
    f"Hits@10 (%), avg_p / avg_n, {{how}}. The last two rows are the sample and the largest standard error. {SEEN}"
)
STARRED = ("zero-shot", "zero-shot-fine-tuned")


def mean_over_ratios(found: GridResults) -> Table:
    """One line for each method: without known facts beside the published numbers, then with known facts."""
    without, facts = _without_facts(found), found.results("test")
    methods = list(dict.fromkeys(result.method for result in (*without, *facts)))
    body = [line for method in methods for line in _beside_the_paper(found, method, without)]
    if body:
        body.append((PUBLISHED_BEST[0], "its paper", "no", str(len(RATIOS)), "", *_spread(PUBLISHED_BEST[1:])))
    body += [_own_line(found, method, facts, "yes") for method in methods if has_known_facts(method_name(method))]
    header = ("Method", "", "Known facts", "Ratios", "Queries a type", "avg_p", "avg_p ±", "avg_n", "avg_n ±")
    marks = f" {READ_OFF}" if found.read_off else ""
    return Table("mean_over_ratios", MEANS + marks, header, tuple(line for line in body if line), 3)


def by_ratio(found: GridResults, *, known_facts: bool) -> Table:
    """One line for each ratio, one column for each method, and the paper's GNN-QE beside them."""
    results = [one for one in found.results("test") if _has_facts(one)] if known_facts else _without_facts(found)
    methods = list(dict.fromkeys(result.method for result in results if result.method != "betae"))
    cells = {(result.method, result.ratio): _pair(_row(result)) for result in results}
    paper = {row.ratio: _pair(row) for row in _paper("GNN-QE")}
    body = []
    for ratio in sorted(RATIOS):
        own = (cells.get((method, ratio), "") + _mark(found, method, ratio) for method in methods)
        body.append((f"{ratio} %", paper.get(float(ratio), ""), *own))
    body += _samples(results, methods)
    how = "with known facts (the paper's GNN-QE has none)" if known_facts else "without known facts, as in the paper"
    title = BY_RATIO.format(how=how) + (f" {READ_OFF}" if found.read_off else "")
    header = ("Ratio", "GNN-QE (paper)", *(_starred(method) for method in methods))
    return Table("with_facts" if known_facts else "without_facts", title, header, tuple(body), 1)


def _samples(results: Sequence[Result], methods: Sequence[str]) -> list[tuple[str, ...]]:
    """Two lines below a table: how many queries each method was asked, and its largest standard error."""
    own = [[one for one in results if one.method == method] for method in methods]
    errors = (
        [max((mean_error_bound([one], types) for one in group), default=math.nan) for types in (EPFO, NEGATION)]
        for group in own
    )
    asked = ("Queries a type", "", *(_asked(group) for group in own))
    return [asked, ("± at most", "", *(" / ".join(f"{error:.1f}" for error in pair) for pair in errors))]


def _without_facts(found: GridResults) -> list[Result]:
    """What was measured without known facts, and methods that have none anyway."""
    return [*found.results("test-alone"), *(one for one in found.results("test") if not _has_facts(one))]


def _beside_the_paper(found: GridResults, method: str, results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Our line of a method and, where it has one, the paper's over the same ratios."""
    own = _own_line(found, method, results, "no")
    measured = {result.ratio for result in results if result.method == method}
    theirs = [row for row in _paper(method_name(method)) if row.ratio in measured]
    if not (own and theirs):
        return [own]
    means = (_mean([row.avg_p for row in theirs]), _mean([row.avg_n for row in theirs]))
    return [own, (method_name(method), "paper", "no", str(len(theirs)), "", *_spread(means))]


def _own_line(found: GridResults, method: str, results: Sequence[Result], facts: str) -> tuple[str, ...]:
    """Nothing where the method was not measured so."""
    own = [result for result in results if result.method == method]
    if not own:
        return ()
    rows = [_row(result) for result in own]
    means = (_mean([row.avg_p for row in rows]), _mean([row.avg_n for row in rows]))
    errors = tuple(f"{mean_error_bound(own, types):.1f}" for types in (EPFO, NEGATION))
    mark = " †" if any(_mark(found, method, result.ratio) for result in own) else ""
    return (
        _starred(method) + mark,
        MEASURED,
        facts,
        str(len(own)),
        _asked(own),
        means[0],
        errors[0],
        means[1],
        errors[1],
    )


def _asked(results: Sequence[Result]) -> str:
    """Queries of each type: their number, or the smallest and the largest."""
    counts = sorted({one.metrics.queries for result in results for one in result.types.values()})
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


def _spread(means: Sequence[str]) -> tuple[str, str, str, str]:
    return means[0], "", means[1], ""


def _paper(method: str) -> list[ReportRow]:
    return [row for row in paper_rows() if (row.method, row.queries, row.metric) == (method, "test", "hits_at_10")]


def _row(result: Result) -> ReportRow:
    return next(row for row in rows_of(result) if row.metric == "hits_at_10" and row.queries == "test")


def _has_facts(result: Result) -> bool:
    return has_known_facts(method_name(result.method))


def _starred(method: str) -> str:
    return method_name(method) + ("*" if method in STARRED else "")


def _mark(found: GridResults, method: str, ratio: float | None) -> str:
    return "†" if (method, ratio) in found.read_off else ""


def _pair(row: ReportRow) -> str:
    return " / ".join(number(value) or "–" for value in (row.avg_p, row.avg_n))


def _mean(values: Sequence[float | None]) -> str:
    filled = [value for value in values if value is not None]
    return number(sum(filled) / len(filled)) if filled else ""
