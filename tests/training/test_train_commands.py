"""`unseen train`: a flag for every setting, a file beside them, and a run at the end."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from tests.training.small_world import TINY, small_dataset
from unseen.api import uncalibrated
from unseen.cli.train_commands import app
from unseen.errors import ConfigError
from unseen.methods.nodepiece_qe.nodepiece_qe_settings import NodePieceQeConfig
from unseen.methods.registry import TRAINED
from unseen.models.run_folder import RunFolder
from unseen.training.loop import Outcome, Trainer

if TYPE_CHECKING:
    from pathlib import Path

TOP = typer.Typer()
TOP.add_typer(app, name="train")


def run(*words: object) -> str:
    result = CliRunner().invoke(TOP, [str(word) for word in words], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("datasets") / "small"
    small_dataset().save(path)
    return path


@pytest.mark.parametrize(("method", "default"), [("gnn-qe", "0.005"), ("nodepiece-qe", "0.0001")])
def test_every_setting_has_a_flag_with_its_default(method: str, default: str) -> None:
    shown = run("train", method, "--help")
    for each in fields(TRAINED[method].settings):
        assert f"--{each.name.replace('_', '-')}" in shown
    assert default in shown


def test_help_does_not_wait_for_torch() -> None:
    code = "import sys, unseen.cli.train_commands; sys.exit('torch' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_flags_come_before_the_file_and_both_are_kept(dataset: Path, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    lines = [f"{key} = {list(value) if isinstance(value, tuple) else value!r}" for key, value in TINY.items()]
    file.write_text("\n".join(lines).replace("'", '"') + "\n")
    shown = run("train", "gnn-qe", dataset, "-o", tmp_path / "run", "--config", file, "--steps", 2, "--types", "1p,2i")
    assert "finished at step 2" in shown
    config = RunFolder.open(tmp_path / "run").config
    assert (config.steps, config.types, config.batch_size) == (2, ("1p", "2i"), TINY["batch_size"])


def test_nodepiece_qe_is_trained_and_its_run_explains_itself(dataset: Path, tmp_path: Path) -> None:
    words = ["train", "nodepiece-qe", dataset, "-o", tmp_path / "run", "--gnn", "--recipe", "large-batch", "--dim", 4]
    shown = run(*words, "--steps", 2, "--layers", 1, "--device", "cpu", "--calibration-queries", 0)
    assert "finished at step 2" in shown
    config = RunFolder.open(tmp_path / "run").config
    assert isinstance(config, NodePieceQeConfig)
    assert (config.gnn, config.recipe, config.negatives, config.dim) == (True, "large-batch", 0, 4)


def test_anchors_and_two_sets_of_relations_do_not_go_together(dataset: Path, tmp_path: Path) -> None:
    words = ["train", "nodepiece-qe", dataset, "-o", tmp_path / "run", "--anchors", 3]
    with pytest.raises(ConfigError, match="anchors need --encoder concat"):
        run(*words, "--encoder", "random-projection", "--steps", 1, "--device", "cpu")


def test_a_slice_of_a_run_goes_on_with_the_same_words(dataset: Path, tmp_path: Path) -> None:
    words = ["train", "gnn-qe", dataset, "-o", tmp_path / "run", "--resume", "--minutes", 0, "--steps", 2, "--dim", 4]
    words += ["--types", "1p", "--batch-size", 2, "--layers", 1, "--device", "cpu", "--validation-queries", 2]
    words += ["--calibration-queries", 2]
    stopped = run(*words)
    assert "go on with --resume" in stopped
    assert "not calibrated" not in stopped
    assert (tmp_path / "run" / "calibration.json").exists()
    assert "finished at step 2" in run(*words)


def test_an_interrupted_run_says_that_it_is_not_calibrated(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    words = ["train", "gnn-qe", dataset, "-o", folder, "--resume", "--minutes", 0, "--steps", 2, "--dim", 4]
    words += ["--types", "1p", "--batch-size", 2, "--layers", 1, "--device", "cpu", "--validation-queries", 2]
    words += ["--calibration-queries", 2]
    run(*words)
    monkeypatch.setattr(Trainer, "run", lambda trainer, _minutes: Outcome(trainer.progress, "interrupted"))
    assert "not calibrated: its answers have scores" in run(*words)
    assert not (folder / "calibration.json").exists()
    assert "is not calibrated" in uncalibrated(str(folder))[0]
    assert uncalibrated("edge-type") == ()


def test_an_unknown_setting_in_a_file_ends_before_anything_is_written(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("width = 3\n")
    with pytest.raises(ConfigError, match="there is no setting 'width'"):
        run("train", "gnn-qe", dataset, "-o", tmp_path / "run", "--config", tmp_path / "wrong.toml")
    assert not (tmp_path / "run").exists()
