"""The figures of a report: the paper's (Hits@10 by ratio and by type, training queries on both graphs) and our own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.evaluation.bar_figures import bars_by_type, strata_bars
from unseen.evaluation.figure_style import SETTINGS, looks_of, new_figure, require_matplotlib, save
from unseen.evaluation.line_figures import averages_by_ratio, types_by_ratio
from unseen.evaluation.report_rows import method_name, ordered, ratio_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from unseen.evaluation.figure_style import Look
    from unseen.evaluation.report_rows import ReportRow
    from unseen.evaluation.results import Result

METRIC = "hits_at_10"
GRAPHS = ("train", "valid_all", "test_all")
"""Where training queries are drawn: all of them on both graphs, so that the two lines tell of the same queries."""


def draw_figures(rows: Sequence[ReportRow], results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw everything that the rows have numbers for; the files written."""
    require_matplotlib()
    import matplotlib as mpl

    looks = looks_of(rows)
    shown = ordered(row for row in rows if row.metric == METRIC)
    test = [row for row in shown if row.queries != "training"]
    training = [row for row in shown if row.queries == "training" and row.graph in GRAPHS]
    with mpl.rc_context(SETTINGS):
        figures = _paper_figures("test_queries", test, looks) | _paper_figures("training_queries", training, looks)
        for result in results:
            figures |= _own_figures(result, looks)
        return [path for name, figure in figures.items() for path in save(figure, folder, name)]


def _paper_figures(name: str, rows: Sequence[ReportRow], looks: Mapping[str, Look]) -> dict[str, Any]:
    """Lines over ratios, on average and by type; with one ratio only, bars by type."""
    places = list(dict.fromkeys(row.place for row in rows))
    if not rows:
        return {}
    if len(places) == 1:
        return {f"{name}_by_type": bars_by_type(rows, looks)}
    return {
        f"{name}_by_ratio": averages_by_ratio(rows, places, looks),
        f"{name}_by_type": types_by_ratio(rows, places, looks),
    }


def _own_figures(result: Result, looks: Mapping[str, Look]) -> dict[str, Any]:
    """Strata and reliability of one result, where they were measured."""
    slug = re.sub(r"[^\w.-]+", "-", f"{result.method}_{result.dataset}")
    ratio, method = ratio_of(result), method_name(result.method)
    title = f"{method}, {result.dataset if ratio is None else f'{ratio:g} %'}"
    figures = {}
    if any(len(one.strata) > 1 for one in result.types.values()):
        figures[f"strata_{slug}"] = strata_bars(result, title)
    if any(one.calibration for one in result.types.values()):
        figures[f"reliability_{slug}"] = _reliability(result, title, looks[method].colour)
    return figures


def _reliability(result: Result, title: str, colour: str) -> Any:
    """How often what was given a probability came true, and how many candidates were given it."""
    found = [one.calibration for one in result.types.values() if one.calibration]
    counts = np.sum([one.counts for one in found], axis=0)
    means = [np.sum([np.multiply(one.counts, getattr(one, name)) for one in found], axis=0) for name in _MEANS]
    filled = counts > 0
    probability, frequency = (column[filled] / counts[filled] for column in means)
    error = float((counts[filled] * np.abs(probability - frequency)).sum() / counts.sum())
    figure = new_figure(3.4, 3.9)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
    above.plot([0, 1], [0, 1], color="#AAAAAA", linewidth=1, linestyle=(0, (4, 2)))
    above.plot(probability, frequency, color=colour, marker="o", markersize=4.5, linewidth=1.6, clip_on=False)
    above.set(ylabel="share that came true", ylim=(0, 1), title=title)
    above.text(0.04, 0.93, f"ECE {100 * error:.2f} %", transform=above.transAxes)
    edges = np.linspace(0, 1, len(counts) + 1)
    below.bar(edges[:-1], counts, np.diff(edges) * 0.94, align="edge", color=colour, alpha=0.75, log=True)
    below.set(xlabel="probability", ylabel="candidates", xlim=(0, 1), ylim=(counts[filled].min() / 3, None))
    return figure


_MEANS = ("probability", "frequency")
