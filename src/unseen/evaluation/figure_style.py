"""How figures look: one palette that the colour-blind can read, one colour a method everywhere, light grids.

matplotlib is imported inside functions: without it everything but figures works.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.errors import MissingExtra
from unseen.graph.files.atomic_file import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from unseen.evaluation.report_rows import ReportRow

DPI = 300
"""Dots an inch."""
ABOUT: Any = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
"""What is written into files beside the picture: nothing that changes from one run to the next."""
INK = "#333333"
PAPER = "#A6A6A6"
"""Published numbers in lines: grey, each method by its marker."""
SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": "#9A9A9A",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.grid.axis": "y",
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "svg.hashsalt": "unseen",
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Look:
    """How one method is drawn, in every figure of a report."""

    colour: str
    marker: str


LOOKS = {
    "GNN-QE": Look("#0072B2", "o"),
    "NodePiece-QE w/ GNN": Look("#009E73", "^"),
    "NodePiece-QE": Look("#E69F00", "v"),
    "Edge-type heuristic": Look("#6B6B6B", "s"),
    "Zero-shot": Look("#D55E00", "D"),
    "Zero-shot w/o FB15k-237": Look("#56B4E9", "d"),
    "Zero-shot, fine-tuned": Look("#882255", "*"),
    "BetaE": Look("#CC79A7", "P"),
    "Exact traversal": Look("#000000", "X"),
}
"""Okabe and Ito's colours, fixed for the methods that are known."""
SPARE = tuple(Look(c, m) for c in ("#8C510A", "#332288", "#999933", "#44AA99") for m in ("h", "*", "p", "d"))
STRATA = ("#9ECAE1", "#4292C6", "#08519C", "#041F4A")
"""Light to dark: one missing link to many."""


def looks_of(rows: Iterable[ReportRow]) -> dict[str, Look]:
    """A look for each method; what is not known by name takes a spare one, in order of appearance."""
    methods = dict.fromkeys(row.method for row in rows)
    strangers = [method for method in methods if method not in LOOKS]
    return {**LOOKS, **{method: SPARE[place % len(SPARE)] for place, method in enumerate(strangers)}}


def line_style(row: ReportRow, looks: Mapping[str, Look], dashed: bool = False) -> dict[str, Any]:
    """Arguments for a line: solid or dashed; published numbers are thin and grey, with hollow markers."""
    look = looks[row.method]
    paper = row.from_paper
    colour = PAPER if paper else look.colour
    return {
        "color": colour,
        "marker": look.marker,
        "markersize": 6.0 if paper else 4.2,
        "markerfacecolor": "white" if paper else colour,
        "markeredgewidth": 0.9,
        "linewidth": 0.9 if paper else 1.7,
        "linestyle": (0, (4, 2)) if dashed else "-",
        "zorder": 2.5 if paper else 3,
    }


def require_matplotlib() -> None:
    """An error that says what to install, unless matplotlib is there."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("figures", "plot", "matplotlib")


def new_figure(width: float, height: float) -> Any:
    """An empty figure of so many inches, laid out so that nothing overlaps."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """The figure as PNG and SVG, whole or not at all; the same numbers give the same bytes."""
    paths = [folder / f"{name}.{kind}" for kind in ABOUT]
    for path in paths:
        save_as(figure, path)
    return paths


def save_as(figure: Any, path: Path) -> None:
    """The figure as one file, PNG or SVG by its name."""
    kind = path.suffix.lower().removeprefix(".")
    with replacing(path) as stream:
        figure.savefig(stream, format=kind, dpi=DPI, metadata=ABOUT[kind])


def bottom_legend(figure: Any, handles: Sequence[Any], columns: int = 4) -> None:
    """One legend for all panels, below them."""
    rows = max(1, -(-len(handles) // columns))
    figure.legend(handles=handles, loc="outside lower center", ncols=-(-len(handles) // rows), columnspacing=1.6)


def ratio_axis(axes: Any, places: Sequence[str], **text: Any) -> None:
    """Ratios evenly spaced, because the small ones lie close together; `text` says how they are written."""
    axes.set_xticks(range(len(places)), [place.removesuffix(" %") for place in places], **text)
    axes.set_xlim(-0.35, len(places) - 0.65)
