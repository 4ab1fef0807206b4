"""Commands with workers write what they write without."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.conftest import FAMILY
from tests.evaluation.small_dataset import small_dataset

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.command import Command

pytestmark = pytest.mark.usefixtures("crew")
QUESTIONS = ["?x : likes(Ben, x)", "?x : likse(Ben, x)", "?x : parent(Ada, y) & likes(y, x)"]
TOLD = "180 questions answered (120 could not be: see the column `error`): spread.parquet\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "family.tsv").write_text("".join("\t".join(triple) + "\n" for triple in FAMILY), encoding="utf-8")
    return tmp_path


def test_answers_of_workers_are_the_same_table(command: Command, folder: Path) -> None:
    (folder / "q.txt").write_text("\n".join(QUESTIONS * 60), encoding="utf-8")
    words = ["answer", "q.txt", "-g", "family.tsv", "--method", "rules", "-o"]
    assert command(*words, "alone.parquet").code == 0
    result = command(*words, "spread.parquet", "--workers", "2")
    assert (result.code, result.errors) == (0, TOLD)
    assert (folder / "alone.parquet").read_bytes() == (folder / "spread.parquet").read_bytes()


def test_a_server_has_no_workers(command: Command, folder: Path) -> None:
    (folder / "q.txt").write_text(QUESTIONS[0], encoding="utf-8")
    result = command("answer", "q.txt", "-g", "http://127.0.0.1:9", "-o", "a.parquet", "--workers", "2")
    assert result.code == 2
    assert "a server answers by itself: leave out --workers" in result.errors


def test_numbers_of_workers_are_the_same(command: Command, folder: Path) -> None:
    small_dataset(queries=40).save(folder / "small")
    words = ["evaluate", "edge-type", "small", "--types", "all,links", "--full", "--batch-size", "3", "--json", "-"]
    alone, spread = (json.loads(command(*words, *more).output) for more in ((), ("--workers", "2")))
    for found in (alone, spread):
        assert found.pop("provenance")["version"]
    assert alone == spread


def test_questions_that_workers_draw_are_the_same(command: Command, folder: Path) -> None:
    small_dataset(queries=1).save(folder / "small")
    words = ["sample", "small", "--train", "20", "--test", "10", "--valid", "0", "--types", "1p,2p,2in", "-o"]
    assert command(*words, "alone").code == 0
    assert command(*words, "spread", "--workers", "2").code == 0
    files = sorted(path.relative_to(folder / "alone") for path in (folder / "alone").rglob("*") if path.is_file())
    assert len(files) > 3
    for name in files:
        assert (folder / "alone" / name).read_bytes() == (folder / "spread" / name).read_bytes(), name


def test_a_check_by_workers_finds_the_same(command: Command, folder: Path) -> None:
    words = ["check", "countries", "--method", "edge-type", "--facts", "2", "--json"]
    alone, spread = (json.loads(command(*words, *more).output) for more in ((), ("--workers", "2")))
    assert alone.pop("seconds") >= 0
    assert spread.pop("seconds") >= 0
    assert alone == spread
