"""Values of the wrong kind in the files of a run or a result are refused by the file that holds them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.training.small_world import CASES, small_dataset
from unseen.errors import ConfigError, EvaluationError, RunFolderError, UnseenError
from unseen.evaluation.evaluator import evaluate
from unseen.evaluation.results import Result
from unseen.methods.edge_type import EdgeType
from unseen.models.checkpoint import read_tensors, write_tensors
from unseen.models.model_folder import open_model
from unseen.training.session import train

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    method, settings = CASES["gnn-qe"]
    path = tmp_path_factory.mktemp("runs") / "run"
    train(method, small_dataset(), path, settings)
    return path


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return shutil.copytree(trained, tmp_path / "run")


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("relations", [None, "leads", [1, 2], ["leads", "leads"], {"leads": 0}])
def test_relations_must_be_different_names(run: Path, relations: object) -> None:
    change(run / "run.json", relations=relations)
    with pytest.raises(RunFolderError, match=r"run\.json: has no list of different names under 'relations'"):
        open_model(run)


@pytest.mark.parametrize("weights", [None, 5, "../elsewhere.safetensors", ["x"]])
def test_the_last_weights_must_be_a_name(run: Path, weights: object) -> None:
    (run / "best.safetensors").unlink()
    change(run / "last.json", weights=weights)
    with pytest.raises(RunFolderError, match=r"last\.json: does not name the file of the last weights"):
        open_model(run)


@pytest.mark.parametrize(
    "groups",
    [
        None,
        {},
        {"p1": None},
        {"x": {"kind": "isotonic", "logits": [0, 1], "probabilities": [0, 1]}},
        {"p1": {"kind": "isotonic", "logits": [0], "probabilities": [0]}},
        {"p1": {"kind": "isotonic", "logits": [0, 1], "probabilities": [0, None]}},
        {"p1": {"kind": "isotonic", "logits": [0, 1], "probabilities": [0, float("nan")]}},
        {"p1": {"kind": "isotonic", "logits": [1, 0], "probabilities": [0, 1]}},
        {"p1": {"kind": "isotonic", "logits": [0, 1], "probabilities": [0, 10**400]}},
    ],
)
def test_a_calibration_must_have_curves(run: Path, groups: object) -> None:
    (run / "calibration.json").write_text(json.dumps({"version": 1, "groups": groups}))
    with pytest.raises(RunFolderError, match=r"calibration\.json: this is not a calibration: .* remove it to answer"):
        open_model(run)


@pytest.mark.parametrize(
    "changes",
    [{"ceiling": 0}, {"ceiling": float("nan")}, {"predicted": {"offset": {"one": float("inf")}}}, {"known": None}],
)
def test_a_calibration_of_queries_must_have_finite_weights(run: Path, changes: dict[str, Any]) -> None:
    whole = {"version": 2, "ceiling": 0.9, "predicted": {}, "known": {}}
    (run / "calibration.json").write_text(json.dumps(whole | changes))
    with pytest.raises(RunFolderError, match=r"calibration\.json: this is not a calibration"):
        open_model(run)


def test_weights_must_be_finite(run: Path) -> None:
    tensors = read_tensors(run / "best.safetensors")
    name = next(name for name, tensor in tensors.items() if tensor.is_floating_point())
    write_tensors(run / "best.safetensors", tensors | {name: torch.full_like(tensors[name], torch.nan)})
    with pytest.raises(RunFolderError, match=r"best\.safetensors: is damaged: .* not a finite number"):
        open_model(run)


@pytest.mark.parametrize("file", ["run.json", "calibration.json"])
def test_json_nested_without_end_is_refused(run: Path, file: str) -> None:
    (run / file).write_text('{"a":' * 200_000)
    with pytest.raises(RunFolderError, match="cannot be read"):
        open_model(run)


@pytest.mark.parametrize("value", ["inf", "nan", "9" * 400])
def test_settings_must_be_finite(run: Path, value: str) -> None:
    text = (run / "config.toml").read_text().replace("memory_gib = 0.0", f"memory_gib = {value}")
    (run / "config.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"memory_gib must be|cannot be read as TOML"):
        open_model(run)


@pytest.mark.parametrize("value", [None, "x", [], {}, True, 10**400])
@pytest.mark.parametrize("way", [("types", "1p", "mrr"), ("types", "1p"), ("types",), ("method",), ("seed",)])
def test_a_result_must_hold_numbers(way: tuple[str, ...], value: object) -> None:
    result = json.loads(json.dumps(evaluate(EdgeType(), small_dataset(), split="valid").to_json()))
    assert Result.from_json(result).types
    holder = result
    for step in way[:-1]:
        holder = holder[step]
    holder[way[-1]] = value
    if (way, value) in ((("method",), "x"), (("types",), {})):
        return
    with pytest.raises(EvaluationError, match="this is not a result of `unseen evaluate`"):
        Result.from_json(result)


def test_a_folder_that_vanishes_is_an_error(run: Path) -> None:
    shutil.rmtree(run)
    with pytest.raises(UnseenError):
        open_model(run)
