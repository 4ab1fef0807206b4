"""What is asked of a grid, and what that means: tasks, cells, how far each is, how long the rest should take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.estimates import cells_of_tasks, estimated_seconds, wall_seconds
from experiments.grid import EXPERIMENTS, RATIOS, Cell, Task, chosen, tasks_of
from experiments.grid_errors import ReproductionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.workspace import Workspace

TINY_RATIOS = (175, 550)


@dataclass(frozen=True)
class Request:
    """Which part of the grid is wanted, and in which order; None is all of it, in its own."""

    ratios: Sequence[int] | None = None
    methods: Sequence[str] | None = None
    experiments: Sequence[str] | None = None

    def tasks(self, workspace: Workspace) -> list[Task]:
        """The tasks in the order in which they are run."""
        plans = workspace.methods
        methods = {name: plans[name] for name in chosen("method", self.methods, list(plans))}
        experiments = chosen("experiment", self.experiments, EXPERIMENTS)
        return list(tasks_of(self._ratios(workspace), methods, experiments))

    def _ratios(self, workspace: Workspace) -> list[int]:
        known = TINY_RATIOS if workspace.preset == "tiny" else RATIOS
        for ratio in self.ratios or ():
            if ratio not in RATIOS:
                raise ReproductionError(f"there is no ratio {ratio}; there are {', '.join(map(str, sorted(RATIOS)))}")
        return list(dict.fromkeys(self.ratios)) if self.ratios is not None else [one for one in RATIOS if one in known]


@dataclass(frozen=True)
class PlannedCell:
    """A cell, how far it is, and the seconds that it should still take."""

    cell: Cell
    status: str
    """`done`, `begun`, `missing` or `open`."""
    seconds: float
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        about = {"cell": self.cell.name, "status": self.status, "seconds": round(self.seconds, 1)}
        return about | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Plan:
    """All wanted cells in the order in which they are run."""

    cells: tuple[PlannedCell, ...]
    jobs: int = 1

    @classmethod
    def of(cls, workspace: Workspace, tasks: Sequence[Task], jobs: int = 1) -> Plan:
        """What the files of a grid say about some tasks."""
        cells = cells_of_tasks(tasks)
        seconds = estimated_seconds(workspace.folder, cells)
        return cls(tuple(_planned(workspace, cell, seconds[cell]) for cell in cells), jobs)

    @property
    def seconds(self) -> float:
        """How long the rest should take by the clock."""
        return wall_seconds((planned.seconds for planned in self.cells), self.jobs)

    def count(self, status: str) -> int:
        """How many cells are that far."""
        return sum(planned.status == status for planned in self.cells)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        counts = {status: self.count(status) for status in ("done", "begun", "missing", "open")}
        cells = [planned.to_json() for planned in self.cells]
        return {"jobs": self.jobs, "minutes_left": round(self.seconds / 60, 1), "counts": counts, "cells": cells}


def _planned(workspace: Workspace, cell: Cell, seconds: float) -> PlannedCell:
    found = workspace.folder.read(cell)
    if found is not None:
        return PlannedCell(cell, found.status, seconds, found.reason)
    is_begun = bool(workspace.folder.read_part(cell)) or (
        cell.what == "train" and (workspace.folder.run(cell) / "last.json").exists()
    )
    return PlannedCell(cell, "begun" if is_begun else "open", seconds)
