"""Run folders are opened by everything that answers; what is missing or damaged is said."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import torch

import unseen
from tests.training.small_world import CASES, TINY, small_dataset
from unseen.errors import RunFolderError
from unseen.evaluation.evaluator import Options, evaluate
from unseen.logic.algebra import Anchor, Project
from unseen.methods.cqd_beam import CqdBeam
from unseen.methods.gnn_qe.gnn_qe import GnnQe
from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
from unseen.models import run_folder
from unseen.models.run_folder import RunFolder, open_method, provenance, source_commit
from unseen.probability.calibration import Calibrated
from unseen.training.session import train

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DATASET = small_dataset()
QUERIES = [Project(0, Anchor(3)), Project(2, Project(1, Anchor(5)))]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    train("gnn-qe", DATASET, path, TINY)
    return path


def test_the_opened_method_answers_and_estimates(trained: Path) -> None:
    method = open_method(trained, device="cpu")
    graph = DATASET.observed("valid")
    assert isinstance(method, Calibrated)
    probabilities = method.estimate(graph, QUERIES).stacked(QUERIES)
    assert bool(((probabilities >= 0) & (probabilities <= 1)).all())
    order = method.answer(graph, QUERIES).argsort(dim=1, descending=True, stable=True)
    assert bool((probabilities.gather(1, order).diff(dim=1) <= 1e-7).all()), "calibration keeps the order"
    assert 0 < method.estimate(graph, QUERIES).expected_count(QUERIES[0]) < graph.num_entities


def test_settings_and_origin_are_read_once_for_each_opening(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(path: Path, original: Callable[[Path], dict[str, object]]) -> dict[str, object]:
        read.append(path.name)
        return original(path)

    for name in ("read_toml", "read_json"):
        original = getattr(run_folder, name)
        monkeypatch.setattr(run_folder, name, partial(noted, original=original))
    for _ in range(2):
        folder = RunFolder.open(trained)
        assert folder.config is folder.config
        assert folder.method == "gnn-qe"
        assert folder.relation_names == folder.relation_names
    assert sorted(read) == ["config.toml", "config.toml", "run.json", "run.json"]


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("nodepiece-qe")])
def test_a_method_that_learned_from_links_is_opened_and_asked(case: str, tmp_path: Path) -> None:
    method_name, settings = CASES[case]
    train(method_name, DATASET, tmp_path / "run", settings | {"storage": "bfloat16"})
    graph = DATASET.observed("valid")
    method = open_method(tmp_path / "run", device="cpu", known_facts=False)
    assert isinstance(method, CqdBeam)
    assert not method.choices.default.known_facts
    assert isinstance(method.scorer, NodePieceQe)
    assert method.scorer.opened(graph).vectors.dtype == torch.bfloat16
    assert not method.scorer.training
    assert method.answer(graph, QUERIES).shape == (2, graph.num_entities)
    asked = unseen.ask(graph, "?x : leads(e3, x)", method=str(tmp_path / "run"), top=5)
    assert len(asked) == 5
    assert all(0 <= answer.probability <= 1 for answer in asked)
    result = evaluate(unseen.open_method(str(tmp_path / "run")), DATASET, "valid", Options(limit=3))
    assert set(result.types) == set(DATASET.tables["valid"])


def test_the_evaluator_takes_it(trained: Path) -> None:
    result = evaluate(open_method(trained), DATASET, "valid", Options(limit=5, probabilities=True))
    assert set(result.types) == set(DATASET.tables["valid"])
    assert result.types["1p"].calibration is not None


def test_known_facts_can_be_switched_off(trained: Path) -> None:
    method, graph = open_method(trained, known_facts=False), DATASET.observed("valid")
    assert isinstance(method, GnnQe)
    assert float(method.answer(graph, QUERIES).max()) < 1
    assert float(open_method(trained).answer(graph, QUERIES).max()) == 1


def test_best_and_last_weights_can_be_chosen(trained: Path) -> None:
    graph = DATASET.observed("valid")
    both = [open_method(trained, weights=which).answer(graph, QUERIES) for which in ("best", "last")]
    assert both[0].shape == both[1].shape
    (trained / "best.safetensors").rename(trained / "kept")
    assert torch.equal(open_method(trained).answer(graph, QUERIES), both[1])
    (trained / "kept").rename(trained / "best.safetensors")


def test_what_is_no_run_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"no run\.json"):
        open_method(tmp_path)


def test_a_damaged_file_is_named(trained: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in trained.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    (broken / "best.safetensors").write_bytes(b"nothing")
    with pytest.raises(RunFolderError, match=r"best\.safetensors: cannot be read"):
        open_method(broken)
    (broken / "run.json").write_text("{")
    with pytest.raises(RunFolderError, match=r"run\.json: cannot be read"):
        open_method(broken)


def test_an_unfinished_line_of_metrics_is_left_out(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.log("train", step=1)
    folder.log("train", step=5)
    with (tmp_path / "metrics.jsonl").open("a") as stream:
        stream.write('{"event": "tra')
    assert [event["step"] for event in folder.metrics()] == [1, 5]
    folder.forget_after(3)
    assert [event["step"] for event in folder.metrics()] == [1]


def test_a_copy_of_the_source_can_be_told_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSEEN_COMMIT", "0123abc")
    source_commit.cache_clear()
    assert provenance()["commit"] == "0123abc"
    source_commit.cache_clear()
