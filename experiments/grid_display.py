"""What a terminal shows of a grid that is run: one bar for all cells, one for each that runs, and lines."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

    from experiments.grid import Cell
    from experiments.running import Tell


@contextmanager
def grid_display(cells: int, done: int) -> Iterator[Tell]:
    """Takes the events of cells: live bars on a terminal's standard error, plain lines elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        yield _Display(progress, console, progress.add_task("cells", total=cells, completed=done)).show


class _Display:
    def __init__(self, progress: Progress, console: Console, whole: TaskID) -> None:
        self.progress, self.console, self.whole = progress, console, whole
        self.running: dict[str, TaskID] = {}

    def show(self, cell: Cell, event: str, values: dict[str, Any]) -> None:
        """Take one event."""
        if event == "begin":
            self.running[cell.name] = self.progress.add_task(cell.name, total=None)
        elif event == "progress":
            self._update(cell, values)
        else:
            self._end(cell)
            self._line(_ending(cell, event, values))
            self.progress.advance(self.whole, event == "done")

    def _update(self, cell: Cell, values: dict[str, Any]) -> None:
        task = self.running.get(cell.name)
        if task is None:
            return
        if values["event"] == "start":
            self.progress.update(task, total=values["steps"], completed=values["step"])
        elif values["event"] == "train":
            text = f"{cell.name}  loss {values['loss']:.3f}  {values['steps_per_second']:.0f} steps/s"
            self.progress.update(task, completed=values["step"], description=text)
        elif values["event"] == "validation":
            self._line(f"{cell.name}: step {values['step']:,}, validation {values['score']:.4f}")
        else:
            self.progress.update(task, description=f"{cell.name}  {values.get('label', '')}")

    def _end(self, cell: Cell) -> None:
        task = self.running.pop(cell.name, None)
        if task is not None:
            self.progress.remove_task(task)

    def _line(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)


def _ending(cell: Cell, event: str, values: dict[str, Any]) -> str:
    if event == "done":
        return f"{cell.name}: done in {values['seconds']:.1f} s"
    if event == "missing":
        return f"{cell.name}: {values['reason']}"
    return f"{cell.name}: the time is over; the same command continues"
