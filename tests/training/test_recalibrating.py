"""Probabilities fitted again without training: where they are written, what they say, and what is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import unseen
from tests.training.pretraining.small_graphs import SETTINGS, ring, small_graphs
from tests.training.small_world import TINY, small_dataset
from unseen.cli.main import app
from unseen.datasets.dataset import Dataset
from unseen.datasets.published import export_dataset
from unseen.errors import RunFolderError, TrainingError, UnseenError
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.graph.files.writers import write_graph
from unseen.models.checkpoint import read_json
from unseen.models.model_folder import export_model, open_model
from unseen.models.run_folder import RunFolder
from unseen.probability.query_calibration import QueryCalibration
from unseen.probability.query_calibration_fit import fit_query_calibration
from unseen.training.calibrating_across import fit_across, leave_one_out
from unseen.training.pretraining.pretraining_session import pretrain
from unseen.training.pretraining.source_graphs import NamedGraph, open_graph
from unseen.training.recalibrating import recalibrate
from unseen.training.session import train


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "general"
    pretrain(small_graphs(), path, SETTINGS | {"calibration_queries": 0})
    return path


@pytest.fixture(scope="module")
def model(run: Path) -> Path:
    return export_model(RunFolder.open(run), run.parent / "model", licence="CC0-1.0").path


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for one in small_graphs():
        write_graph(one.graph, tmp_path / f"{one.name}.tsv")
    return [str(tmp_path / f"{one.name}.tsv") for one in small_graphs()]


def calibrate(*words: object):
    return CliRunner().invoke(app, ["models", "calibrate", *map(str, words), "--device", "cpu"])


class TestCommand:
    def test_a_model_gets_a_calibration_that_says_what_it_is_worth(
        self, model: Path, files: list[str], tmp_path: Path, family: KnowledgeGraph
    ) -> None:
        copy = Path(shutil.copytree(model, tmp_path / "copy"))
        result = calibrate(copy, "--graphs", *files, "--queries", 6)
        assert result.exit_code == 0, result.output
        assert "the others" in result.output
        found = QueryCalibration.from_json(read_json(copy / "calibration.json"))
        assert found.about["graphs"] == ["first", "second"]
        assert set(found.about["leave_one_out"]) == {"first", "second"}
        answers = unseen.ask(family, "?x : likes(x, Chess)", method=str(copy))
        assert [answer.probability > 0.999 for answer in answers] == [answer.known for answer in answers]

    def test_a_copy_leaves_the_model_as_it_was(self, model: Path, files: list[str], tmp_path: Path) -> None:
        before = {path.name: path.read_bytes() for path in model.iterdir()}
        result = calibrate(model, "--graphs", files[0], "--queries", 6, "-o", tmp_path / "mine", "--json")
        assert result.exit_code == 0, result.output
        assert before == {path.name: path.read_bytes() for path in model.iterdir()}
        assert json.loads(result.stdout)["about"] == read_json(tmp_path / "mine" / "calibration.json")["about"]
        assert (tmp_path / "mine" / "weights.safetensors").read_bytes() == before["weights.safetensors"]

    def test_what_cannot_be_is_said_first(self, run: Path, model: Path, files: list[str], tmp_path: Path) -> None:
        graphs = ("--graphs", files[0])
        for words, message in (
            (("default", *graphs), "shipped with the package"),
            ((run, *graphs, "-o", tmp_path / "copy"), "is a run"),
            ((model, *graphs, "-o", tmp_path), "already exists"),
            (("nowhere", *graphs), "nowhere"),
            ((*graphs, files[1], model), f"{model} is a model: name it first"),
            ((*graphs, tmp_path, model), f"{model} is a model: name it first"),
        ):
            result = calibrate(*words)
            assert result.exit_code != 0
            assert message in str(result.exception or result.output)

    def test_a_shipped_model_is_changed_only_where_its_folder_is_said_to_be_the_output(
        self, model: Path, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shipped = Path(shutil.copytree(model, tmp_path / "models" / "default"))
        (tmp_path / "link").symlink_to(shipped)
        monkeypatch.setattr("unseen.models.model_folder.shipped_folder", lambda: tmp_path / "models")
        monkeypatch.setattr("unseen.training.recalibrating.shipped_folder", lambda: tmp_path / "models")
        monkeypatch.chdir(tmp_path / "models")  # where `default` is also a folder
        for name in ("default", shipped, tmp_path / "link"):
            with pytest.raises(RunFolderError, match="shipped with the package"):
                recalibrate(name, small_graphs(), 3, device="cpu")
        assert not (shipped / "calibration.json").exists()
        result = calibrate("default", "--graphs", files[0], "--queries", 3, "-o", shipped)
        assert result.exit_code == 0, result.output
        assert (shipped / "calibration.json").exists()

    def test_the_help_has_examples(self) -> None:
        assert "unseen models calibrate models/general" in calibrate("--help").output


def test_a_run_is_calibrated_where_it_is_always_alike(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "run"))
    found, path = recalibrate(copy, small_graphs(), 3, device="cpu")
    assert path == copy
    assert read_json(copy / "calibration.json") == json.loads(json.dumps(found.to_json()))
    again = fit_across(open_model(run, device="cpu"), small_graphs(), 3)
    assert again == found


def test_progress_counts_all_questions(run: Path) -> None:
    told: list[tuple[int, int]] = []
    found = fit_across(
        open_model(run, device="cpu"), small_graphs()[:1], 3, progress=lambda _, done, total: told.append((done, total))
    )
    assert told[-1] == (found.about["queries"],) * 2
    assert [done for done, _ in told] == list(range(1, len(told) + 1))


def test_graphs_without_questions_are_left_out_and_nothing_is_an_error(run: Path) -> None:
    method, graphs = open_model(run, device="cpu"), small_graphs()
    loops = KnowledgeGraph(*np.zeros((3, 1), np.int32), Vocabulary.numbered(3, 1))
    graphs.append(NamedGraph("loops", loops.restricted_to(np.zeros(1, bool))))
    found = fit_across(method, graphs, 3)
    assert found.about["graphs"] == ["first", "second"]
    assert set(found.about["leave_one_out"]) == {"first", "second"}
    assert leave_one_out({"first": [], "second": []}, 0.9) == {}
    with pytest.raises(TrainingError, match="no question has an answer on loops: give larger graphs"):
        fit_across(method, graphs[2:], 3)
    with pytest.raises(UnseenError, match="cannot be fitted to no questions"):
        fit_query_calibration([], 0.9)


def test_a_method_of_named_relations_is_refused(tmp_path: Path) -> None:
    train("gnn-qe", small_dataset(), tmp_path / "gnn", TINY)
    with pytest.raises(RunFolderError, match="not a zero-shot model"):
        recalibrate(tmp_path / "gnn", small_graphs())


def test_a_folder_is_read_whole_to_know_what_is_true(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for part, steps in (("train", (1, 2, 3)), ("valid", (4,)), ("test", (5,))):
        write_graph(ring("ring", 60, steps, share=1.0).graph, tmp_path / "parts" / f"{part}.tsv.gz")
    assert open_graph(tmp_path / "parts").graph.num_triples == 180
    assert open_graph(tmp_path / "parts", whole=True).graph.num_triples == 300


@pytest.mark.parametrize(("form", "disjoint"), [("folder", False), ("folder", True), ("npz", False)])
def test_a_dataset_is_read_whole_to_know_what_is_true(tmp_path: Path, form: str, disjoint: bool) -> None:
    dataset = small_dataset()
    moved = dataset.split.train_graph + np.array([1, 0, 0], np.int32)
    moved[:, 0] %= dataset.vocabulary.num_entities
    split = replace(dataset.split, test_inference=moved[:30], test_predict=moved[30:], disjoint=disjoint)
    dataset, path = Dataset("small", split, manifest={"answers": "published"}), tmp_path / "small"
    if form == "folder":
        dataset.save(path)
    else:
        path = path.with_suffix(".npz")
        export_dataset(dataset, path, "npz")
    parts = (split.train_graph, split.valid_inference, split.valid_predict, moved)
    graph = open_graph(path, whole=True).graph
    found = np.stack([graph.heads, graph.relations, graph.tails], axis=1)
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for part in parts for row in part.tolist()}
    assert open_graph(path).graph.num_triples == dataset.observed("train").num_triples
