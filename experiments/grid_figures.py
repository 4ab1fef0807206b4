"""The figures of sections 5.2 and 5.3 for ours, the paper's points in grey, and three of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.comparison import GridResults, has_known_facts, matching_paper
from experiments.grid import REFERENCE
from unseen.evaluation.bar_figures import bars_by_type
from unseen.evaluation.figure_style import (
    INK,
    SETTINGS,
    STRATA,
    bottom_legend,
    looks_of,
    new_figure,
    require_matplotlib,
    save,
)
from unseen.evaluation.line_figures import averages_by_ratio, types_by_ratio
from unseen.evaluation.report_rows import method_name, ordered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from unseen.evaluation.figure_style import Look
    from unseen.evaluation.report_rows import ReportRow
    from unseen.evaluation.results import Result, TypeResult

GRAPHS = ("train", "test_all")
FEWEST = 10
"""Answers below which a stratum is not drawn."""


def draw_grid(found: GridResults, folder: Path) -> list[Path]:
    """Every figure that there are numbers for; the files written."""
    require_matplotlib()
    import matplotlib as mpl

    groups = {
        "test_queries": found.rows("test", "hits_at_10"),
        "test_queries_alone": alone_test_rows(found),
        "training_queries": training_rows(found),
    }
    looks = looks_of([row for rows in groups.values() for row in rows])
    with mpl.rc_context(SETTINGS):
        figures = {key: one for name, rows in groups.items() for key, one in _by_ratio(name, rows, looks).items()}
        figures |= _at_reference(found, looks)
        return [path for name, figure in figures.items() for path in save(figure, folder, name)]


def alone_test_rows(found: GridResults) -> list[ReportRow]:
    """Test queries as the paper asks them, if they were asked so at all."""
    alone = found.rows("test-alone", "hits_at_10")
    return _with_factless(alone, found.rows("test", "hits_at_10")) if alone else []


def training_rows(found: GridResults) -> list[ReportRow]:
    """Training queries as the paper asks them: without known facts, for methods that have any."""
    alone = found.rows("training-alone", "hits_at_10", "training", GRAPHS)
    return _with_factless(alone, found.rows("training", "hits_at_10", "training", GRAPHS))


def _with_factless(alone: Sequence[ReportRow], others: Sequence[ReportRow]) -> list[ReportRow]:
    """Rows without known facts, and those of methods that have none anyway."""
    return [*alone, *(row for row in others if not has_known_facts(row.method))]


def _by_ratio(name: str, rows: Sequence[ReportRow], looks: Mapping[str, Look]) -> dict[str, Any]:
    """Lines over ratios, on average and by type; with one ratio only, bars by type."""
    if not rows:
        return {}
    shown = ordered([*rows, *matching_paper(rows)])
    places = list(dict.fromkeys(row.place for row in shown))
    if len(places) == 1:
        return {f"{name}_by_type": bars_by_type(shown, looks)}
    lines = [row for row in shown if row.method != "BetaE"]  # one point, in the table
    return {
        f"{name}_by_ratio": averages_by_ratio(lines, places, looks),
        f"{name}_by_type": types_by_ratio(lines, places, looks),
    }


def _at_reference(found: GridResults, looks: Mapping[str, Look]) -> dict[str, Any]:
    """Our own figures, of the reference ratio: all methods beside each other."""
    strata = [result for result in found.results("strata") if result.ratio == REFERENCE]
    likely = [result for result in found.results("probabilities") if result.ratio == REFERENCE]
    figures = {}
    if strata:
        figures["strata"] = strata_by_method(strata)
    if likely:
        figures["reliability"] = reliability_curves(likely, looks)
    return figures


def strata_by_method(results: Sequence[Result]) -> Any:
    """Hits@10 by the number of missing links, mean over types: one group of bars a method."""
    names = sorted({name for result in results for one in result.types.values() for name in one.strata} - {"none"})
    figure = new_figure(7.2, 2.9)
    axes, width = figure.subplots(), 0.8 / max(1, len(names))
    for place, (colour, name) in enumerate(zip(STRATA, names, strict=False)):
        heights = [_stratum(result, name) for result in results]
        positions = np.arange(len(results)) + (place - (len(names) - 1) / 2) * width
        label = f"{name} missing link{'' if name == '1' else 's'}"
        axes.bar(positions, heights, width * 0.92, color=colour, label=label)
    axes.set_xticks(range(len(results)), [_in_two_lines(method_name(result.method)) for result in results])
    axes.tick_params(axis="x", labelsize=7)
    axes.set(ylabel="Hits@10 (%)", title=f"Test queries by missing links, ratio {REFERENCE} %, mean over types")
    bottom_legend(figure, axes.get_legend_handles_labels()[0])
    return figure


def reliability_curves(results: Sequence[Result], looks: Mapping[str, Look]) -> Any:
    """How often what was given a probability came true, over all types together."""
    figure = new_figure(6.6, 3.7)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#AAAAAA", linewidth=1, linestyle=(0, (4, 2)))
    for result in results:
        look = looks.get(method_name(result.method))
        probability, frequency, error = pooled_reliability(list(result.types.values()))
        style = {"color": look.colour if look else INK, "marker": look.marker if look else "o"}
        label = f"{method_name(result.method)} (ECE {100 * error:.2f} %)"
        axes.plot(probability, frequency, **style, markersize=4, linewidth=1.4, label=label, clip_on=False)
    axes.set(xlabel="probability", ylabel="share that came true", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"Calibration, ratio {REFERENCE} %")
    axes.set_aspect("equal")
    figure.legend(handles=axes.get_legend_handles_labels()[0], loc="outside right center")
    return figure


def pooled_reliability(types: Sequence[TypeResult]) -> tuple[list[float], list[float], float]:
    """Mean probability and frequency of the filled bins of all types together, and the calibration error."""
    found = [one.calibration for one in types if one.calibration]
    counts = np.sum([one.counts for one in found], axis=0)
    sums = [np.sum([np.multiply(one.counts, getattr(one, name)) for one in found], axis=0) for name in _MEANS]
    filled = counts > 0
    probability, frequency = (column[filled] / counts[filled] for column in sums)
    error = float((counts[filled] * np.abs(probability - frequency)).sum() / max(1, counts.sum()))
    return probability.tolist(), frequency.tolist(), error


_MEANS = ("probability", "frequency")


def _in_two_lines(name: str) -> str:
    """A name broken at its first blank."""
    return name.replace(" ", "\n", 1)


def _stratum(result: Result, name: str) -> float:
    """The mean of a stratum over the types that have enough such answers; NaN without any."""
    groups = [one.strata[name] for one in result.types.values() if name in one.strata]
    values = [100 * group.hits_at_10 for group in groups if group.answers >= FEWEST]
    return float(np.mean(values)) if values else float("nan")
