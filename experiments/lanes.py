"""The tasks of a grid on Ray: several lanes on each device, on this machine or on the machines of a cluster.

A training step waits for the host more than for the GPU, so that three or four processes beside each other do two to
three times as much. A task takes one lane of a device; one that must be alone takes all lanes of it. Two tasks of one
run are never given out at a time. A task whose process dies is explained, and not tried again in this slice.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cell_files import MISSING
from experiments.clock import Clock
from experiments.device_share import free_device, share_device
from experiments.grid import Cell, Task
from experiments.ratio_datasets import open_ratio
from experiments.running import CellRunner, Tell
from experiments.workspace import Workspace
from unseen.errors import UnseenError
from unseen.spreading.cluster import opened_ray

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKOUT = str(Path(__file__).resolve().parents[1])
"""Where workers find this package, wherever the command was called."""
GRACE = 120.0
"""Seconds that tasks have to save their work when they are asked to stop."""
LOOK = 0.5
"""Seconds between two looks at what tasks say."""
CHATTER = ("train", "calibration")
"""Events of which the display needs one now and then."""

Event = tuple[tuple[int, str, str], str, dict[str, Any]]


class Board:
    """Where tasks say what happens: an actor of Ray."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def put(self, event: Event) -> None:
        """Say something."""
        self._events.append(event)

    def take(self) -> list[Event]:
        """All that was said since the last time."""
        events, self._events = self._events, []
        return events


def run_in_lanes(
    workspace: Workspace, tasks: Sequence[Task], clock: Clock, tell: Tell, jobs: int, address: str | None
) -> bool:
    """All tasks until the time is over, `jobs` beside each other on a device; whether all were brought to their end."""
    if not tasks:
        return True
    with opened_ray(address, None) as ray:
        return _Lanes(ray, workspace, clock, tell, jobs).run(list(tasks))


def startable(waiting: Sequence[Task], running: Sequence[Task]) -> list[Task]:
    """The tasks that may be given out beside those that are: of each run the first."""
    taken, found = {task.run for task in running}, []
    for task in waiting:
        if task.run not in taken:
            found.append(task)
        taken.add(task.run)
    return found


@dataclass(eq=False)
class _Lanes:
    ray: Any
    workspace: Workspace
    clock: Clock
    tell: Tell
    jobs: int
    running: dict[Any, Task] = field(default_factory=dict)
    all_finished: bool = True

    def __post_init__(self) -> None:
        self.board = self.ray.remote(Board).options(num_cpus=0).remote()
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        self.cores = max(node.get("CPU", 1.0) for node in nodes)
        self.has_gpu = self.workspace.device != "cpu" and any(node.get("GPU", 0) for node in nodes)

    def run(self, tasks: list[Task]) -> bool:
        """Give out tasks as long as there are some and there is time."""
        waiting, prepared = list(tasks), self._prepared({task.ratio for task in tasks})
        try:
            while (waiting and not self.clock.is_over) or self.running:
                for task in [] if self.clock.is_over else startable(waiting, list(self.running.values())):
                    waiting.remove(task)
                    self.running[self._given_out(task, prepared[task.ratio])] = task
                if not self.running:
                    break
                done, _ = self.ray.wait(list(self.running), num_returns=1, timeout=LOOK)
                self._listen()
                for reference in done:
                    self._take(reference)
        except KeyboardInterrupt:
            self._stop()
            raise
        return self.all_finished and not waiting

    def _prepared(self, ratios: set[int]) -> dict[int, Any]:
        """The datasets of some ratios, each of which is made once before its tasks begin."""
        prepare = self.ray.remote(prepare_ratio).options(**self._how(alone=False), max_retries=0)
        return {ratio: prepare.remote(self.workspace.to_json(), ratio) for ratio in ratios}

    def _given_out(self, task: Task, prepared: Any) -> Any:
        limits = {"until": self._until(), "share": self.workspace.share / self.jobs}
        runs = self.ray.remote(run_task).options(**self._how(alone=task.alone), max_retries=0)
        return runs.remote(self.workspace.to_json(), asdict(task), limits, self.board, prepared)

    def _until(self) -> float | None:
        left = self.clock.minutes_left
        return None if left is None else time.time() + 60 * left

    def _how(self, *, alone: bool) -> dict[str, Any]:
        """The lane of a task, or all lanes of a device; and its share of the cores, unless that is set already."""
        threads = str(max(1, int(self.cores // (1 if alone else self.jobs))))
        paths = os.pathsep.join([CHECKOUT, *filter(None, [os.environ.get("PYTHONPATH")])])
        told = {name: os.environ.get(name, threads) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
        share = 1.0 if alone else 1 / self.jobs
        lane = {"num_gpus": share, "num_cpus": 0} if self.has_gpu else {"num_cpus": self.cores * share}
        return lane | {"runtime_env": {"env_vars": told | {"PYTHONPATH": paths}}}

    def _listen(self) -> None:
        for cell, event, values in self.ray.get(self.board.take.remote()):
            self.tell(Cell(*cell), event, values)

    def _take(self, reference: Any) -> None:
        task = self.running.pop(reference)
        try:
            self.all_finished &= bool(self.ray.get(reference))
        except self.ray.exceptions.RayError as error:
            self.all_finished = False
            self._explain(task, f"the process that ran it ended: {_reason(error)}")

    def _explain(self, task: Task, reason: str) -> None:
        """The first open cell of a task has the reason."""
        folder = self.workspace.folder
        for cell in [cell for cell in task.cells if not folder.is_done(cell)][:1]:
            folder.write(cell, MISSING, {"reason": reason})
            self.tell(cell, "missing", {"reason": reason})

    def _stop(self) -> None:
        """Ask all tasks to save their work, and wait for that."""
        for reference in self.running:
            self.ray.cancel(reference, force=False)
        self.ray.wait(list(self.running), num_returns=len(self.running), timeout=GRACE)


def _reason(error: Exception) -> str:
    """The last line of an error that has words: the lines before say where."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def prepare_ratio(workspace: dict[str, Any], ratio: int) -> None:
    """Make the dataset of a ratio, in a process of its own; why it cannot be made is said by the cells that need it."""
    try:
        open_ratio(Workspace.from_json(workspace), ratio)
    except UnseenError:
        return


def run_task(workspace: dict[str, Any], task: dict[str, Any], limits: dict[str, Any], board: Any, _ready: None) -> bool:
    """Run a task in a process of Ray; False if it was not brought to its end."""
    import ray

    place = Workspace.from_json(workspace)
    minutes = None if limits["until"] is None else (limits["until"] - time.time()) / 60
    share_device(place.device, limits["share"])

    def tell(cell: Cell, event: str, values: dict[str, Any]) -> None:
        if event == "progress" and values.get("event") in CHATTER and values.get("step", 0) % 100:
            return
        shown = {key: value for key, value in values.items() if isinstance(value, str | int | float)}
        said = board.put.remote(((cell.ratio, cell.method, cell.what), event, shown))
        if event != "progress":
            ray.get(said)  # it stands there before the task ends

    finished = CellRunner(place, Clock(minutes), tell).run(Task(**task | {"whats": tuple(task["whats"])}))
    free_device()
    return finished
