"""The script that fills the grid on one GPU, with a command of our own in place of Python, and its settings."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from experiments.estimates import EDGES
from experiments.grid import METHODS, RATIOS
from experiments.planning import Request
from experiments.workspace import Workspace, read_settings
from unseen.methods.registry import TRAINED
from unseen.methods.training_settings import from_mapping

HOME = Path(__file__).parents[2] / "experiments"
SCRIPT, SETTINGS = HOME / "grid_on_one_gpu.sh", HOME / "grid_on_one_gpu.toml"
FAKE = """#!/usr/bin/env bash
echo "$$ $*" >>"{calls}"
[[ "$*" != *--share* ]] || echo "$*" >>"{calls}.rank-$CUDA_MPS_CLIENT_PRIORITY"
case "$*" in {action} esac
"""


class Grid:
    """A folder for the script, a command that writes down its words, and the script itself."""

    def __init__(self, path: Path) -> None:
        self.path, self.calls, self.command = path, path / "calls", path / "fake"
        (path / "data").mkdir()
        (path / "data" / "175.npz").touch()
        self.act("")

    def fill(self, cell: str, status: str = "done") -> None:
        """What says that a cell is done, or why it is not."""
        result = self.path / "grid" / "results" / f"{cell}.json"
        result.parent.mkdir(parents=True, exist_ok=True)
        result.write_text(f'"status": "{status}",')

    def act(self, action: str) -> None:
        """What the command does, as cases of its words."""
        self.command.write_text(FAKE.format(calls=self.calls, action=action))
        self.command.chmod(0o755)

    def start(self, data: str = "data", seconds: str = "300", **environment: str) -> subprocess.Popen[str]:
        words = ["bash", str(SCRIPT), str(self.path / data), str(self.path / "grid"), seconds]
        told = os.environ | {"PYTHON": str(self.command)} | environment
        return subprocess.Popen(words, env=told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words: str, **environment: str) -> tuple[int, str]:
        process = self.start(*words, **environment)
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    def called(self) -> list[list[str]]:
        """The words of all commands so far."""
        return [shlex.split(line)[1:] for line in self.calls.read_text().splitlines()]


@pytest.fixture
def grid(tmp_path: Path) -> Grid:
    return Grid(tmp_path)


def option(words: list[str], name: str) -> list[str]:
    """The values of an option, which stand behind it with commas."""
    return words[words.index(name) + 1].split(",")


def test_the_lanes_measure_every_method_on_every_ratio_and_then_times(grid: Grid) -> None:
    for method, plan in METHODS.items():
        for ratio in plan.ratios if plan.trained_as else ():
            for what in ("train", "tune") if plan.tuned else ("train",):
                grid.fill(f"{ratio}/{method}/{what}")
    assert grid.run() == (0, "")
    calls = grid.called()
    assert calls[0] == ["-m", "unseen", "--version"]
    assert calls[1][:4] == ["-m", "unseen", "dataset", "import"]
    assert "--report" in calls[-1]
    measured, timed = set(), set()
    given_out = []
    for words in calls[2:-1]:
        ratios = [int(text) for text in option(words, "--ratios")] if "--ratios" in words else None
        request = Request(ratios, option(words, "--methods"), option(words, "--experiments"))
        cells = {cell for task in request.tasks(Workspace(grid.path)) for cell in task.cells}
        is_lane = "--share" in words
        assert float(option(words, "--minutes")[0]) <= (1.17 if is_lane else 4.67)
        (measured if is_lane else timed).update(cells)
        given_out += [(ratio, method) for ratio in ratios or () for method in option(words, "--methods") if is_lane]
    assert len(given_out) == len(set(given_out))  # two lanes never work on one run
    wanted = {cell for task in Request().tasks(Workspace(grid.path)) for cell in task.cells}
    assert measured | timed == wanted
    assert {cell for cell in wanted if cell.what == "time"} <= timed
    assert len({tuple(option(words, "--share")) for words in calls if "--share" in words}) == 3


def test_a_command_that_fails_is_named_in_the_end_and_the_others_go_on(grid: Grid) -> None:
    grid.act("*betae*) exit 3 ;;")
    code, errors = grid.run()
    assert (code, "some commands failed" in errors) == (1, True)
    failed = (grid.path / "grid" / "logs" / "failed").read_text().splitlines()
    assert len(failed) == 1
    assert "--methods betae" in failed[0]


def test_times_are_not_measured_where_that_would_begin_with_training(grid: Grid) -> None:
    for cell in ("550/gnn-qe/train", "106/gnn-qe/train", "106/nodepiece-qe/train"):
        grid.fill(cell)
    grid.fill("300/gnn-qe/train", "missing")
    grid.run()
    timed = [words for words in grid.called() if "time" in words]
    assert [option(words, "--ratios")[0] for words in timed[:3]] == ["175", "550", "106"]
    untrained = ["edge-type", "path-counts", "zero-shot", "zero-shot-without-fb"]
    also = {option(words, "--ratios")[0]: option(words, "--methods")[len(untrained) :] for words in timed}
    assert also == {str(ratio): [] for ratio in RATIOS} | {"550": ["gnn-qe"], "106": ["gnn-qe"]}
    assert all(option(words, "--methods")[: len(untrained)] == untrained for words in timed)


def test_only_some_ratios_in_an_order_of_ones_own(grid: Grid) -> None:
    grid.run(RATIOS="300,106")
    calls = [words for words in grid.called() if "--ratios" in words]
    assert {option(words, "--ratios")[0] for words in calls} == {"300", "106"}
    lane = ["nodepiece-qe", "nodepiece-qe-gnn"]
    taken = [option(words, "--ratios")[0] for words in calls if option(words, "--methods") == lane]
    assert taken == ["300", "106"]


def test_kernels_of_the_longest_runs_come_first(grid: Grid) -> None:
    grid.run()
    first, later = (Path(f"{grid.calls}.rank-{rank}").read_text() for rank in (0, 1))
    assert "--methods gnn-qe --ratios 113" in first
    assert "--methods zero-shot-fine-tuned" not in first
    assert "--methods zero-shot-fine-tuned" in later


@pytest.mark.parametrize(
    ("words", "environment", "message"),
    [
        (("nowhere",), {}, "nowhere: there is no such folder"),
        (("data", "100"), {}, "SECONDS must be more than 230, not 100"),
        (("data", "soon"), {}, "SECONDS must be more than 230, not soon"),
        (("data",), {"RATIOS": "175,99"}, "RATIOS: 99 is none of 175,550,106"),
        (("data",), {"PYTHON": "/no/such/command"}, "does not run; say how in PYTHON"),
    ],
)
def test_what_cannot_work_is_refused(
    grid: Grid, words: tuple[str, ...], environment: dict[str, str], message: str
) -> None:
    code, errors = grid.run(*words, **environment)
    assert (code, message in errors) == (2, True)


@pytest.mark.parametrize(("where", "count"), [("*--share*", 4), ("*--experiments\\ time*", 1)])
def test_being_stopped_ends_everything(grid: Grid, where: str, count: int) -> None:
    grid.act(f"{where}) echo $$ >>{grid.path}/asleep; exec sleep 50 ;;")
    process = grid.start()
    asleep, deadline = grid.path / "asleep", time.monotonic() + 30
    while not (asleep.exists() and len(asleep.read_text().split()) >= count) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)  # Ctrl-C goes the same way, but may be ignored where tests are run
    process.communicate(timeout=20)
    assert process.returncode == 130
    sleeping = [int(line) for line in asleep.read_text().split()]
    assert len(sleeping) == count
    assert not [one for one in sleeping if Path(f"/proc/{one}").exists()]


def test_its_settings_are_settings_of_the_methods(tmp_path: Path) -> None:
    methods = Workspace(tmp_path, settings=read_settings(SETTINGS, METHODS)).methods
    for plan in methods.values():
        for ratio in plan.ratios if plan.trained_as else ():
            assert from_mapping(TRAINED[str(plan.trained_as)].settings, plan.settings_at(ratio)).steps <= 30_000
    steps = [methods["gnn-qe"].settings_at(ratio)["steps"] for ratio in sorted(RATIOS)]
    assert steps == [8000, 8000, 2000, 2000, 2000, 2000, 1000, 800, 400]


def test_the_papers_settings_of_nodepiece_qe_are_settings_of_every_ratio(tmp_path: Path) -> None:
    methods = Workspace(tmp_path, settings=read_settings(HOME / "nodepiece_paper.toml", METHODS)).methods
    plain, gnn = methods["nodepiece-qe"], methods["nodepiece-qe-gnn"]
    assert {plain.settings_at(ratio)["recipe"] for ratio in RATIOS} == {"paper"}
    assert [plain.settings_at(ratio)["dim"] for ratio in (175, 550)] == [400, 1000]
    assert plain.settings_at(175)["steps"] == -(-2000 * EDGES[175][0] // 2 // 256)
    assert [gnn.settings_at(ratio)["layers"] for ratio in (106, 175, 550)] == [5, 3, 3]
    for ratio in RATIOS:
        assert from_mapping(TRAINED["nodepiece-qe"].settings, gnn.settings_at(ratio)).steps > 0
