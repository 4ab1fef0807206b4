"""The whole grid end to end on a made-up benchmark: in slices, by one process or two, with reasons where due."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.cell_files import GridFolder
from experiments.clock import Clock
from experiments.command import app
from experiments.grid import EXPERIMENTS, Cell, Task, cells_of, tasks_of
from experiments.grid_errors import CellMissing
from experiments.measuring import Measurement
from experiments.opening import open_cell
from experiments.planning import Plan, Request
from experiments.preparing import tune_cell
from experiments.ratio_datasets import open_ratio
from experiments.running import CellRunner, run_tasks
from experiments.workspace import Workspace
from tests.cli.command import Command, command_in
from tests.training.small_world import ROOT
from unseen.datasets.dataset import Dataset
from unseen.methods.edge_type import EdgeType

RATIOS = (175,)
MODELS = {"without-fb": "nowhere"}


MAKE = """
import sys

# What a machine that only trains and measures need not have: as if it were not installed.
names = "pyoxigraph rdflib starlette uvicorn httpx tomli_w yaml beartype hypothesis requests psutil ray"
sys.modules.update(dict.fromkeys([*names.split(), "matplotlib"]))
from tests.training.pretraining.small_graphs import SETTINGS, small_graphs
from experiments.command import app
from unseen.cli.main import run
from unseen.training.pretraining.pretraining_session import pretrain

