"""What was refused never appears, not even after a restart; what was acknowledged always does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FAMILY
from unseen.database import Database
from unseen.database.exact_sparql import query, update
from unseen.database.journal import Change, Journal
from unseen.database.triples import Triples
from unseen.errors import DatabaseError, EngineLost, GraphError

NEW, OLD = ("Emil", "parent", "Fay"), ("Ada", "likes", "Go")
LATER = ("Gus", "likes", "Go")
OTHER = [ValueError("odd"), MemoryError(), RuntimeError("odd"), GraphError("no statement"), KeyboardInterrupt()]
STORAGE = [OSError("IO error: No space left on device"), EngineLost("wrote", "it was killed"), RuntimeError("IO error")]


def stored(database: Database) -> set[tuple[str, str, str]]:
    """What exact queries and models both see."""
    found = query(database, "SELECT ?s ?p ?o { ?s ?p ?o }").found
    names = {tuple(solution[i].value.removeprefix("urn:unseen:") for i in range(3)) for solution in found}
    assert names == set(database.graph.triples())
    return names


def failing_at(moment: str, error: BaseException) -> Callable[..., None]:
    """`Triples.apply` that fails before it, between its two transactions, or after it."""
    real = Triples.apply

    def apply(self: Triples, change: Change, number: int) -> None:
        if moment == "between":
            self._carry_out({"do": "remove"}, "".join(f"{' '.join(s)} .\n" for s in change.removed).encode())
        elif moment == "after":
            real(self, change, number)
        raise error

    return apply


def swapped(database: Database) -> None:
    """One change that removes and adds."""
    statements = [tuple(f"<urn:unseen:{name}>" for name in triple) for triple in (OLD, NEW)]
    database.change(Change(removed=(statements[0],), added=(statements[1],)))  # type: ignore[arg-type]


def killed_here(database: Database) -> Path:
    """The database as a process that dies now would leave it."""
    target = database.path.with_name("killed.db")
    shutil.copytree(database.path, target, ignore=shutil.ignore_patterns("triples"))
    database.triples.store.backup(str(target / "triples"))
    return target


@pytest.mark.parametrize("moment", ["before", "between", "after"])
@pytest.mark.parametrize("error", OTHER, ids=lambda error: type(error).__name__)
def test_a_change_that_failed_for_any_reason_is_nowhere(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, moment: str
) -> None:
    with monkeypatch.context() as patched:
        left = [1]
        broken, real = failing_at(moment, error), Triples.apply

        def once(self: Triples, *arguments: Any) -> None:
            left[0] -= 1
            (broken if left[0] == 0 else real)(self, *arguments)

        patched.setattr(Triples, "apply", once)
        with pytest.raises(type(error)):
            swapped(database)
    with Database(killed_here(database)) as restarted:
        assert stored(restarted) == set(FAMILY)
    assert stored(database) == set(FAMILY)
    assert database.health.is_writable
    assert database.add([LATER]) == 1
    database.close()
    with Database(path) as again:
        assert stored(again) == {*FAMILY, LATER}


@pytest.mark.parametrize("moment", ["before", "between", "after"])
@pytest.mark.parametrize("error", STORAGE, ids=lambda error: type(error).__name__)
def test_a_change_that_the_storage_refused_is_nowhere(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, moment: str
) -> None:
    def broken(_: Triples) -> None:
        raise OSError("IO error: No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Triples, "apply", failing_at(moment, error))
        patched.setattr(Triples, "reopen", broken)
        with pytest.raises(DatabaseError):
            swapped(database)
    with Database(killed_here(database)) as restarted:
        assert stored(restarted) == set(FAMILY)
    assert database.add([LATER]) == 1
    assert stored(database) == {*FAMILY, LATER}
    database.close()
    with Database(path) as again:
        assert stored(again) == {*FAMILY, LATER}


def test_a_change_that_the_storage_took_late_is_acknowledged_and_stays(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [1]
    real = Triples.apply

    def once(self: Triples, change: Change, number: int) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise EngineLost("wrote", "it was killed")
        real(self, change, number)

    monkeypatch.setattr(Triples, "apply", once)
    swapped(database)
    expected = {*FAMILY, NEW} - {OLD}
    with Database(killed_here(database)) as restarted:
        assert stored(restarted) == expected
    assert stored(database) == expected


def test_a_journal_that_could_not_be_cut_is_cut_before_the_next_line(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Journal) -> None:
        raise OSError("the disk does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(Triples, "apply", failing_at("after", ValueError("odd")))
        patched.setattr(Triples, "reopen", lambda _: None)
        patched.setattr(Journal, "_cut", broken)
        with pytest.raises(ValueError, match="odd"):
            database.add([("A very long name of something that is refused " * 20, "likes", "Go")])
    assert database.add([LATER]) == 1
    assert stored(database) == {*FAMILY, LATER}
    database.close()
    with Database(path) as again:
        assert stored(again) == {*FAMILY, LATER}


def test_an_update_that_was_interrupted_after_its_end_is_followed_by_the_graph(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Triples.update

    def interrupted(self: Triples, text: str, prefixes: dict[str, str]) -> None:
        real(self, text, prefixes)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Triples, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            update(database, "INSERT DATA { :Emil :parent :Fay }")
    assert database.add([LATER]) == 1
    assert stored(database) == {*FAMILY, NEW, LATER}


def test_a_load_whose_graph_could_not_be_made_says_so_and_the_next_write_makes_it(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = path.with_name("load.nt")
    file.write_text("_:b <urn:unseen:likes> <urn:unseen:Go> .\n")

    def lost(*_: Any, **__: Any) -> None:
        raise EngineLost("worked", "it took longer than 1 seconds", cause="time")

    with monkeypatch.context() as patched:
        patched.setattr(Triples, "dump", lost)
        with pytest.raises(DatabaseError, match="the load was carried out, but predicted answers follow it"):
            database.load([file])
    assert database.add([LATER]) == 1
    assert database.graph.num_triples == len(FAMILY) + 2
    database.close()
    with Database(path) as again:
        assert again.graph.num_triples == len(FAMILY) + 2
