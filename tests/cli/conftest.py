"""The command and a small graph file for the tests of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.command import Command, command_in
from tests.conftest import FAMILY

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command_in(monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is also the current one, so that paths in messages are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def family_file(folder: Path) -> str:
    """The name of a small TSV file in the current folder."""
    (folder / "family.tsv").write_text("".join("\t".join(triple) + "\n" for triple in FAMILY), encoding="utf-8")
    return "family.tsv"