pretrain(small_graphs(), "general", SETTINGS | {"steps": 2, "validate_every": 0})
sys.argv = ["experiments", "-o", "grid", "--preset", "tiny", "--device", "cpu", "--ratios", "175"]
sys.argv += ["--model", "general", "--model-without-fb", "nowhere", "--no-figures"]
run(app)
"""


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Everything, by the command in a process of its own, made once for all test processes; one model is missing."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tiny"
    try:
        root.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + 300
        while not (root / "finished").exists() and time.monotonic() < deadline:
            time.sleep(0.2)
    else:
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}
        made = subprocess.run([sys.executable, "-c", MAKE], cwd=root, env=environment, check=False)
        (root / "finished").write_text(str(made.returncode))
    assert (root / "finished").read_text() == "0"
    return Workspace(root / "grid", preset="tiny", device="cpu", models=MODELS | {"general": str(root / "general")})


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command_in(monkeypatch, capsys, app)


def test_every_cell_is_filled_or_has_a_reason(whole: Workspace) -> None:
    plan = Plan.of(whole, Request(RATIOS).tasks(whole))
    reasons = {one.cell.method: one.reason for one in plan.cells if one.status == "missing"}
    assert reasons == {"zero-shot-without-fb": reasons["zero-shot-without-fb"]}
    assert "--model-without-fb nowhere is neither shipped nor a folder" in reasons["zero-shot-without-fb"]
    assert {one.status for one in plan.cells} == {"done", "missing"}
    assert plan.count("done") == 65


def test_results_hold_what_their_experiment_is_about(whole: Workspace) -> None:
    def content(what: str, method: str = "gnn-qe") -> dict:
        return whole.folder.read(Cell(175, method, what)).content

    assert len(content("test")["result"]["types"]) == 14
    assert content("test")["result"]["limit"] == 6
    assert set(content("training")["result"]["training_queries"]) == {"train", "test_all"}
    assert "strata" in content("strata")["result"]["types"]["2p"]
    assert "calibration" in content("probabilities", "betae")["result"]["types"]["1p"]
    assert content("time")["seconds_per_query"]["3p"]["alone"] > 0
    assert content("train")["training"]["step"] == 4
    assert "choices" not in content("train")
    assert len(content("tune", "nodepiece-qe-gnn")["choices"]["types"]) == 14
    assert content("train", "zero-shot-fine-tuned")["training"]["start"].endswith("general")
    assert content("test")["made_by"]["command"].startswith("python -m experiments -o grid --preset tiny")
    assert (whole.folder.run(Cell(175, "nodepiece-qe", "tune")) / "tuning.json").exists()
    alone = content("tune-alone", "nodepiece-qe")["choices"]
    assert not any(options["known_facts"] for options in alone["types"].values())
    assert (whole.folder.run(Cell(175, "nodepiece-qe", "tune")) / "tuning-alone.json").exists()


def test_what_is_done_is_not_done_again(whole: Workspace) -> None:
    events: list[str] = []
    done = [name for name in whole.methods if name != "zero-shot-without-fb"]
    tasks = tasks_of(RATIOS, {name: whole.methods[name] for name in done}, EXPERIMENTS)
    assert run_tasks(whole, tasks, Clock(), lambda _cell, event, _values: events.append(event))
    assert events == []


def test_results_without_their_run_stay_and_what_is_left_says_so(whole: Workspace, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, preset="tiny", device="cpu")
    shutil.copytree(whole.folder.dataset(175), workspace.folder.dataset(175))
    kept = tmp_path / "results" / "175" / "nodepiece-qe"
    shutil.copytree(whole.folder.results / "175" / "nodepiece-qe", kept)
    (kept / "strata.json").unlink()
    before = {path.name: path.read_text() for path in kept.iterdir()}
    task = Task(175, "nodepiece-qe", ("train", "tune", "test", "strata"))
    assert run_tasks(workspace, [task], Clock(), lambda _cell, _event, _values: None)
    found = workspace.folder.read(Cell(175, "nodepiece-qe", "strata"))
    assert found is not None
    assert (
        found.reason
        == "no run: runs/175/nodepiece-qe is not here; remove results/175/nodepiece-qe, and all of it is made again"
    )
    assert {name: (kept / name).read_text() for name in before} == before


@pytest.mark.parametrize("method", ["gnn-qe", "nodepiece-qe", "nodepiece-qe-gnn", "zero-shot-fine-tuned", "betae"])
def test_times_are_measured_without_the_run_too(whole: Workspace, tmp_path: Path, method: str) -> None:
    workspace = Workspace(tmp_path, preset="tiny", device="cpu")
    shutil.copytree(whole.folder.dataset(175), workspace.folder.dataset(175))
    kept = tmp_path / "results" / "175" / method
    shutil.copytree(whole.folder.results / "175" / method, kept)
    (kept / "time.json").unlink()
    task = Task(175, method, cells_of(175, method, workspace.methods[method], ["time"]))
    assert run_tasks(workspace, [task], Clock(), lambda _cell, _event, _values: None)
    found = workspace.folder.read(Cell(175, method, "time"))
    assert found is not None
    assert len(found.content["seconds_per_query"]) == 14
    assert found.content["made_by"]["run"] is None
    dataset = open_ratio(workspace, 175)
    for what in ("tune", "train") if workspace.methods[method].tuned else ("train",):
        (kept / f"{what}.json").unlink()
        with pytest.raises(
            CellMissing, match=f"neither runs/175/{method} is here nor results/175/{method}/{what}.json"
        ):
            open_cell(workspace, Cell(175, method, "time"), dataset)


def test_the_command_reports_what_is_there(whole: Workspace, command: Command) -> None:
    words = ["-o", whole.path, "--preset", "tiny", "--ratios", "175"]
    result = command(*words, "--report", "--no-figures", "--json")
    assert result.code == 0, result.errors
    assert json.loads(result.output)["counts"] == {"done": 65, "begun": 0, "missing": 8, "open": 0}
    page = (whole.path / "report" / "report.md").read_text()
    assert page.startswith("> Results of the tiny preset")
    assert "Zero-shot, fine-tuned" in page
    planned = command(*words, "--plan")
    assert "zero-shot-without-fb" in planned.output
    assert "65 of 73 cells are done; 8 cannot be filled here" in planned.errors


def test_slices_of_no_time_go_on_where_they_stopped_and_end_with_the_same_numbers(
    whole: Workspace, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path, preset="tiny", device="cpu")
    shutil.copytree(whole.folder.dataset(175), workspace.folder.dataset(175))
    slices = run_in_slices(workspace, Task(175, "nodepiece-qe", ("train", "tune", "test", "training")))
    assert slices > 10
    for what in ("tune", "test", "training"):
        own, other = (one.folder.read(Cell(175, "nodepiece-qe", what)).content for one in (workspace, whole))
        assert {**own, "seconds": 0, "made_by": 0} == {**other, "seconds": 0, "made_by": 0}
    assert own["seconds"] > 0


def run_in_slices(workspace: Workspace, task: Task) -> int:
    """Each slice may begin a few things: some steps of training, or some types of queries."""
    for number in range(200):
        ticks = iter(range(10**6))
        clock = Clock(6.5 / 60, lambda ticks=ticks: float(next(ticks)))
        if CellRunner(workspace, clock).run(task):
            return number + 1
    raise AssertionError("it never ended")


def test_a_measurement_that_goes_on_with_another_limit_begins_anew(whole: Workspace, tmp_path: Path) -> None:
    folder, cell = GridFolder(tmp_path), Cell(175, "edge-type", "test")
    dataset = Dataset.open(whole.folder.dataset(175))
    asked: list[str] = []
    for limit in (2, 2, 1):
        folder.write_part(cell, folder.read_part(cell) | {"cell_seconds": 3.0})
        found = Measurement(folder, cell, dataset, EdgeType(), limit).run(Clock(), asked.append)["result"]
        assert {one["queries"] for one in found["types"].values()} == {limit}
    assert len(asked) == 2 * 14
    assert folder.read_part(cell)["cell_seconds"] == 3.0


def test_a_tuning_that_goes_on_with_another_limit_begins_anew_and_has_a_limit_of_its_own(
    whole: Workspace, tmp_path: Path
) -> None:
    cell, asked = Cell(175, "nodepiece-qe", "tune-alone"), []
    dataset = Dataset.open(whole.folder.dataset(175))
    shutil.copytree(whole.folder.run(cell), GridFolder(tmp_path).run(cell))
    for number in (2, 2, 1):
        limits = {"tune": 5, "tune-alone": number}
        workspace = Workspace(tmp_path, preset="tiny", device="cpu", limit_of=limits)
        found = tune_cell(workspace, cell, dataset, Clock(), lambda _, values: asked.append(values["label"]))
        assert found["queries_per_type"] == number
        assert workspace.folder.read_part(cell)["limit"] == number
    assert len(asked) == 2 * 14


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--limit", "many"], "'many' is neither a number nor"),
        (["--limit", "strata=0"], "'strata=0' is neither"),
        (["--limit", "speed=3"], "there is no experiment 'speed'; there are test"),
        (["--report", "--no-report"], "says the opposite of --report"),
    ],
)
def test_limits_and_reports_that_make_no_sense_are_said(
    tmp_path: Path, command: Command, words: list[str], text: str
) -> None:
    result = command("-o", tmp_path, "--plan", *words)
    assert result.code == 2
    assert text in " ".join(result.errors.split())


def test_limits_are_given_for_all_experiments_or_for_one(tmp_path: Path, command: Command) -> None:
    words = ["-o", tmp_path, "--preset", "tiny", "--ratios", "175", "--methods", "edge-type", "--device", "cpu"]
    words += ["--experiments", "strata,test", "--limit", 1, "--limit", "strata=2", "--no-report"]
    assert command(*words).code == 0
    cells = [GridFolder(tmp_path).read(Cell(175, "edge-type", what)) for what in ("test", "strata")]
    assert [cell.content["result"]["limit"] for cell in cells if cell is not None] == [1, 2]


def test_data_that_is_not_there_is_the_reason_of_its_cells(tmp_path: Path, command: Command) -> None:
    words = ["-o", tmp_path / "grid", "--ratios", "175", "--methods", "edge-type", "--experiments", "test"]
    assert "no data: name the folder" in command(*words).errors
    assert "has neither 175.npz nor a dataset" in command(*words, "--data", tmp_path).errors


def test_published_files_and_dataset_folders_are_both_taken(whole: Workspace, tmp_path: Path) -> None:
    from unseen.datasets.published import export_dataset

    dataset = Dataset.open(whole.folder.dataset(175))
    (tmp_path / "data").mkdir()
    export_dataset(dataset, tmp_path / "data" / "175.npz", "npz")
    dataset.save(tmp_path / "data" / "made-550")
    workspace = Workspace(tmp_path / "grid", tmp_path / "data", limit=4, device="cpu")
    tasks = tasks_of((175, 550), {"edge-type": workspace.methods["edge-type"]}, ["test"])
    assert run_tasks(workspace, tasks, Clock(), lambda *_: None)
    assert (workspace.folder.dataset(175) / "manifest.json").exists()
    assert not workspace.folder.dataset(550).exists()
    assert {cell.cell.ratio for cell in workspace.folder.all_cells()} == {175, 550}
