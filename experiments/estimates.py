"""How long the grid should take: a table of what was measured or guessed once, put right by cells that are done.

Seconds on one H200 with nothing beside, at 175 %. Other ratios are scaled by the edges that a cell works on: those of
the training graph to learn, those of the test graph to answer. Where a method's cell of the same kind is done on
another ratio, the table's number is scaled by what that one took.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.grid import REFERENCE, Cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments.cell_files import GridFolder
    from experiments.grid import Task

EDGES = {
    106: (493_426, 538_898),
    113: (401_678, 486_070),
    122: (298_880, 430_894),
    134: (228_730, 367_812),
    150: (162_684, 331_354),
    175: (102_522, 266_496),
    217: (52_456, 212_388),
    300: (24_440, 187_158),
    550: (5_266, 133_526),
}
"""Directed edges of the training and of the test inference graph."""
SECONDS: dict[str, dict[str, float]] = {
    "edge-type": {"test": 25, "training": 25},
    "path-counts": {"test": 60, "training": 60},
    "zero-shot": {"test": 60, "training": 60},
    "zero-shot-without-fb": {"test": 60, "training": 60},
    "gnn-qe": {"train": 120, "test": 25, "training": 25},
    "nodepiece-qe": {"train": 60, "tune": 40, "tune-alone": 30, "test": 20, "training": 20},
    "nodepiece-qe-gnn": {"train": 100, "tune": 40, "tune-alone": 30, "test": 20, "training": 20},
    "zero-shot-fine-tuned": {"train": 120, "test": 60, "training": 60},
    "betae": {"train": 900, "test": 15, "training": 15},
}
"""Of the first cells of each method; the rest is derived."""
SHARES = {"test-alone": 0.5, "training-alone": 1.0, "easy-first": 0.6, "strata": 0.5, "probabilities": 0.5, "time": 0.3}
"""What an experiment takes beside `test`."""
WORTH = 2.3
"""As many times more is done in a second by several processes on one GPU, whose steps the host holds up."""


def estimated_seconds(folder: GridFolder, cells: Sequence[Cell]) -> dict[Cell, float]:
    """The seconds that each cell should still take; nothing for those that are done."""
    filled = {found.cell: found for found in folder.all_cells() if found.is_done and found.seconds > 0}
    known = {cell: found.seconds / nominal(cell) for cell, found in filled.items()}
    return {cell: 0.0 if folder.is_done(cell) else nominal(cell) * _correction(cell, known) for cell in cells}


def nominal(cell: Cell) -> float:
    """The table's seconds of a cell."""
    table = SECONDS.get(cell.method, {"train": 300.0, "tune": 60.0, "tune-alone": 42.0, "test": 30.0})
    base = table.get(cell.what) or table["test"] * SHARES.get(cell.what, 1.0)
    if cell.ratio not in EDGES:
        return base
    own, reference = EDGES[cell.ratio], EDGES[REFERENCE]
    scale = own[0] / reference[0] if cell.what == "train" else own[1] / reference[1]
    return base * (0.6 + 0.4 * scale)


def wall_seconds(seconds: Iterable[float], jobs: int) -> float:
    """How long that takes by the clock with so many processes on one device."""
    return sum(seconds) / min(jobs, WORTH)


def cells_of_tasks(tasks: Iterable[Task]) -> list[Cell]:
    """Every cell once, in the order in which it is run."""
    return list(dict.fromkeys(cell for task in tasks for cell in task.cells))


def _correction(cell: Cell, known: dict[Cell, float]) -> float:
    """What the same kind of cell took beside the table, on average over ratios."""
    alike = [share for other, share in known.items() if (other.method, other.what) == (cell.method, cell.what)]
    return sum(alike) / len(alike) if alike else 1.0
