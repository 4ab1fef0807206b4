"""`unseen doctor`: what it shows, and the exit code that says a kernel is wrong."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from unseen.cli.doctor import doctor
from unseen.nn import self_check
from unseen.nn.self_check import Comparison, Report, Speed


def run(monkeypatch: pytest.MonkeyPatch, *options: str, passed: bool):
    comparison = Comparison("cpu", "rotate", "float32", False, 0.5, 0.25, passed)
    speed = Speed("cpu", "cpu", 1234, 256, 1.5, 2.5)
    report = Report({"python": "3.11", "gpu": None}, [comparison], [speed])
    monkeypatch.setattr(self_check, "self_check", lambda _progress: report)
    app = typer.Typer()
    app.command()(doctor)
    return CliRunner().invoke(app, list(options))


def test_a_machine_on_which_all_is_well(monkeypatch):
    result = run(monkeypatch, passed=True)
    assert result.exit_code == 0
    lines = [line.split() for line in result.output.splitlines()]
    assert ["gpu", "none"] in lines
    assert ["cpu", "rotate", "float32", "5.0e-01", "2.5e-01", "ok"] in lines
    assert ["cpu", "cpu", "1,234", "256", "1.50", "2.50"] in lines


def test_a_wrong_kernel_is_named_and_ends_with_exit_code_1(monkeypatch):
    result = run(monkeypatch, passed=False)
    assert result.exit_code == 1
    assert "WRONG" in result.output


def test_json_holds_everything(monkeypatch):
    found = json.loads(run(monkeypatch, "--json", passed=True).output)
    assert found["passed"] is True
    assert found["comparisons"][0]["gradient_error"] == 0.25
    assert found["speeds"][0]["forward_backward"] == 2.5


def test_the_real_check_tells_its_progress_and_passes():
    steps: list[tuple[int, int]] = []
    report = self_check.self_check(lambda done, total: steps.append((done, total)))
    assert report.passed
    assert steps[-1][0] == steps[-1][1]
    assert report.versions["torch"]
