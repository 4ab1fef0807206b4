"""The experiments are run from a checkout, and no part of the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    told = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"} | environment
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=told, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_wheel_carries_the_package_alone() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"] == {"packages": ["src/unseen"]}
    assert not list((ROOT / "src" / "unseen").rglob("paper_*"))


def test_the_experiments_are_run_as_a_module_of_the_checkout() -> None:
    result = run("-m", "experiments", "--help", PYTHONPATH=str(ROOT / "src"))
    assert (result.returncode, "Usage: python -m experiments" in result.stdout) == (0, True), result.stderr


def test_without_the_package_they_say_what_to_do() -> None:
    result = run("-S", "-m", "experiments", "--help", PYTHONPATH="")
    assert result.returncode == 1
    assert result.stderr.startswith("error: unseen is not installed; run `make setup`")


@pytest.mark.parametrize("stage", ["generate"])
def test_stages_of_the_large_graph_run_as_a_module(stage: str, tmp_path: Path) -> None:
    words = ("-m", "experiments.large_graph", stage, "-o", str(tmp_path), "--scale", "0.001")
    result = run(*words, PYTHONPATH=str(ROOT / "src"))
    assert (result.returncode, '"stage": "generate"' in result.stdout) == (0, True), result.stderr
