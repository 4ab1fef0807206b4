"""Pre-training: it learns, it survives, it can be asked; graphs come in several forms."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import unseen
from tests.training.pretraining.small_graphs import SETTINGS, ring, small_graphs
from tests.training.small_world import small_dataset
from unseen.cli.main import app
from unseen.errors import ConfigError, GraphError, RunFolderError
from unseen.graph.files.writers import write_graph
from unseen.logic.algebra import Anchor, Project
from unseen.methods.registry import make_method
from unseen.models.checkpoint import load_weights, read_json, read_tensors
from unseen.models.mean_model import average_models
from unseen.models.run_folder import RunFolder
from unseen.training.pretraining.pretraining_session import pretrain
from unseen.training.pretraining.source_graphs import open_graph, open_graphs


def run(path: Path, *, resume: bool = False, minutes: float | None = None, **settings: Any):
    return pretrain(small_graphs(), path, SETTINGS | settings, resume=resume, minutes=minutes)


def last_weights(path: Path) -> dict[str, torch.Tensor]:
    return read_tensors(RunFolder.open(path).weights_path("last"))


def same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "whole"
    assert run(path).reason == "finished"
    return path


def test_a_run_in_slices_ends_with_the_same_weights(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "sliced"
    while (outcome := run(path, resume=True, minutes=0.0)).reason == "time":
        pass
    assert outcome.reason == "finished"
    assert same(last_weights(path), last_weights(whole))
    assert same(read_tensors(path / "best.safetensors"), read_tensors(whole / "best.safetensors"))


def test_a_run_that_moved_goes_on_as_if_it_had_stayed(whole: Path, tmp_path: Path) -> None:
    run(tmp_path / "here", minutes=0.0)
    shutil.move(tmp_path / "here", tmp_path / "elsewhere")
    run(tmp_path / "elsewhere", resume=True)
    one, other = (read_tensors(path / "best.safetensors") for path in (whole, tmp_path / "elsewhere"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_mean_of_two_runs_is_a_model_in_the_middle(whole: Path, tmp_path: Path) -> None:
    run(tmp_path / "more", seed=1)
    made = average_models([whole, tmp_path / "more"], tmp_path / "mean", licence="CC0-1.0")
    both = [read_tensors(path / "best.safetensors") for path in (whole, tmp_path / "more")]
    mean = read_tensors(made.path / "weights.safetensors")
    assert all(torch.allclose(mean[name], (both[0][name] + both[1][name]) / 2, atol=1e-6) for name in mean)
    assert (made.card["licence"], [one["seed"] for one in made.card["mean_of"]]) == ("CC0-1.0", [0, 1])
    made.open()
    run(tmp_path / "states", relation_states="by_source", steps=1)
    with pytest.raises(RunFolderError, match="relation_states = 'by_source'"):
        average_models([whole, tmp_path / "states"], tmp_path / "other")


@pytest.mark.parametrize("kind", ["by_relation", "by_source"])
def test_a_model_gains_states_of_entities_and_begins_unchanged(whole: Path, tmp_path: Path, kind: str) -> None:
    settings = SETTINGS | {"relation_states": kind, "state_rounds": 1, "steps": 1, "calibration_queries": 0}
    pretrain(small_graphs(), tmp_path / "more", settings, start=whole)
    graph, query = small_graphs()[0].graph, Project(0, Anchor(3))
    start = make_method(RunFolder.open(tmp_path / "more").config, ())
    load_weights(tmp_path / "more" / "start.safetensors", start)
    before = make_method(RunFolder.open(whole).config, ())
    load_weights(whole / "best.safetensors", before)
    assert torch.allclose(start.eval().answer(graph, [query]), before.eval().answer(graph, [query]), atol=1e-6)


def test_the_number_of_threads_changes_nothing(whole: Path, tmp_path: Path) -> None:
    run(tmp_path / "run", sampler_threads=1)
    assert same(last_weights(tmp_path / "run"), last_weights(whole))


def test_validation_is_the_mean_over_graphs(whole: Path) -> None:
    events = [event for event in RunFolder.open(whole).metrics() if event["event"] == "validation"]
    assert len(events) == 2
    for event in events:
        assert set(event["graphs"]) == {"first", "second"}
        assert event["score"] == pytest.approx(sum(event["graphs"].values()) / 2)


def test_calibration_says_how_it_carries_over(whole: Path) -> None:
    about = read_json(whole / "calibration.json")["about"]
    assert about["graphs"] == ["first", "second"]
    assert set(about["leave_one_out"]) == {"first", "second"}
    assert {"came_true", "mean_probability", "calibration_error"} <= set(about["leave_one_out"]["first"])
    assert about["fitted"]["queries"] == about["queries"] > 0


def test_the_model_answers_on_a_graph_that_it_never_saw(whole: Path, family: Any) -> None:
    answers = unseen.ask(family, "?x : likes(x, Chess)", method=str(whole), top=4)
    assert [answer.entity for answer in answers if answer.known] == ["Ben", "Dora"]
    assert len(answers) == 4


def test_the_run_says_where_it_comes_from(whole: Path) -> None:
    origin = RunFolder.open(whole).origin
    assert [graph["name"] for graph in origin["graphs"]] == ["first", "second"]
    assert origin["dataset"] == "first+second"


def test_other_graphs_cannot_go_on(whole: Path) -> None:
    with pytest.raises(RunFolderError, match="other graphs"):
        pretrain(small_graphs()[:1], whole, SETTINGS, resume=True)


def test_settings_of_worlds_cannot_change(whole: Path) -> None:
    with pytest.raises(ConfigError, match="steps_per_world cannot change"):
        run(whole, resume=True, steps_per_world=9)


def test_the_loss_falls(tmp_path: Path) -> None:
    learning = {"steps": 120, "dim": 8, "batch_size": 16, "learning_rate": 0.01, "types": ("1p",), "whole_worlds": 1.0}
    run(tmp_path / "run", **learning, steps_per_world=10, validate_every=0, log_every=10, calibration_queries=0)
    events = RunFolder.open(tmp_path / "run").metrics()
    losses = [event["loss"] for event in events if event["event"] == "train"]
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3]), losses


class TestSources:
    def test_a_file_a_folder_and_a_dataset(self, tmp_path: Path) -> None:
        graph = ring("ring", 40, (1, 2, 3)).graph
        (tmp_path / "folder").mkdir()
        for path in (tmp_path / "file.tsv", tmp_path / "folder" / "train.tsv.gz"):
            write_graph(graph, path)
        small_dataset().save(tmp_path / "dataset")
        found = [open_graph(tmp_path / name) for name in ("file.tsv", "folder", "dataset")]
        assert [one.name for one in found] == ["file", "folder", "dataset"]
        assert [one.graph.num_triples for one in found[:2]] == [graph.num_triples] * 2
        assert found[2].graph.num_triples == small_dataset().observed("train").num_triples

    def test_an_embedded_graph(self) -> None:
        assert open_graph("countries").graph.num_relations > 5

    def test_what_is_too_small_or_given_twice_is_said(self, tmp_path: Path) -> None:
        write_graph(ring("ring", 10, (1,)).graph, tmp_path / "tiny.tsv")
        with pytest.raises(GraphError, match="at least 100"):
            open_graphs([tmp_path / "tiny.tsv"])
        with pytest.raises(GraphError, match="two graphs are called"):
            open_graphs(["countries", "countries"])


def test_the_command_takes_graphs_one_after_the_other(tmp_path: Path) -> None:
    for one in small_graphs():
        write_graph(one.graph, tmp_path / f"{one.name}.tsv")
    flags = [
        word
        for name, value in (SETTINGS | {"steps": 2}).items()
        for word in (f"--{name.replace('_', '-')}", ",".join(value) if isinstance(value, tuple) else str(value))
    ]
    graphs = [str(tmp_path / f"{one.name}.tsv") for one in small_graphs()]
    result = CliRunner().invoke(app, ["pretrain", "--graphs", *graphs, "-o", str(tmp_path / "run"), *flags])
    assert result.exit_code == 0, result.output
    assert [graph["name"] for graph in RunFolder.open(tmp_path / "run").origin["graphs"]] == ["first", "second"]


def test_it_can_begin_with_another_model_which_stays_the_best_until_surpassed(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "second"
    outcome = pretrain(small_graphs(), path, SETTINGS | {"steps": 2}, start=whole)
    assert outcome.reason == "finished"
    folder = RunFolder.open(path)
    assert same(read_tensors(folder.start_path), read_tensors(whole / "best.safetensors"))
    assert folder.origin["start"] == str(whole)
    first = next(event for event in folder.metrics() if event["event"] == "validation")
    assert first["step"] == 0
    assert outcome.progress.best_score >= first["score"]


def test_a_start_of_another_shape_is_refused(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the model to begin with has"):
        pretrain(small_graphs(), tmp_path / "run", SETTINGS | {"dim": SETTINGS["dim"] + 1}, start=whole)
    assert not (tmp_path / "run").exists()


def test_a_run_goes_on_from_the_model_it_began_with_only(whole: Path, tmp_path: Path) -> None:
    pretrain(small_graphs(), tmp_path / "run", SETTINGS | {"steps": 1}, start=whole)
    with pytest.raises(RunFolderError, match="began with"):
        pretrain(small_graphs(), tmp_path / "run", SETTINGS | {"steps": 1}, start=tmp_path / "other", resume=True)
