"""Lines over ratios: averages in two panels, or one small panel a type."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from unseen.evaluation.figure_style import INK, SETTINGS, bottom_legend, line_style, new_figure, ratio_axis
from unseen.evaluation.report_rows import is_on_larger_graph, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unseen.evaluation.figure_style import Look
    from unseen.evaluation.report_rows import ReportRow

RATIO_LABEL = "entities: inference graph / training graph (%)"
PANELS: dict[str, Callable[[ReportRow], float | None]] = {
    "Queries without negation": lambda row: row.avg_p,
    "Queries with negation": lambda row: row.avg_n,
}


def averages_by_ratio(rows: Sequence[ReportRow], places: Sequence[str], looks: Mapping[str, Look]) -> Any:
    """Averages against the ratio: one panel without negation, one with."""
    panels = {title: value for title, value in PANELS.items() if any(value(row) is not None for row in rows)}
    figure = new_figure(3.6 * len(panels), 3.2)
    for axes, (title, value) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        _lines(axes, rows, places, value, looks)
        ratio_axis(axes, places)
        axes.set(title=title, xlabel=RATIO_LABEL, ylabel="Hits@10 (%)", ylim=(0, axes.get_ylim()[1]))
    bottom_legend(figure, _handles(rows, looks), columns=2 * len(panels) - 1)
    return figure


def types_by_ratio(rows: Sequence[ReportRow], places: Sequence[str], looks: Mapping[str, Look]) -> Any:
    """One small panel a type, all on one scale; the free place holds the legend."""
    types = types_of(rows)
    columns = min(5, len(types) + 1)
    lines = -(-(len(types) + 1) // columns)
    figure = new_figure(1.66 * columns + 0.3, 1.55 * lines + 0.3)
    panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, kind in zip(panels, types, strict=False):
        _lines(axes, rows, places, partial(_value, kind), looks, size=0.62)
        ratio_axis(axes, places, rotation=90, fontsize=6.5)
        axes.set_title(kind)
        axes.tick_params(labelbottom=True)
    panels[0].set_ylim(0, 1.04 * max(value for row in rows for value in row.values.values()))
    for axes in panels[len(types) :]:
        axes.set_axis_off()
    place = {"loc": "center left", "bbox_to_anchor": (-0.08, 0.5), "handlelength": 1.7, "handletextpad": 0.6}
    handles = _handles(rows, looks)
    tight = {"fontsize": 6.6} if len(handles) <= 11 else {"fontsize": 5.8, "labelspacing": 0.3}
    legend = panels[-1].legend(handles=handles, **tight, **place)
    legend.set_in_layout(False)
    figure.supxlabel(RATIO_LABEL, fontsize=SETTINGS["font.size"], color=INK)
    figure.supylabel("Hits@10 (%)", fontsize=SETTINGS["font.size"], color=INK)
    return figure


def _lines(
    axes: Any,
    rows: Sequence[ReportRow],
    places: Sequence[str],
    value: Callable[[ReportRow], float | None],
    looks: Mapping[str, Look],
    size: float = 1.0,
) -> None:
    """One line for each method and graph, through its values at the ratios that it has."""
    for key in dict.fromkeys((row.method, row.from_paper, row.graph) for row in rows):
        series = [row for row in rows if (row.method, row.from_paper, row.graph) == key]
        points = [(places.index(row.place), y) for row in series if (y := value(row)) is not None]
        style = line_style(series[0], looks, dashed=is_on_larger_graph(series[0]))
        style["markersize"] *= size
        style["linewidth"] *= max(size, 0.75)
        if points:
            axes.plot(*zip(*sorted(points), strict=True), **style, clip_on=False)


def _handles(rows: Sequence[ReportRow], looks: Mapping[str, Look]) -> list[Any]:
    """Legend entries: the methods, and what dashes mean where there are any."""
    from matplotlib.lines import Line2D

    methods = {row.label: Line2D([], [], **line_style(row, looks), label=row.label) for row in rows}
    graphs = [
        Line2D([], [], color=INK, linewidth=1.3, linestyle="-", label="training graph"),
        Line2D([], [], color=INK, linewidth=1.3, linestyle=(0, (4, 2)), label="larger inference graph"),
    ]
    return [*methods.values(), *(graphs if any(is_on_larger_graph(row) for row in rows) else [])]


def _value(kind: str, row: ReportRow) -> float | None:
    return row.values.get(kind)
