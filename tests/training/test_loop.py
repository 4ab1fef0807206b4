"""Training: it learns, it survives, and however it was interrupted it ends with the same weights."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.training.small_world import CASES, ROOT, TINY, small_dataset, training_command
from unseen.errors import ConfigError, Diverged, RunFolderError
from unseen.methods.gnn_qe.gnn_qe import GnnQe
from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
from unseen.models.checkpoint import read_json, read_tensors
from unseen.models.run_folder import RunFolder
from unseen.training.session import train

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.training.loop import Outcome

DATASET = small_dataset()


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> str:
    """The name of a method and its settings."""
    return request.param


def run(
    path: Path, case: str = "gnn-qe", *, resume: bool = False, minutes=None, report=None, **settings: Any
) -> Outcome:
    method, tiny = CASES[case]
    return train(method, DATASET, path, tiny | settings, resume=resume, minutes=minutes, report=report)


def last_weights(path: Path) -> dict[str, torch.Tensor]:
    return read_tensors(RunFolder.open(path).weights_path("last"))


def losses(path: Path) -> list[float]:
    return [event["loss"] for event in RunFolder.open(path).metrics() if event["event"] == "train"]


def same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, case: str) -> Path:
    path = tmp_path_factory.mktemp("runs") / "whole"
    assert run(path, case).reason == "finished"
    return path


def test_a_run_folder_explains_the_run(uninterrupted: Path, case: str) -> None:
    folder = RunFolder.open(uninterrupted)
    assert folder.method == CASES[case][0]
    assert folder.config.steps == TINY["steps"]
    assert folder.relation_names == ("leads", "follows")
    assert folder.origin["versions"]["torch"] == torch.__version__
    assert folder.origin["dataset"] == "small"
    events = [event["event"] for event in folder.metrics()]
    assert events == ["start", *["train"] * 3, "validation", *["train"] * 3, "validation", "end"]
    names = {path.name for path in uninterrupted.iterdir()}
    last = {"last.json", "last-00000006.weights.safetensors", "last-00000006.optimizer.safetensors"}
    written = {"config.toml", "run.json", "metrics.jsonl", "best.safetensors", "calibration.json", *last}
    names_of = {"nodepiece-qe with anchors": {"anchors.json"}, "betae": {"entities.json"}}
    assert names == written | names_of.get(case, set())


def test_the_same_settings_give_the_same_weights(uninterrupted: Path, case: str, tmp_path: Path) -> None:
    run(tmp_path / "again", case)
    assert same(last_weights(tmp_path / "again"), last_weights(uninterrupted))
    run(tmp_path / "other", case, seed=1)
    assert not same(last_weights(tmp_path / "other"), last_weights(uninterrupted))


def test_a_run_in_slices_ends_with_the_same_weights(uninterrupted: Path, case: str, tmp_path: Path) -> None:
    path, slices = tmp_path / "sliced", 0
    while (outcome := run(path, case, resume=True, minutes=0.0)).reason == "time":
        slices += 1
    assert outcome.reason == "finished"
    assert slices == TINY["steps"] - 1
    assert same(last_weights(path), last_weights(uninterrupted))
    assert same(read_tensors(path / "best.safetensors"), read_tensors(uninterrupted / "best.safetensors"))
    assert losses(path) == losses(uninterrupted)


def test_ctrl_c_saves_and_the_run_goes_on_from_there(uninterrupted: Path, case: str, tmp_path: Path) -> None:
    def interrupt(event: str, values: dict[str, Any]) -> None:
        if event == "train" and values["step"] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    outcome = run(tmp_path / "run", case, report=interrupt)
    assert (outcome.reason, outcome.progress.step) == ("interrupted", 4)
    assert run(tmp_path / "run", case, resume=True).reason == "finished"
    assert same(last_weights(tmp_path / "run"), last_weights(uninterrupted))


@pytest.mark.parametrize("case", ["gnn-qe", "nodepiece-qe with gnn"])
def test_a_killed_run_goes_on_and_ends_with_the_same_weights(case: str, tmp_path: Path) -> None:
    path = tmp_path / "killed"
    process = subprocess.Popen(training_command(path, case, steps=1_000_000, validate_every=3), cwd=ROOT)
    try:
        _wait_for(lambda: (path / "last.json").exists() and read_json(path / "last.json")["step"] >= 2, process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    reached = read_json(path / "last.json")["step"]
    final = reached + 3
    run(path, case, resume=True, steps=final)
    run(tmp_path / "whole", case, steps=final)
    assert same(last_weights(path), last_weights(tmp_path / "whole"))
    assert losses(path) == losses(tmp_path / "whole")


@pytest.mark.parametrize(
    ("case", "method", "keys"),
    [("gnn-qe", GnnQe, {"query", "answers"}), ("nodepiece-qe", NodePieceQe, {"head", "relation", "tail"})],
)
def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_batch(
    tmp_path: Path, monkeypatch: Any, case: str, method: Any, keys: set[str]
) -> None:
    honest, calls = method.losses, []

    def failing(self: Any, batch: Any, generator: torch.Generator) -> torch.Tensor:
        calls.append(1)
        return honest(self, batch, generator) * (float("nan") if len(calls) == 4 else 1.0)

    monkeypatch.setattr(method, "losses", failing)
    with pytest.raises(Diverged, match="step 3") as caught:
        run(tmp_path / "run", case)
    saved = json.loads(caught.value.saved.read_text())
    assert len(saved["batch"]) == TINY["batch_size"]
    assert keys == set(saved["batch"][0])
    assert all(bool(weights.isfinite().all()) for weights in last_weights(tmp_path / "run").values())
    assert read_json(tmp_path / "run" / "last.json")["step"] == 3


def test_the_loss_falls_and_the_validation_rises(tmp_path: Path) -> None:
    run(tmp_path / "run", steps=120, validate_every=40, batch_size=16, learning_rate=0.01, log_every=10, dim=8)
    found = losses(tmp_path / "run")
    assert found[-1] < 0.8 * found[0]
    scores = [event["score"] for event in RunFolder.open(tmp_path / "run").metrics() if event["event"] == "validation"]
    assert len(scores) == 3
    assert max(scores) > 0.4


def test_patience_ends_a_run_that_no_longer_gets_better(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", steps=50, validate_every=1, patience=2, learning_rate=1e-9)
    assert outcome.reason == "patience"
    assert outcome.progress.step == 3
    assert outcome.is_complete


@pytest.mark.parametrize(("case", "settings"), [("gnn-qe", {"relation_dropout": 0.0}), ("nodepiece-qe with gnn", {})])
def test_two_processes_run_as_one_with_the_same_batch(case: str, settings: dict[str, Any], tmp_path: Path) -> None:
    """Without dropout of rows: each process draws its own for its share of the batch."""
    alone, path = tmp_path / "one", tmp_path / "two"
    run(alone, case, **settings)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    workers = [
        subprocess.Popen(
            training_command(path, case, **settings),
            cwd=ROOT,
            env=os.environ | shared | {"RANK": rank, "LOCAL_RANK": rank},
        )
        for rank in ("0", "1")
    ]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    assert losses(path) == pytest.approx(losses(alone), rel=1e-4)


def test_a_folder_that_is_taken_is_not_written_over(uninterrupted: Path, case: str) -> None:
    with pytest.raises(RunFolderError, match="--resume"):
        run(uninterrupted, case)


def test_a_run_cannot_go_on_with_another_width(uninterrupted: Path, case: str) -> None:
    with pytest.raises(ConfigError, match="dim cannot change"):
        run(uninterrupted, case, resume=True, dim=8)


def test_links_are_learned_too(tmp_path: Path) -> None:
    learning = {"steps": 150, "validate_every": 50, "batch_size": 32, "log_every": 10, "dim": 16, "hidden_dim": 32}
    run(tmp_path / "run", "nodepiece-qe with anchors", **learning, anchors=24, loss="softmax")
    found = losses(tmp_path / "run")
    assert found[-1] < 0.5 * found[0]
    events = [event for event in RunFolder.open(tmp_path / "run").metrics() if event["event"] == "validation"]
    assert [list(event["types"]) for event in events] == [["1p"]] * 3


def test_a_type_that_cannot_be_validated_is_said_before_the_first_step(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no validation queries of type 3p"):
        run(tmp_path / "run", validation_types=("1p", "3p"))


def _wait_for(happened: Any, process: subprocess.Popen[bytes], seconds: float = 100) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert process.poll() is None, "the process ended by itself"
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)
