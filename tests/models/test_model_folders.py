"""Models that travel, fine-tuning that never loses, and which of them answers when none is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import unseen
from tests.training.pretraining.small_graphs import SETTINGS, small_graphs
from tests.training.small_world import TINY, small_dataset
from unseen import api
from unseen.cli.main import app
from unseen.errors import ConfigError, RunFolderError, TooLarge, UnknownMethod, UnseenError
from unseen.graph import KnowledgeGraph, Vocabulary, control_groups
from unseen.methods.zero_shot import footprint
from unseen.methods.zero_shot.pretraining_settings import PretrainingConfig
from unseen.methods.zero_shot.zero_shot import ZeroShot, ZeroShotShape
from unseen.models import model_folder
from unseen.models.checkpoint import read_json, read_tensors, save_weights
from unseen.models.model_folder import default_model, export_model, open_model, shipped_models, weights_and_settings
from unseen.models.run_folder import RunFolder
from unseen.probability.calibration import Calibrated, Calibration
from unseen.training import session
from unseen.training.pretraining.pretraining_session import pretrain
from unseen.training.session import train

DATASET = small_dataset()
TUNING = {key: TINY[key] for key in TINY if key not in ("dim", "layers", "hidden_dim")}
"""Settings of fine-tuning, whose shape is that of the model it begins with."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("runs") / "general"
    pretrain(small_graphs(), path, SETTINGS)
    return RunFolder.open(path)


