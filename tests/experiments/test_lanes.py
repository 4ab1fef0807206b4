"""The grid on Ray: lanes of a device, what survives a process that dies, and stopping."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from experiments.clock import Clock
from experiments.command import app
from experiments.device_share import share_device
from experiments.grid import Cell, Task
from experiments.lanes import startable
from experiments.running import run_tasks
from experiments.workspace import Workspace
from tests.cli.command import Command, command_in

if TYPE_CHECKING:
    from collections.abc import Iterator

TRAINING = Task(175, "betae", ("train",))


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A Ray of this machine, which commands find running."""
    pytest.importorskip("ray", reason="Ray is an extra: it is not installed")
    from unseen.spreading.cluster import opened_ray

    with opened_ray("local", 2) as found:
        yield found


@pytest.mark.usefixtures("ray")
def test_two_processes_fill_the_same_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command: Command = command_in(monkeypatch, capsys, app)
    words = ["-o", tmp_path, "--preset", "tiny", "--ratios", "175", "--methods", "edge-type,betae", "--device", "cpu"]
    result = command(*words, "--jobs", 2, "--experiments", "test,time", "--no-figures")
    assert result.code == 0, result.errors
    assert "5 of 5 cells are done" in result.errors
    assert "175/betae/test: done in" in result.errors


@pytest.mark.usefixtures("ray")
def test_a_process_that_dies_leaves_a_reason_and_one_that_is_stopped_a_checkpoint(tmp_path: Path) -> None:
    settings = {"betae": {"steps": 10**6}}
    workspace = Workspace(tmp_path, preset="tiny", device="cpu", settings=settings)
    checkpoint = workspace.folder.run(TRAINING.cells[0]) / "last.json"

    def kill(_cell: Cell, event: str, _values: dict[str, Any]) -> None:
        for process in Path("/proc").glob("[0-9]*") if event == "progress" else ():
            if (process / "cmdline").read_bytes().startswith(b"ray::run_task"):
                os.kill(int(process.name), signal.SIGKILL)

    def interrupt(_cell: Cell, event: str, _values: dict[str, Any]) -> None:
        if event == "progress":
            raise KeyboardInterrupt

    assert not run_tasks(workspace, [TRAINING], Clock(), kill, jobs=2)
    reasons = {one.cell.name: one.reason for one in workspace.folder.all_cells()}
    assert list(reasons) == ["175/betae/train"]
    assert reasons["175/betae/train"].startswith("the process that ran it ended: ")
    assert not checkpoint.exists()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(workspace, [TRAINING], Clock(), interrupt, jobs=2)
    assert checkpoint.exists()


def test_tasks_of_one_run_are_given_out_one_after_the_other() -> None:
    first, second = Task(175, "gnn-qe", ("train", "test")), Task(175, "gnn-qe", ("train", "strata"))
    other = Task(175, "edge-type", ("strata",))
    assert startable([first, second, other], []) == [first, other]
    assert startable([second, other], [first]) == [other]
    assert startable([second], [other]) == [second]


def test_a_process_takes_its_share_of_the_gpu_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[float, int | None]] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.set_per_process_memory_fraction", lambda *share: taken.append(share))
    for device, share in (("cuda:1", 0.25), ("cuda", 0.25), ("auto", 0.5), ("auto", 1.0), ("cpu", 0.5)):
        share_device(device, share)
    assert taken == [(0.25, 1), (0.25, None), (0.5, None)]
