"""Bars by type, for results at one ratio: methods side by side, or strata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.evaluation.figure_style import INK, STRATA, bottom_legend, new_figure
from unseen.evaluation.report_rows import TYPES, is_on_larger_graph, types_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.evaluation.figure_style import Look
    from unseen.evaluation.report_rows import ReportRow
    from unseen.evaluation.results import Result


def bars_by_type(rows: Sequence[ReportRow], looks: Mapping[str, Look]) -> Any:
    """Groups of bars, one group a type and one for each average; where a row has a baseline, a tick on its bar."""
    kinds = types_of(rows)
    averages = {"avg$_p$": [row.avg_p for row in rows], "avg$_n$": [row.avg_n for row in rows]}
    names = [*kinds, *(name for name, values in averages.items() if any(value is not None for value in values))]
    figure = new_figure(7.2, 3.0)
    axes = figure.subplots()
    bars = [row for row in rows if row.queries != "training" or is_on_larger_graph(row)] or list(rows)
    width = 0.84 / len(bars)
    for place, row in enumerate(bars):
        positions = np.arange(len(names)) + (place - (len(bars) - 1) / 2) * width
        axes.bar(positions, _heights(row, kinds, names), width * 0.88, **_bar_style(row, looks), label=row.label)
        for baseline in (other for other in rows if _is_baseline(other, row)):
            heights = _heights(baseline, kinds, names)
            axes.hlines(heights, positions - width * 0.44, positions + width * 0.44, color=INK, linewidth=1.3)
    axes.set_xticks(range(len(names)), names)
    axes.set(title=_bars_title(rows[0]), ylabel="Hits@10 (%)", xlim=(-0.6, len(names) - 0.4))
    if len(names) > len(kinds):
        axes.axvline(len(kinds) - 0.5, color="#BBBBBB", linewidth=0.7)
    bottom_legend(figure, [*axes.get_legend_handles_labels()[0], *_tick_handle(rows, bars)], columns=3)
    return figure


def _heights(row: ReportRow, kinds: Sequence[str], names: Sequence[str]) -> list[float]:
    """The row's values at the places named, NaN where it has none."""
    averages = {"avg$_p$": row.avg_p, "avg$_n$": row.avg_n}
    values = [row.values.get(name) if name in kinds else averages[name] for name in names]
    return [np.nan if value is None else value for value in values]


def _tick_handle(rows: Sequence[ReportRow], bars: Sequence[ReportRow]) -> list[Any]:
    """What a tick on a bar means, where there are any."""
    from matplotlib.lines import Line2D

    ticks = any(_is_baseline(other, row) for row in bars for other in rows)
    return [Line2D([], [], color=INK, linewidth=1.3, label="on the training graph")] if ticks else []


def _is_baseline(other: ReportRow, row: ReportRow) -> bool:
    """Whether `other` is the same method on the training graph, and `row` on a larger one."""
    return is_on_larger_graph(row) and other.graph == "train" and other.label == row.label


def _bars_title(row: ReportRow) -> str:
    where = row.dataset if row.ratio is None else f"ratio {row.place}"
    return f"Training queries on the larger graph, {where}" if row.queries == "training" else f"Test queries, {where}"


def strata_bars(result: Result, title: str) -> Any:
    """Hits@10 by the number of missing links, one group of bars a type that has several."""
    kinds = [kind for kind in TYPES if kind in result.types and len(result.types[kind].strata) > 1]
    groups = [dict(sorted(result.types[kind].strata.items())) for kind in kinds]
    names = sorted({name for group in groups for name in group})
    figure = new_figure(7.2, 2.9)
    axes, width = figure.subplots(), 0.8 / len(names)
    for colour, name in zip(STRATA, names, strict=False):
        inside = [(place, group) for place, group in enumerate(groups) if name in group]
        positions = [place + (list(group).index(name) - (len(group) - 1) / 2) * width for place, group in inside]
        heights = [100 * group[name].hits_at_10 for _, group in inside]
        axes.bar(
            positions, heights, width * 0.92, color=colour, label=f"{name} missing link{'' if name == '1' else 's'}"
        )
    axes.set_xticks(range(len(kinds)), kinds)
    axes.set(ylabel="Hits@10 (%)", title=title)
    bottom_legend(figure, axes.get_legend_handles_labels()[0])
    return figure


def _bar_style(row: ReportRow, looks: Mapping[str, Look]) -> dict[str, Any]:
    """Full colour if measured; a tint with an edge if from the paper."""
    from matplotlib.colors import to_rgb

    colour = looks[row.method].colour
    share = 0.3 if row.from_paper else 1.0
    return {"facecolor": [1 - share * (1 - part) for part in to_rgb(colour)], "edgecolor": colour, "linewidth": 0.7}
