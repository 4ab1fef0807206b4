"""Runs the tasks of a grid: in this process, or by several that share a device.

A training step waits for the host more than for the GPU, so that three or four processes beside each other do two to
three times as much. Tasks go to whichever process is free, in order, but never two of one run at a time; those that
must be alone wait for all others.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from experiments.cell_files import MISSING
from experiments.cell_worker import share_device
from experiments.grid import Cell, Task
from experiments.locks import take, tried
from experiments.running import CellRunner, Tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments.clock import Clock
    from experiments.workspace import Workspace

CHECKOUT = str(Path(__file__).resolve().parents[1])
"""Where workers find this package, wherever the command was called."""
GRACE = 120.0
"""Seconds that a process has to save its work when it is asked to stop."""
CRASHED = "the process that ran it ended without a word; the last lines of {log} may say why"

Message = tuple["Worker", dict[str, Any] | None]


def run_tasks(workspace: Workspace, tasks: Iterable[Task], clock: Clock, tell: Tell, jobs: int = 1) -> bool:
    """All tasks that are not done, until the time is over; whether every one was brought to its end."""
    open_tasks = [task for task in tasks if not all(workspace.folder.is_done(cell) for cell in task.cells)]
    if jobs > 1:
        return _Pool(workspace, clock, tell, jobs).run(open_tasks)
    share_device(workspace.device, workspace.share)
    runner = CellRunner(workspace, clock, tell)
    finished = [runner.run(task) for task in itertools.takewhile(lambda _: not clock.is_over, open_tasks)]
    return len(finished) == len(open_tasks) and all(finished)


@dataclass(eq=False)
class Worker:
    """One process and what it is doing."""

    number: int
    process: subprocess.Popen[str]
    log: Path
    task: Task | None = None

    def send(self, value: dict[str, Any]) -> None:
        """One line of orders; that a process is dead is heard from its silence."""
        stream: IO[str] | None = self.process.stdin
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.write(json.dumps(value) + "\n")
                stream.flush()


def next_task(waiting: Sequence[Task], busy: Sequence[Task]) -> Task | None:
    """The first task that may run beside those that do; none also where one that must be alone is next or runs."""
    runs = {(task.ratio, task.method) for task in busy}
    if any(task.alone for task in busy):
        return None
    for task in waiting:
        if task.alone:
            return None if busy else task
        if (task.ratio, task.method) not in runs:
            return task
    return None


def environment(jobs: int) -> dict[str, str]:
    """Of a process among several: its share of the cores, unless that is set already, and where this package is."""
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    paths = [CHECKOUT, *filter(None, [os.environ.get("PYTHONPATH")])]
    told = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(paths)}
    return {"OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads} | told


def open_log(path: Path) -> IO[str]:
    """The first log that no other process writes to."""
    folder = path / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        stream = (folder / f"worker-{number}.log").open("a", encoding="utf-8")
        if take(stream):
            return stream
        stream.close()
    raise AssertionError


class _Pool:
    """Some processes, and the tasks that they share."""

    def __init__(self, workspace: Workspace, clock: Clock, tell: Tell, jobs: int) -> None:
        self.workspace, self.clock, self.tell, self.jobs = workspace, clock, tell, jobs
        self.messages: queue.Queue[Message] = queue.Queue()
        self.processes: list[subprocess.Popen[str]] = []
        self.logs: dict[int, IO[str]] = {}
        self.all_finished = True

    def run(self, tasks: list[Task]) -> bool:
        waiting = list(tasks)
        with ExitStack() as stack:
            stack.callback(_stop_all, self.processes)
            workers = [self._started(number, stack) for number in range(min(self.jobs, len(waiting)))]
            self._hand_out(waiting, workers)
            while any(worker.task is not None for worker in workers):
                worker, message = self.messages.get()
                self._take(worker, message)
                if message is None:
                    workers[workers.index(worker)] = self._started(worker.number, stack)
                self._hand_out(waiting, workers)
        return self.all_finished and not waiting

    def _hand_out(self, waiting: list[Task], workers: list[Worker]) -> None:
        """Give every free worker its next task, as long as there is time and nothing has to be alone."""
        for worker in (one for one in workers if one.task is None):
            busy = [one.task for one in workers if one.task is not None]
            worker.task = None if self.clock.is_over else next_task(waiting, busy)
            if worker.task is None:
                return
            waiting.remove(worker.task)
            worker.send(asdict(worker.task))

    def _take(self, worker: Worker, message: dict[str, Any] | None) -> None:
        """An event of a worker; None is its unexpected end."""
        if message is None:
            self._crashed(worker)
        elif message["event"] == "idle":
            self.all_finished &= bool(message["finished"])
            worker.task = None
        else:
            self.tell(Cell(*message["cell"]), message["event"], message["values"])

    def _crashed(self, worker: Worker) -> None:
        """Its task is not tried again in this slice."""
        self.all_finished = False
        if worker.task is not None:
            self._explain(worker.task, CRASHED.format(log=worker.log.relative_to(self.workspace.path)))
        worker.task = None

    def _explain(self, task: Task, reason: str) -> None:
        """The first open cell of a task has the reason, unless another command is at it by now."""
        folder = self.workspace.folder
        with tried(folder.lock(task.lock)) as is_free:
            if not is_free:
                self.tell(task.cells[0], "elsewhere", {})
                return
            for cell in [cell for cell in task.cells if not folder.is_done(cell)][:1]:
                folder.write(cell, MISSING, {"reason": reason})
                self.tell(cell, "missing", {"reason": reason})

    def _started(self, number: int, stack: ExitStack) -> Worker:
        errors = self.logs[number] if number in self.logs else stack.enter_context(open_log(self.workspace.path))
        self.logs[number] = errors
        command = [sys.executable, "-m", "experiments.cell_worker"]
        process = subprocess.Popen(  # noqa: S603  # our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment(self.jobs),
            start_new_session=True,  # Ctrl-C comes here alone, and reaches the workers once, as the end of their input
        )
        worker = Worker(number, process, Path(errors.name))
        self.processes.append(process)
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        limits = {"minutes": self.clock.minutes_left, "share": self.workspace.share / self.jobs}
        worker.send({"workspace": self.workspace.to_json(), **limits})
        return worker

    def _listen(self, worker: Worker) -> None:
        for line in worker.process.stdout or ():
            self.messages.put((worker, json.loads(line)))
        worker.process.wait()  # until then it may hold locks
        self.messages.put((worker, None))


def _stop_all(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Ask all processes at once by the end of their input; one that does not listen is ended by force."""
    for process in processes:
        with suppress(BrokenPipeError):
            if process.stdin is not None:
                process.stdin.close()
    for process in processes:
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
