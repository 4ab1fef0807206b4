"""A failed write stops nothing: the next one works as soon as it can, and until then the database says why not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FAMILY
from unseen.database import Database, ledger
from unseen.database.exact_sparql import query, update
from unseen.database.journal import Change, Journal
from unseen.database.triples import Triples
from unseen.errors import DiskFull, EngineLost

NEW = ("Emil", "parent", "Fay")
FULL = "IO error: No space left on device: While appending to file: triples/000008.log: No space left on device"


def triples(database: Database) -> set[tuple[str, str, str]]:
    return set(database.graph.triples())


def fail(error: Exception, times: int, method: Any) -> Any:
    """A method that fails some times before it works."""
    left = [times]

    def failing(self: Triples, *arguments: Any) -> Any:
        if left[0] > 0:
            left[0] -= 1
            raise error
        return method(self, *arguments)

    return failing


@pytest.mark.parametrize("error", [OSError(FULL), EngineLost("wrote", "it was killed"), RuntimeError("IO error: x")])
def test_a_change_in_the_journal_is_carried_out_after_the_triples_failed(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(Triples, "apply", fail(error, 1, Triples.apply))
    assert database.add([NEW]) == 1
    assert triples(database) == {*FAMILY, NEW}
    assert database.health.is_writable
    database.close()
    with Database(path) as again:
        assert triples(again) == {*FAMILY, NEW}


def test_an_engine_that_ends_before_an_update_has_changed_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Triples, "update", fail(EngineLost("wrote", "it was killed"), 1, Triples.update))
    with pytest.raises(EngineLost):
        update(database, "INSERT DATA { :Emil :parent :Fay }")
    assert triples(database) == set(FAMILY)
    update(database, "INSERT DATA { :Emil :parent :Fay }")
    assert triples(database) == {*FAMILY, NEW}


def test_an_engine_that_ends_after_an_update_has_carried_it_out(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Triples.update

    def done_and_lost(self: Triples, text: str, prefixes: dict[str, str]) -> None:
        real(self, text, prefixes)
        raise EngineLost("wrote", "it was killed")

    monkeypatch.setattr(Triples, "update", done_and_lost)
    update(database, "INSERT DATA { :Emil :parent :Fay . GRAPH <urn:g> { :a :b :c } }")
    monkeypatch.undo()
    assert triples(database) == {*FAMILY, NEW}
    assert len(list(query(database, "SELECT * { GRAPH <urn:g> { ?s ?p ?o } }").found)) == 1
    database.close()
    with Database(path) as again:
        assert triples(again) == {*FAMILY, NEW}


def test_a_full_disk_is_a_full_disk_in_the_triples_too(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for method in ("apply", "update"):
        with monkeypatch.context() as patched:
            patched.setattr(Triples, method, fail(OSError(FULL), 99, getattr(Triples, method)))
            with pytest.raises(DiskFull, match="the disk is full; nothing was changed"):
                database.add([NEW]) if method == "apply" else update(database, "INSERT DATA { :Emil :parent :Fay }")
        assert triples(database) == set(FAMILY)
    assert not database.health.is_writable
    assert "the disk is full" in database.health.reason
    assert database.heal().is_writable
    assert database.add([NEW]) == 1
    database.close()
    with Database(path) as again:
        assert triples(again) == {*FAMILY, NEW}


def test_a_change_that_was_reported_as_failed_is_not_there_later(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Triples.apply

    def done_and_failed(self: Triples, change: Change, number: int) -> None:
        real(self, change, number)
        raise OSError(FULL)

    with monkeypatch.context() as patched:
        patched.setattr(Triples, "apply", done_and_failed)
        patched.setattr(Triples, "reopen", fail(OSError(FULL), 99, Triples.reopen))
        with pytest.raises(DiskFull):
            database.add([NEW])
    assert database.add([("Gus", "likes", "Go")]) == 1
    assert triples(database) == {*FAMILY, ("Gus", "likes", "Go")}
    database.close()
    with Database(path) as again:
        assert triples(again) == {*FAMILY, ("Gus", "likes", "Go")}
        assert list(query(again, "SELECT ?x { :Emil :parent ?x }").found) == []


def test_no_write_begins_without_space_and_the_health_says_so(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.database.database.free_bytes", lambda _: 0)
    assert database.health.reason.endswith("the disk is full; nothing was changed. Make room and try again")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, if this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can mount a disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


MOST = 5000


def filled(database: Database) -> int:
    """Write until the disk is full; how many writes were done."""
    for number in range(MOST):
        words = " . ".join(f":e{number} :p '{'x' * 400}{value}'" for value in range(20))
        try:
            update(database, f"INSERT DATA {{ {words} . :e{number} :in :world }}")
        except DiskFull:
            return number
    return MOST


def test_writes_go_on_when_there_is_space_again(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "SPARE_BYTES", 0)
    monkeypatch.setattr("unseen.database.database.SPARE_BYTES", 0)
    for method in ("append", "reserve"):  # so that the triples are the first to meet the end of the disk
        monkeypatch.setattr(Journal, method, lambda *_: None)
    with Database.create(small_disk / "x.db") as database:
        done = filled(database)
        assert 0 < done < MOST
        assert not database.health.is_writable
        assert len(list(query(database, "SELECT ?e { ?e :in :world }").found)) == done
        monkeypatch.undo()
        subprocess.run(["mount", "-o", "remount,size=80m", str(small_disk)], check=True)
        assert database.add([NEW]) == 1
        assert database.health.is_writable
        assert database.graph.num_triples == done + 1
    with Database(small_disk / "x.db") as again:
        assert again.graph.num_triples == done + 1
