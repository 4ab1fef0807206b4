"""Several commands in one folder: each run is worked on by one, and what must be alone is."""

from __future__ import annotations

import shutil
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from experiments.cell_worker import share_device
from experiments.clock import Clock, TimeOver
from experiments.grid import Cell, Task
from experiments.grid_display import grid_display
from experiments.locks import device_held, tried, waited_for
from experiments.running import CellRunner
from experiments.scheduler import environment, open_log, run_tasks
from experiments.workspace import Workspace

pytest.importorskip("fcntl")


def test_a_lock_is_held_by_one_and_free_again_after(tmp_path: Path) -> None:
    lock = tmp_path / "locks" / "a"
    with tried(lock) as mine, tried(lock) as others:
        assert (mine, others) == (True, False)
    with tried(lock) as mine:
        assert mine


def test_some_may_hold_a_lock_together_and_one_alone_waits_for_them(tmp_path: Path) -> None:
    def nothing() -> None:
        raise AssertionError("there was no need to wait")

    def over() -> None:
        raise TimeOver

    lock = tmp_path / "a"
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(waited_for(lock, nothing, together=True))
        with pytest.raises(TimeOver):
            stack.enter_context(waited_for(lock, over))
    with waited_for(lock, nothing):
        pass


def test_who_waits_goes_on_when_the_lock_is_free(tmp_path: Path) -> None:
    looked, done = threading.Event(), threading.Event()

    def wait() -> None:
        with waited_for(tmp_path / "a", looked.set):
            done.set()

    with tried(tmp_path / "a"):
        thread = threading.Thread(target=wait)
        thread.start()
        assert looked.wait(10)
        assert not done.is_set()
    thread.join(10)
    assert done.is_set()


def test_what_another_command_is_at_is_passed_over(tmp_path: Path) -> None:
    workspace, told = Workspace(tmp_path, preset="tiny", device="cpu"), []
    runner = CellRunner(workspace, Clock(), lambda cell, event, _: told.append((cell.name, event)))
    with tried(workspace.folder.lock("175-betae")):
        assert not runner.run(Task(175, "betae", ("train", "test")))
    assert told == [("175/betae/train", "elsewhere")]
    assert not list(workspace.folder.all_cells())


def test_a_measurement_of_time_waits_for_other_commands_as_long_as_there_is_time(tmp_path: Path) -> None:
    workspace, told = Workspace(tmp_path, preset="tiny", device="cpu"), []
    seconds = iter(range(100))
    runner = CellRunner(workspace, Clock(2 / 60, lambda: float(next(seconds))), lambda *event: told.append(event[1]))
    with waited_for(workspace.folder.lock("device"), lambda: None, together=True):
        assert not runner.run(Task(175, "edge-type", ("time",), alone=True))
    assert told == ["waiting", "time"]


def test_who_wants_the_device_alone_comes_before_those_who_share_it_and_come_later(tmp_path: Path) -> None:
    device, order, waits = tmp_path / "device", [], {True: threading.Event(), False: threading.Event()}

    def use(alone: bool) -> None:
        with device_held(device, waits[alone].set, alone=alone):
            order.append(alone)

    threads = [threading.Thread(target=use, args=(alone,)) for alone in (True, False)]
    with device_held(device, lambda: None, alone=False):
        for thread, alone in zip(threads, (True, False), strict=True):
            thread.start()
            assert waits[alone].wait(10)
        assert order == []
    for thread in threads:
        thread.join(10)
    assert order == [True, False]


def test_who_waits_for_the_device_keeps_nobody_from_its_method(tmp_path: Path) -> None:
    workspace, looked = Workspace(tmp_path, preset="tiny", device="cpu"), []

    def tell(_cell: Cell, event: str, _values: dict) -> None:
        if event == "waiting":
            with tried(workspace.folder.lock("175-edge-type")) as is_free:
                looked.append(is_free)

    seconds = iter(range(100))
    with device_held(workspace.folder.lock("device"), lambda: None, alone=False):
        runner = CellRunner(workspace, Clock(5 / 60, lambda: float(next(seconds))), tell)
        runner.run(Task(175, "edge-type", ("time",), alone=True))
    assert looked == [True]


def test_the_display_says_that_a_cell_waits(capsys: pytest.CaptureFixture[str]) -> None:
    with grid_display(cells=2, done=1) as tell:
        tell(Cell(175, "edge-type", "time"), "waiting", {})
    assert "175/edge-type/time: waits until other commands leave the device to it" in capsys.readouterr().err


def test_other_tasks_run_where_one_is_passed_over_and_not_all_is_at_its_end(tmp_path: Path) -> None:
    workspace, told = Workspace(tmp_path, device="cpu"), []
    tasks = [Task(175, method, ("test",)) for method in ("gnn-qe", "edge-type")]
    with tried(workspace.folder.lock("175-gnn-qe")):
        assert not run_tasks(workspace, tasks, Clock(), lambda cell, event, _: told.append((cell.method, event)))
    assert told[0] == ("gnn-qe", "elsewhere")
    assert told[-1] == ("edge-type", "missing")  # there is no data


def test_of_a_process_that_died_nothing_is_written_where_another_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    workspace, told = Workspace(tmp_path, preset="tiny", device="cpu"), []
    tasks = [Task(175, method, ("test",)) for method in ("gnn-qe", "edge-type")]
    with tried(workspace.folder.lock("175-gnn-qe")):
        run_tasks(workspace, tasks, Clock(), lambda cell, event, _: told.append((cell.method, event)), jobs=2)
    assert set(told) == {("gnn-qe", "elsewhere"), ("edge-type", "missing")}
    assert [one.cell.method for one in workspace.folder.all_cells()] == ["edge-type"]


def test_every_process_has_a_log_of_its_own(tmp_path: Path) -> None:
    with open_log(tmp_path) as first, open_log(tmp_path) as second:
        assert [Path(stream.name).name for stream in (first, second)] == ["worker-1.log", "worker-2.log"]
    with open_log(tmp_path) as again:
        assert Path(again.name).name == "worker-1.log"


def test_processes_share_the_cores_unless_the_user_has_said_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    found = environment(4)
    assert (found["OMP_NUM_THREADS"], found["NUMBA_NUM_THREADS"]) == ("4", "3")


def test_a_process_takes_its_share_of_the_gpu_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[float, int | None]] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.set_per_process_memory_fraction", lambda *share: taken.append(share))
    for device, share in (("cuda:1", 0.25), ("cuda", 0.25), ("auto", 0.5), ("auto", 1.0), ("cpu", 0.5)):
        share_device(device, share)
    assert taken == [(0.25, 1), (0.25, None), (0.5, None)]
