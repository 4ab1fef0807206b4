"""The grid: every cell of the issue, in a sensible order, and nothing that makes no sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.cell_files import DONE, MISSING, GridFolder
from experiments.clock import Clock, TimeOver
from experiments.estimates import EDGES, SECONDS, cells_of_tasks, estimated_seconds, nominal, wall_seconds
from experiments.grid import EXPERIMENTS, METHODS, PREPARING, RATIOS, Cell, Limits, cells_of, tasks_of
from experiments.grid_errors import ReproductionError
from experiments.planning import Plan, Request
from experiments.workspace import Workspace, read_settings
from tests.experiments.fakes import fill


def all_cells() -> set[Cell]:
    return set(cells_of_tasks(tasks_of(RATIOS, METHODS, EXPERIMENTS)))


def test_every_method_is_measured_on_every_ratio_and_betae_on_175_alone() -> None:
    cells = all_cells()
    assert len(RATIOS) == 9
    for method in METHODS:
        ratios = {cell.ratio for cell in cells if cell.method == method and cell.what == "test"}
        assert ratios == ({175} if method == "betae" else set(RATIOS))


def test_what_a_method_needs_comes_before_what_is_measured() -> None:
    for task in tasks_of(RATIOS, METHODS, EXPERIMENTS):
        order = [what for what in PREPARING if what in task.whats]
        assert list(task.whats[: len(order)]) == order
        assert ("train" in order) == (METHODS[task.method].trained_as is not None)


def test_experiments_apply_where_they_mean_something() -> None:
    cells = all_cells()
    assert {cell.ratio for cell in cells if cell.what == "easy-first"} == {175}
    assert not [cell for cell in cells if cell.method in ("edge-type", "betae") and "alone" in cell.what]
    assert {cell.ratio for cell in cells if cell.what == "test-alone"} == set(RATIOS)
    for what in ("tune", "tune-alone"):
        assert {cell.method for cell in cells if cell.what == what} == {"nodepiece-qe", "nodepiece-qe-gnn"}


def test_options_are_chosen_for_predictions_only_where_these_are_measured() -> None:
    plan = METHODS["nodepiece-qe"]
    assert cells_of(175, "nodepiece-qe", plan, ["test"]) == ("train", "tune", "test")
    assert cells_of(175, "nodepiece-qe", plan, ["test", "test-alone"]) == (*PREPARING, "test", "test-alone")


def test_the_reference_and_what_the_paper_has_come_first_and_times_last_and_alone() -> None:
    tasks = list(tasks_of(RATIOS, METHODS, EXPERIMENTS))
    assert (tasks[0].method, tasks[0].ratio) == ("edge-type", 175)
    assert [task.alone for task in tasks] == sorted(task.alone for task in tasks)
    assert all(("time" in task.whats) == task.alone for task in tasks)
    first, last = ([task for task in tasks if task.alone == alone] for alone in (False, True))
    assert (first[1].method, first[1].ratio) == ("edge-type", 550)
    assert (last[1].method, last[1].ratio) == ("path-counts", 175)  # times go ratio by ratio


def test_runs_for_times_are_made_before_and_where_others_may_run_beside() -> None:
    tasks = list(tasks_of((175, 550), METHODS, ["time"]))
    made, timed = ([task for task in tasks if task.alone == alone] for alone in (False, True))
    assert tasks == [*made, *timed]
    assert {(task.method, task.whats) for task in made if task.ratio == 550} == {
        (method, ("train", "tune") if plan.tuned else ("train",))
        for method, plan in METHODS.items()
        if plan.trained_as is not None and method != "betae"
    }
    assert all(task.whats[-1] == "time" for task in timed)


def test_nothing_is_trained_where_nothing_is_measured() -> None:
    assert list(tasks_of((106,), METHODS, ["easy-first"])) == []


def test_every_method_and_ratio_has_an_estimate_and_larger_graphs_a_larger_one() -> None:
    assert set(SECONDS) == set(METHODS)
    assert set(EDGES) == set(RATIOS)
    assert nominal(Cell(106, "gnn-qe", "train")) > nominal(Cell(175, "gnn-qe", "train")) == SECONDS["gnn-qe"]["train"]
    assert nominal(Cell(550, "gnn-qe", "strata")) < nominal(Cell(175, "gnn-qe", "test"))


def test_cells_that_are_done_put_the_estimates_of_others_right(tmp_path: Path) -> None:
    folder, done, other = GridFolder(tmp_path), Cell(175, "gnn-qe", "train"), Cell(550, "gnn-qe", "train")
    folder.write(done, DONE, {"seconds": 2 * nominal(done)})
    found = estimated_seconds(folder, [done, other])
    assert found == {done: 0.0, other: pytest.approx(2 * nominal(other))}
    assert wall_seconds(found.values(), 1) > wall_seconds(found.values(), 2) > wall_seconds(found.values(), 8)


def test_a_plan_says_how_far_every_cell_is(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    fill(tmp_path, "gnn-qe", 175, 50)
    workspace.folder.write(Cell(175, "zero-shot", "test"), MISSING, {"reason": "no model"})
    workspace.folder.write_part(Cell(175, "edge-type", "test"), {"test": {}, "cell_seconds": 1.0})
    request = Request([175], ["edge-type", "zero-shot", "gnn-qe"], ["test"])
    plan = Plan.of(workspace, request.tasks(workspace))
    assert {one.cell.name: one.status for one in plan.cells} == {
        "175/edge-type/test": "begun",
        "175/zero-shot/test": "missing",
        "175/gnn-qe/train": "done",
        "175/gnn-qe/test": "done",
    }
    shown = plan.to_json()
    assert shown["counts"] == {"done": 2, "begun": 1, "missing": 1, "open": 0}
    assert {"cell": "175/zero-shot/test", "status": "missing", "seconds": 60.0, "reason": "no model"} in shown["cells"]


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (Request([174]), "there is no ratio 174; there are 106, 113"),
        (Request(methods=["gnn"]), "there is no method 'gnn'; there are edge-type"),
        (Request(experiments=["speed"]), "there is no experiment 'speed'; there are test"),
    ],
)
def test_what_the_grid_does_not_have_is_an_error(request_: Request, text: str, tmp_path: Path) -> None:
    with pytest.raises(ReproductionError, match=text):
        request_.tasks(Workspace(tmp_path))


def test_settings_of_a_file_come_before_those_of_the_grid(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[gnn-qe]\nsteps = 10\n[gnn-qe.550]\nsteps = 5\n")
    workspace = Workspace(tmp_path, settings=read_settings(file, METHODS))
    plan = workspace.methods["gnn-qe"]
    assert [plan.settings_at(ratio)["steps"] for ratio in (175, 300, 550)] == [10, 10, 5]
    assert plan.settings_at(550)["relation_dropout"] == 0.6
    assert Workspace.from_json(workspace.to_json()) == workspace
    file.write_text("[gnn]\nsteps = 10\n")
    with pytest.raises(ReproductionError, match=r"\[gnn\] is not a method"):
        read_settings(file, METHODS)


def test_limits_are_never_raised_and_hold_for_every_experiment(tmp_path: Path) -> None:
    limits = Workspace(tmp_path, limit=80).limits
    assert (limits.of("test"), limits.of("training-alone"), limits.of("easy-first"), limits.of("time")) == (
        80,
        80,
        80,
        64,
    )
    assert Limits().of("training-alone") == Limits().training
    assert (Limits().of("test"), Limits().of("test-alone")) == (2000, 1000)
    assert Limits().of("tune-alone") == Limits().tune


def test_a_named_limit_holds_for_its_experiment_alone(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, limit=80, limit_of={"strata": 200, "test-alone": 7, "tune": 9})
    found = {what: workspace.limits.of(what) for what in ("test", "test-alone", "strata", "tune", "tune-alone")}
    assert found == {"test": 80, "test-alone": 7, "strata": 200, "tune": 9, "tune-alone": 80}
    assert Workspace.from_json(workspace.to_json()) == workspace


def test_methods_and_ratios_are_run_in_the_order_of_asking(tmp_path: Path) -> None:
    request = Request([550, 106, 550], ["zero-shot", "edge-type"], ["time", "test"])
    tasks = request.tasks(Workspace(tmp_path))
    order = [(method, ratio) for method in ("zero-shot", "edge-type") for ratio in (550, 106)]
    timed = [(method, ratio) for ratio in (550, 106) for method in ("zero-shot", "edge-type")]
    assert [(task.method, task.ratio) for task in tasks] == order + timed
    assert [task.alone for task in tasks] == [False] * 4 + [True] * 4


def test_files_of_cells_are_small_whole_and_explain_themselves(tmp_path: Path) -> None:
    folder, cell = GridFolder(tmp_path), Cell(175, "gnn-qe", "test")
    assert folder.read(cell) is None
    folder.write_part(cell, {"test": {"1p": {"mrr": 1 / 3}}})
    folder.write(cell, MISSING, {"reason": "no data"})
    assert folder.read_part(cell) == {"test": {"1p": {"mrr": 1 / 3}}}
    assert (folder.is_done(cell), folder.read(cell).reason) == (False, "no data")
    folder.write(cell, DONE, {"seconds": 1 / 3})
    assert (folder.is_done(cell), folder.read(cell).seconds, folder.read_part(cell)) == (True, 0.33333, {})
    fill(tmp_path, "gnn-qe", 175, 61.23456)
    sizes = [path.stat().st_size for path in (tmp_path / "results").rglob("*.json")]
    assert max(sizes) < 10_000
    (tmp_path / "results/175/gnn-qe/test.json").write_text("[")
    with pytest.raises(ReproductionError, match=r"test\.json: cannot be read.*remove it"):
        folder.read(cell)


def test_a_clock_without_minutes_never_stops() -> None:
    time = iter([0.0, 30.0, 59.0, 61.0, 61.0])
    clock = Clock(1.0, lambda: next(time))
    assert clock.minutes_left == 0.5
    clock.check()
    with pytest.raises(TimeOver):
        clock.check()
    assert Clock().minutes_left is None
    assert not Clock().is_over