@pytest.fixture
def shipped(run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that ships the model of the run under two names."""
    folder = tmp_path / "models"
    for name in ("another", "default"):
        export_model(run, folder / name, licence="CC0-1.0")
    monkeypatch.setattr(model_folder, "shipped_folder", lambda: folder)
    monkeypatch.setattr(api, "_ships_models", lambda: True)
    return folder


class TestModelFolder:
    def test_the_card_says_what_the_weights_are(self, run: RunFolder, tmp_path: Path) -> None:
        model = export_model(run, tmp_path / "model", licence="CC0-1.0", metrics={"test": 0.5})
        card = model.card
        assert [graph["name"] for graph in card["data"]] == ["first", "second"]
        assert (card["seed"], card["licence"], card["metrics"]["test"]) == (0, "CC0-1.0", 0.5)
        assert card["steps"] == read_json(run.path / "last.json")["best_step"]
        assert card["metrics"]["validation"]["hits_at_10"] == read_json(run.path / "last.json")["best_score"]
        assert card["commit"]
        assert {path.name for path in model.path.iterdir()} == {"weights.safetensors", "card.json", "calibration.json"}

    def test_the_card_says_what_else_is_known_but_not_otherwise(self, run: RunFolder, tmp_path: Path) -> None:
        about = {"sources": [{"name": "first", "licence": "CC0-1.0"}], "seed": 7}
        card = export_model(run, tmp_path / "model", licence="CC0-1.0", about=about).card
        assert (card["sources"], card["seed"]) == (about["sources"], 0)

    def test_a_run_without_its_checkpoints_is_exported_by_its_log(self, run: RunFolder, tmp_path: Path) -> None:
        copy = RunFolder(Path(shutil.copytree(run.path, tmp_path / "run", ignore=shutil.ignore_patterns("last*"))))
        cards = [export_model(one, tmp_path / f"{place}", licence="x").card for place, one in enumerate((run, copy))]
        assert cards[0] == cards[1]

    def test_it_answers_as_the_run_does(self, run: RunFolder, tmp_path: Path, family: Any) -> None:
        export_model(run, tmp_path / "model", licence="CC0-1.0")
        question = "?x : likes(x, Chess)"
        answers = [unseen.ask(family, question, method=str(path)) for path in (run.path, tmp_path / "model")]
        assert [(one.entity, one.probability) for one in answers[0]] == [(o.entity, o.probability) for o in answers[1]]
        assert isinstance(open_model(tmp_path / "model", device="cpu"), Calibrated)

    def test_large_weights_are_written_in_half_precision(
        self, run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(model_folder, "MOST_BYTES", 100)
        model = export_model(run, tmp_path / "model", licence="CC0-1.0")
        assert model.card["dtype"] == "float16"
        assert {tensor.dtype for tensor in read_tensors(model.path / "weights.safetensors").values()} == {torch.float16}
        opened = model.open(device="cpu", known_facts=False)
        assert {weight.dtype for weight in opened.parameters()} == {torch.float32}

    def test_a_model_is_not_written_over(self, run: RunFolder, tmp_path: Path) -> None:
        export_model(run, tmp_path / "model", licence="CC0-1.0")
        with pytest.raises(RunFolderError, match="is a model already"):
            export_model(run, tmp_path / "model", licence="CC0-1.0")

    def test_a_card_that_says_too_little_is_refused(self, run: RunFolder, tmp_path: Path) -> None:
        model = export_model(run, tmp_path / "model", licence="CC0-1.0")
        card = model.card
        del card["licence"]
        (model.path / "card.json").write_text(json.dumps(card))
        with pytest.raises(RunFolderError, match="does not say licence"):
            open_model(model.path)


class TestDefault:
    def test_without_a_shipped_model_the_heuristic_answers(self, family: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(api, "_ships_models", lambda: False)
        assert api.default_method() == "edge-type"
        assert unseen.ask(family, "?x : likes(x, Chess)").method == "edge-type"
        monkeypatch.setattr(model_folder, "shipped_folder", lambda: Path("nowhere"))
        with pytest.raises(UnseenError, match="no model is shipped"):
            unseen.ask(family, "?x : likes(x, Chess)", method="default")

    def test_a_shipped_model_answers(self, shipped: Path, family: Any) -> None:
        assert [model.name for model in shipped_models()] == ["another", "default"]
        assert default_model() == "default"
        answers = unseen.ask(family, "?x : likes(x, Chess)")
        assert answers.method == "default"
        assert [answer.entity for answer in answers if answer.known] == ["Ben", "Dora"]
        assert len([answer for answer in answers if not answer.known]) == 5

    def test_an_unknown_name_lists_what_there_is(self, shipped: Path, family: Any) -> None:
        with pytest.raises(UnknownMethod, match="edge-type, exact, rules, path-counts, another, default"):
            unseen.ask(family, "?x : likes(x, Chess)", method="anything")

    def test_a_graph_that_is_too_large_names_a_method_that_works(
        self, shipped: Path, family: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(footprint, "bytes_free", lambda _device: 1000)
        with pytest.raises(TooLarge, match="--method edge-type"):
            unseen.ask(family, "?x : likes(x, Chess)")
        assert unseen.ask(family, "?x : likes(x, Chess)", method="edge-type").method == "edge-type"

    def test_memory_is_known_on_this_machine(self, family: Any) -> None:
        assert footprint.bytes_needed(family, ZeroShotShape()) > 0
        assert footprint.bytes_free() is None or footprint.bytes_free() > 0

    def test_a_container_may_have_less_memory_than_the_machine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limit, used = tmp_path / "memory.max", tmp_path / "memory.current"
        (tmp_path / "memory.stat").write_text("anon 900\n")
        monkeypatch.setattr(control_groups, "MOUNT", tmp_path)
        everything = footprint.bytes_free()
        used.write_text("1000\n")
        limit.write_text("max\n")
        assert everything is not None
        assert footprint.bytes_free() != 2000
        limit.write_text("3000\n")
        assert footprint.bytes_free() == 2000
        limit.write_text("500\n")
        assert footprint.bytes_free() == 0


def test_three_million_triples_take_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (np.arange(3_000_000, dtype=np.int32) % size for size in (1_000_000, 1000, 999_983))
    graph = KnowledgeGraph(*columns, Vocabulary.numbered(1_000_000, 1000))
    monkeypatch.setattr(footprint, "bytes_free", lambda _device: 1 << 30)
    with pytest.raises(TooLarge, match=r"about 1\.\d GiB for a graph of 3,000,000 triples, and 1\.0 GiB are free; use"):
        footprint.check_memory(graph, ZeroShotShape())


class TestCommands:
    def test_models_are_listed(self, shipped: Path) -> None:
        result = CliRunner().invoke(app, ["models"], env={"COLUMNS": "120"})
        assert result.exit_code == 0
        assert "default (default)" in result.output
        assert "first, second" in result.output
        told = json.loads(CliRunner().invoke(app, ["models", "--json"]).output)
        assert [model["name"] for model in told["models"]] == ["another", "default"]
        assert told["default"] == "default"

    def test_a_run_is_exported(self, run: RunFolder, tmp_path: Path) -> None:
        words = ["models", "export", str(run.path), "-o", str(tmp_path / "model"), "--licence", "CC0-1.0"]
        assert CliRunner().invoke(app, words).exit_code == 0
        assert (tmp_path / "model" / "card.json").exists()

    def test_a_model_is_asked_and_evaluated(self, shipped: Path, tmp_path: Path) -> None:
        DATASET.save(tmp_path / "small")
        asked = CliRunner().invoke(app, ["ask", "countries", "?x : borders(France, x)", "--model", "another", "--json"])
        assert asked.exit_code == 0, asked.output
        assert json.loads(asked.stdout)["method"] == "another"
        words = ["evaluate", "--model", "default", str(tmp_path / "small"), "--split", "valid", "--limit", "2"]
        assert CliRunner().invoke(app, words).exit_code == 0
        both = ["evaluate", "edge-type", str(tmp_path / "small"), "--model", "default"]
        assert CliRunner().invoke(app, both).exit_code == 2
        assert CliRunner().invoke(app, ["evaluate", "edge-type"]).exit_code == 2


class TestFineTuning:
    def test_the_start_is_kept_where_nothing_is_better(self, run: RunFolder, tmp_path: Path) -> None:
        spoiling = TUNING | {"learning_rate": 10.0, "warmup": 0, "average": 0.0}
        outcome = train("zero-shot", DATASET, tmp_path / "run", spoiling, start=run.path)
        scores = [event for event in RunFolder.open(tmp_path / "run").metrics() if event["event"] == "validation"]
        assert scores[0]["step"] == 0
        assert outcome.progress.best_score == max(event["score"] for event in scores)
        assert outcome.progress.best_score >= scores[0]["score"]

    def test_without_a_better_one_the_best_weights_are_those_of_the_start(self, run: RunFolder, tmp_path: Path) -> None:
        still = TUNING | {"learning_rate": 1e-12}
        outcome = train("zero-shot", DATASET, tmp_path / "run", still, start=run.path)
        assert outcome.progress.best_step == 0
        start, best = weights_and_settings(run.path)[0], read_tensors(tmp_path / "run" / "best.safetensors")
        assert all(torch.equal(start[name], best[name]) for name in start)

    def test_slices_end_with_the_same_weights(self, run: RunFolder, tmp_path: Path) -> None:
        train("zero-shot", DATASET, tmp_path / "whole", TUNING, start=run.path)
        options = {"start": run.path, "resume": True, "minutes": 0.0}
        while train("zero-shot", DATASET, tmp_path / "sliced", TUNING, **options).reason == "time":
            pass
        last = [read_tensors(RunFolder.open(tmp_path / name).weights_path("last")) for name in ("whole", "sliced")]
        assert all(torch.equal(last[0][name], last[1][name]) for name in last[0])

    def test_the_shape_is_the_models(self, run: RunFolder, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="dim cannot be 8"):
            train("zero-shot", DATASET, tmp_path / "run", TUNING | {"dim": 8}, start=run.path)
        with pytest.raises(ConfigError, match="gnn-qe has weights for each relation"):
            train("gnn-qe", DATASET, tmp_path / "other", TINY, start=run.path)

    def test_a_model_of_named_relations_is_no_start(self, tmp_path: Path) -> None:
        train("gnn-qe", DATASET, tmp_path / "gnn", TINY)
        with pytest.raises(RunFolderError, match="not a model for any graph"):
            train("zero-shot", DATASET, tmp_path / "run", TUNING, start=tmp_path / "gnn")

    def test_what_it_remembers_of_relations_is_no_model_for_any_graph(self, run: RunFolder, tmp_path: Path) -> None:
        train("zero-shot", DATASET, tmp_path / "run", TUNING, start=run.path)
        tuned = RunFolder.open(tmp_path / "run")
        assert tuned.config.relation_memory
        with pytest.raises(RunFolderError, match="remembers the relations of its dataset"):
            export_model(tuned, tmp_path / "model", licence="none")
        assert set(weights_and_settings(tuned.path)[0]) == set(weights_and_settings(run.path)[0])
        train("zero-shot", DATASET, tmp_path / "again", TUNING | {"relation_memory": False}, start=tuned.path)
        export_model(RunFolder.open(tmp_path / "again"), tmp_path / "model", licence="none")

    def test_a_run_that_begins_with_another_remembers_what_that_did(self, run: RunFolder, tmp_path: Path) -> None:
        train("zero-shot", DATASET, tmp_path / "run", TUNING, start=run.path)
        tuned = RunFolder.open(tmp_path / "run")
        train("zero-shot", DATASET, tmp_path / "again", TUNING | {"learning_rate": 1e-12}, start=tuned.path)
        began = read_tensors(RunFolder.open(tmp_path / "again").start_path)
        best = read_tensors(tuned.weights_path())
        assert any(name.startswith(model_folder.MEMORY) for name in best)
        assert all(torch.equal(began[name], best[name]) for name in best)
        others = model_folder.remembering(tuned.path, ["nobody", *tuned.relation_names[1:]], began | _zeros(began))
        own = others[model_folder.MEMORY + "own"]
        assert not own[:2].any()
        assert torch.equal(own[2:], best[model_folder.MEMORY + "own"][2:])

    def test_a_run_that_remembers_no_pairs_goes_on_and_can_be_begun_with(self, run: RunFolder, tmp_path: Path) -> None:
        train("zero-shot", DATASET, tmp_path / "old", TUNING | {"memory_width": 0}, start=run.path)
        old = RunFolder.open(tmp_path / "old")
        assert old.config.memory_width == 0
        assert model_folder.MEMORY + "maps" not in read_tensors(old.weights_path())
        steps = {"steps": TUNING["steps"] + 1}
        assert train("zero-shot", DATASET, old.path, steps, resume=True).progress.step == steps["steps"]
        train("zero-shot", DATASET, tmp_path / "new", TUNING | {"memory_width": 4}, start=old.path)
        began, best = read_tensors(RunFolder.open(tmp_path / "new").start_path), read_tensors(old.weights_path())
        assert torch.equal(began[model_folder.MEMORY + "own"], best[model_folder.MEMORY + "own"])
        assert not began[model_folder.MEMORY + "maps"].any()

    def test_probabilities_are_fitted_without_dropout(
        self, run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        modes = []

        def fit(method: ZeroShot, *_: Any, **__: Any) -> Calibration:
            modes.append(method.training)
            return Calibration({})

        monkeypatch.setattr(session, "fit_calibration", fit)
        train("zero-shot", DATASET, tmp_path / "run", TUNING | {"calibration_queries": 5}, start=run.path)
        assert modes == [False]

    def test_worlds_are_answered_without_names(self) -> None:
        with pytest.raises(ConfigError, match="without names"):
            PretrainingConfig(relation_memory=True)

    def test_the_command_takes_a_model(self, shipped: Path, tmp_path: Path) -> None:
        DATASET.save(tmp_path / "small")
        flags = [
            "--steps",
            "1",
            "--batch-size",
            "4",
            "--types",
            "1p,2p",
            "--calibration-queries",
            "0",
            "--device",
            "cpu",
        ]
        words = [
            "train",
            "zero-shot",
            str(tmp_path / "small"),
            "--from",
            "default",
            "-o",
            str(tmp_path / "run"),
            *flags,
        ]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        assert RunFolder.open(tmp_path / "run").origin["start"] == "default"


def test_weights_of_the_published_shape_fit_into_a_model(run: RunFolder, tmp_path: Path) -> None:
    save_weights(tmp_path / "weights.safetensors", ZeroShot())
    small = model_folder.small_weights(read_tensors(tmp_path / "weights.safetensors"))
    assert sum(tensor.numel() * tensor.element_size() for tensor in small.values()) <= model_folder.MOST_BYTES
    assert np.isfinite(sum(float(tensor.float().sum()) for tensor in small.values()))


def _zeros(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: torch.zeros_like(value) for name, value in weights.items() if name.startswith(model_folder.MEMORY)}
