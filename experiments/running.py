"""Running cells, one after the other, and leaving each done, explained, or ready to go on with."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cell_files import DONE, MISSING
from experiments.clock import Clock, TimeOver
from experiments.device_share import share_device
from experiments.grid import PREPARING, Cell, Task
from experiments.grid_errors import CellMissing
from experiments.measuring import Measurement
from experiments.opening import model_of, open_cell
from experiments.preparing import train_cell, tune_cell
from experiments.ratio_datasets import open_ratio
from unseen.errors import UnseenError
from unseen.models.run_folder import provenance

if TYPE_CHECKING:
    from experiments.cell_files import Json
    from experiments.workspace import Workspace
    from unseen.datasets.dataset import Dataset

Tell = Callable[[Cell, str, dict[str, Any]], None]
"""Called with a cell, what happens and its values.

What happens is `begin`, `progress`, `done`, `missing` or `time`.
"""


def run_tasks(
    workspace: Workspace, tasks: Iterable[Task], clock: Clock, tell: Tell, jobs: int = 1, address: str | None = None
) -> bool:
    """All tasks that are not done, until the time is over; whether every one was brought to its end.

    One after the other in this process, or, with several jobs or the address of a cluster, on Ray.
    """
    open_tasks = [task for task in tasks if not all(workspace.folder.is_done(cell) for cell in task.cells)]
    if jobs > 1 or address is not None:
        from experiments.lanes import run_in_lanes  # Ray is optional

        return run_in_lanes(workspace, open_tasks, clock, tell, jobs, address)
    share_device(workspace.device, workspace.share)
    runner = CellRunner(workspace, clock, tell)
    finished = [runner.run(task) for task in itertools.takewhile(lambda _: not clock.is_over, open_tasks)]
    return len(finished) == len(open_tasks) and all(finished)


class CellRunner:
    """Runs tasks of one workspace; the dataset of the last ratio is kept, the next task may need it."""

    def __init__(self, workspace: Workspace, clock: Clock, tell: Tell | None = None) -> None:
        self.workspace, self.clock = workspace, clock
        self.tell: Tell = tell or (lambda _cell, _event, _values: None)
        self._dataset: tuple[int, Dataset] | None = None

    def run(self, task: Task) -> bool:
        """The cells of a task that are not done; False if the time is over."""
        missing: str | None = None
        for cell in task.cells:
            if self.workspace.folder.is_done(cell):
                continue
            if missing is not None:
                self._leave(cell, missing)
                continue
            try:
                missing = self._run_cell(cell)
            except TimeOver:
                self.tell(cell, "time", {})
                return False
        return True

    def _run_cell(self, cell: Cell) -> str | None:
        """Bring a cell to its end; the reason if the cells after it cannot be filled either."""
        begin = time.perf_counter()
        self.clock.check()
        self.tell(cell, "begin", {})
        try:
            content = self._content(cell)
        except UnseenError as error:
            self._leave(cell, str(error))
            return str(error) if cell.what in PREPARING or isinstance(error, CellMissing) else None
        finally:
            self._add_seconds(cell, time.perf_counter() - begin)
        spent = self.workspace.folder.read_part(cell).get("cell_seconds", 0.0)
        self.workspace.folder.write(cell, DONE, {"seconds": spent, **content, "made_by": self._made_by(cell)})
        self.tell(cell, "done", {"seconds": spent})
        return None

    def _content(self, cell: Cell) -> Json:
        workspace = self.workspace
        plan = workspace.methods[cell.method]
        if plan.model is not None:
            model_of(workspace, plan)  # says so before anything is read
        dataset = self._opened(cell.ratio)

        def report(event: str, values: dict[str, Any]) -> None:
            self.tell(cell, "progress", {"event": event, **values})

        if cell.what in PREPARING:
            prepare = train_cell if cell.what == "train" else tune_cell
            return prepare(workspace, cell, dataset, self.clock, report)
        method, limit = open_cell(workspace, cell, dataset), workspace.limits.of(cell.what)
        measurement = Measurement(workspace.folder, cell, dataset, method, limit)
        return measurement.run(self.clock, lambda kind: report("type", {"label": kind}))

    def _opened(self, ratio: int) -> Dataset:
        if self._dataset is None or self._dataset[0] != ratio:
            self._dataset = None
            self._dataset = (ratio, open_ratio(self.workspace, ratio))
        return self._dataset[1]

    def _leave(self, cell: Cell, reason: str) -> None:
        """Write down why a cell is not filled; the next time it is tried again."""
        self.workspace.folder.write(cell, MISSING, {"reason": reason})
        self.tell(cell, "missing", {"reason": reason})

    def _add_seconds(self, cell: Cell, seconds: float) -> None:
        """The time of a cell runs on over slices, also over those that end in the middle."""
        part = self.workspace.folder.read_part(cell)
        self.workspace.folder.write_part(cell, part | {"cell_seconds": part.get("cell_seconds", 0.0) + seconds})

    def _made_by(self, cell: Cell) -> Json:
        import torch

        made = provenance()
        has_gpu = torch.cuda.is_available() and self.workspace.device != "cpu"
        plan = self.workspace.methods[cell.method]
        return {
            "command": self.workspace.command,
            "commit": made["commit"],
            "versions": made["versions"],
            "device": torch.cuda.get_device_name() if has_gpu else "cpu",
            "run": f"runs/{cell.ratio}/{cell.method}" if self.workspace.folder.run(cell).is_dir() else None,
            "model": Path(model_of(self.workspace, plan)).name if plan.model else None,
        }
