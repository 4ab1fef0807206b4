"""The picture of a check: Hits@10 of every method by relation, and whether first predictions say what is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.evaluation.figure_style import INK, LOOKS, SETTINGS, SPARE, bottom_legend, new_figure, save_as
from unseen.evaluation.report_rows import METHOD_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from unseen.evaluation.check_result import CheckResult, RelationCheck
    from unseen.evaluation.figure_style import Look

MOST_RELATIONS = 40
LONGEST_NAME = 28
KNOWN = {"default": LOOKS["Zero-shot"], "without-fb15k-237": LOOKS["Zero-shot w/o FB15k-237"], "rules": LOOKS["GNN-QE"]}
"""Looks of methods by the name that they are asked for by, beside those of reports."""


def draw_check(found: CheckResult, path: Path) -> None:
    """Write the picture of a check, whole or not at all."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        save_as(_figure(found), path)


def _figure(found: CheckResult) -> Any:
    rows, looks = found.rows[:MOST_RELATIONS], _looks(found.methods)
    figure = new_figure(7.2, max(3.2, 1.5 + 0.2 * (len(rows) + 1)))
    left, right = figure.subplots(1, 2, width_ratios=(1.55, 1))
    _draw_relations(left, found, rows, looks)
    _draw_reliability(right, found, looks)
    handles = [_handle(looks[name], name) for name in found.methods]
    bottom_legend(figure, [*handles, _chance_handle()])
    return figure


def _draw_relations(axes: Any, found: CheckResult, rows: tuple[RelationCheck, ...], looks: Mapping[str, Look]) -> None:
    """A line for each relation, a mark for each method, a tick where chance lies; all relations together at the top."""
    last = len(rows)
    for place, row in enumerate(rows):
        height = last - 1 - place
        shares = [100 * score.hits_at_10 for score in row.scores.values()]
        axes.plot([min(shares), max(shares)], [height, height], color="#D5D5D5", linewidth=2, zorder=1.5)
        axes.plot([100 * row.chance], [height], marker="|", color=INK, markersize=7, linestyle="", zorder=2)
        for name, score in row.scores.items():
            _mark(axes, looks[name], 100 * score.hits_at_10, height)
    for name, score in found.overall.items():
        _mark(axes, looks[name], 100 * score.hits_at_10, last)
    axes.axhline(last - 0.5, color="#BBBBBB", linewidth=0.7)
    names = [f"{_cut(row.relation)} ({row.tried})" for row in rows]
    axes.set_yticks(range(last + 1), [*names[::-1], f"all facts ({found.tried:,})"])
    axes.set(xlim=(-2, 102), ylim=(-0.6, last + 0.6), xlabel="Hits@10 (%)", title="Hidden facts found, by relation")
    axes.grid(visible=True, axis="x")
    axes.grid(axis="y", visible=False)


def _draw_reliability(axes: Any, found: CheckResult, looks: Mapping[str, Look]) -> None:
    """For each method: how often first predictions with such a probability are true; larger marks for more of them."""
    axes.plot([0, 1], [0, 1], color="#AAAAAA", linewidth=1, linestyle=(0, (4, 2)))
    for name, one in found.reliability.items():
        bins = [place for place, count in enumerate(one.counts) if count]
        x, y = ([column[place] for place in bins] for column in (one.probability, one.frequency))
        sizes = [12 + 90 * one.counts[place] / sum(one.counts) for place in bins]
        axes.plot(x, y, color=looks[name].colour, linewidth=1.3, zorder=2.5)
        axes.scatter(x, y, s=sizes, color=looks[name].colour, marker=looks[name].marker, zorder=3, clip_on=False)
    axes.set(
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
        xlabel="probability of the first prediction",
        ylabel="share that is true",
    )
    axes.set_title("Probabilities, and truth")
    axes.set_box_aspect(1)
    axes.set_anchor("N")
    axes.grid(visible=True, axis="both")


def _mark(axes: Any, look: Look, share: float, height: float) -> None:
    axes.plot(
        [share], [height], linestyle="", marker=look.marker, color=look.colour, markersize=5, clip_on=False, zorder=3
    )


def _looks(methods: tuple[str, ...]) -> dict[str, Look]:
    """A look for each method; one that is not known takes a spare one."""
    known = {name: KNOWN.get(name) or LOOKS.get(METHOD_NAMES.get(name, name)) for name in methods}
    strangers = [name for name, look in known.items() if look is None]
    return {name: look or SPARE[strangers.index(name) % len(SPARE)] for name, look in known.items()}


def _handle(look: Look, name: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=look.colour, marker=look.marker, markersize=5, linewidth=1.3, label=_cut(name))


def _chance_handle() -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, marker="|", markersize=7, linestyle="", label="by chance")


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
