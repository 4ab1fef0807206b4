"""What a terminal shows of a training run: a bar with loss, speed and remaining time, a line for each validation."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress

    from unseen.training.loop import Report


SECONDS_BETWEEN_LINES = 30
"""Where there is no terminal to draw a bar on."""


@contextmanager
def training_display() -> Iterator[Report]:
    """Takes the events of a run: a live bar on a terminal's standard error, plain lines elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield _Display(progress, console).show


class _Display:
    def __init__(self, progress: Progress, console: Console) -> None:
        self.progress, self.console = progress, console
        self.task = progress.add_task("training", total=None)
        self.last_line = 0.0

    def show(self, event: str, values: dict[str, Any]) -> None:
        """Take one event."""
        if event == "start":
            self.progress.update(self.task, completed=values["step"], total=values["steps"])
            self._line(f"{values['device']}, {values['parameters']:,} parameters, from step {values['step']:,}")
        elif event == "train":
            text = f"loss {values['loss']:.4f}  {values['steps_per_second']:.1f} steps/s"
            self.progress.update(self.task, completed=values["step"], description=text)
            if not self.console.is_terminal and time.monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
                self._line(f"step {values['step']:,}: {text}")
        elif event == "validation":
            self._line(_validation(values))
        elif event == "calibration":
            total = values["total"]
            self.progress.update(self.task, completed=values["done"], total=total, description=values["label"])

    def _line(self, text: str) -> None:
        self.last_line = time.monotonic()
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)


def _validation(values: dict[str, Any]) -> str:
    parts = [f"{group} {100 * values[key]:.1f}" for group, key in _AVERAGES.items() if key in values]
    mark = " (best)" if values["is_best"] else ""
    return f"step {values['step']:,}: Hits@10 {' '.join(parts)}, score {values['score']:.4f}{mark}"


_AVERAGES = {"avg_p": "avg_p_hits_at_10", "avg_n": "avg_n_hits_at_10"}
