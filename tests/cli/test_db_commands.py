"""`unseen db` and `unseen serve` from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.conftest import FAMILY
from tests.database.endpoint import SmallEndpoint, running
from unseen.database import Database


@pytest.fixture
def made(command: Command, family_file: str) -> str:
    result = command("db", "create", "family.db", family_file)
    assert (result.code, result.output) == (0, "")
    assert result.errors == "made family.db: 7 entities, 2 relations, 8 triples\n"
    return "family.db"


def test_facts_come_and_go(command: Command, made: str) -> None:
    added = command("db", "add", made, "Gus", "likes", "Go", *FAMILY[0])
    assert added.errors.startswith("added 1 of 2 triples")
    removed = command("db", "remove", made, "Gus", "likes", "Go")
    assert removed.errors.startswith("removed 1 of 1 triples")
    answers = command("ask", made, "?x : likes(x, Go)", "--method", "exact", "--json").output
    assert json.loads(answers)["known"] == 2


def test_facts_come_from_files(command: Command, folder: Path, made: str) -> None:
    (folder / "new.tsv").write_text("Gus\tlikes\tGo\n\nGus\tadmires\tAda\n")
    assert command("db", "add", made, "--file", "new.tsv").errors.startswith("added 2 of 2 triples")
    (folder / "bad.tsv").write_text("Gus\tlikes\n")
    assert command("db", "add", made, "--file", "bad.tsv").errors.startswith("error: bad.tsv: line 1: 2 fields")
    assert command("db", "load", made, "new.tsv").errors == "family.db: 8 entities, 3 relations, 10 triples\n"


def test_dump_backup_and_info(command: Command, folder: Path, made: str) -> None:
    assert command("db", "dump", made, "out.nt").code == 0
    assert len((folder / "out.nt").read_text().splitlines()) == 8
    assert command("db", "backup", made, "copy.db").code == 0
    described = json.loads(command("db", "info", "copy.db", "--json").output)
    assert (described["triples"], described["statements"], described["format"]) == (8, 8, 2)
    assert "triples" in command("db", "info", made).output
    assert command("info", made, "--json").code == 0


def test_a_failed_creation_leaves_nothing_behind(command: Command, folder: Path) -> None:
    (folder / "bad.tsv").write_text("a\tr\tb\nonly two\tparts\n")
    assert command("db", "create", "x.db", "bad.tsv").code == 2
    assert not (folder / "x.db").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["db", "info", "nothing.db"], "nothing.db: is not a database"),
        (["db", "create", "family.db"], "family.db: is a database already"),
        (["db", "dump", "family.db", "out.xyz"], "unknown kind of file"),
        (["serve", "family.db", "--host", "0.0.0.0"], "needs keys"),
        (["serve", "family.db", "--api-key-file", "nokeys"], "the key file cannot be read"),
        (["serve", "nothing.tsv"], "nothing.tsv: there is no such file"),
        (["serve", "family.db", "--model", "nothing"], "there is no method 'nothing'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(command: Command, made: str, words: list[str], problem: str) -> None:
    result = command(*words)
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith("error: ")
    assert problem in result.errors


def test_a_database_in_use_is_said(command: Command, folder: Path, made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.database.folder.PATIENCE", 0.0)
    with Database(folder / made):
        assert "is in use by process" in command("db", "info", made).errors


def test_two_words_are_no_triple(command: Command, made: str) -> None:
    result = command("db", "add", made, "Gus", "likes")
    assert result.code == 2
    assert "three words for each triple" in result.errors


def test_a_damaged_database_is_named_and_repaired(command: Command, folder: Path, made: str) -> None:
    assert command("db", "add", made, "Gus", "likes", "Go").code == 0
    (journal,) = (folder / made).glob("journal-*")
    journal.write_bytes(journal.read_bytes().replace(b"Gus", b"Gut"))
    assert "line 1 (byte 0) is not what was written" in command("db", "info", made).errors
    repaired = command("db", "repair", made)
    assert repaired.code == 0
    assert "nothing is lost" in repaired.errors
    assert f"damaged-{journal.name}" in repaired.errors
    assert command("db", "info", made).code == 0


def test_an_endpoint_is_imported(command: Command, folder: Path) -> None:
    small = SmallEndpoint()
    small.add("<http://e/a> <http://e/r> <http://e/b> .", "<http://e/b> <http://e/r> <http://e/c> .")
    assert command("db", "create", "new.db").code == 0
    with running(small):
        result = command("db", "load", "new.db", small.url)
        assert (result.code, result.errors) == (0, "new.db: 3 entities, 1 relations, 2 triples\n")
        assert "is imported alone" in command("db", "load", "new.db", small.url, "other.tsv").errors
        assert "make it empty, then import" in command("db", "create", "other.db", small.url).errors
    assert "are for the address of an endpoint" in command("db", "load", "new.db", "a.tsv", "--graph", "x").errors
    assert not (folder / "new.db.import").exists()
