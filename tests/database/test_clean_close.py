"""After an orderly end a large database is not counted again; after anything else it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.database import Database, clean_close
from unseen.database.triples import Triples

TRIPLES = [("Ada", "knows", "Ben"), ("Ben", "knows", "Cleo")]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(clean_close, "LARGE", 1)
    with Database.create(tmp_path / "world.db") as database:
        database.add(TRIPLES)
        database.checkpoint()
    return tmp_path / "world.db"


def counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the triples are counted when the database is opened."""
    calls: list[int] = []
    count = Triples.count
    monkeypatch.setattr(Triples, "count", lambda self: (calls.append(1), count(self))[1])
    with Database(path) as database:
        assert list(database.graph.triples()) == TRIPLES
    return len(calls)


def test_an_orderly_end_is_noted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (path / clean_close.FILE).is_file()
    assert counted(path, monkeypatch) == 0
    assert counted(path, monkeypatch) == 0


def test_a_file_that_was_touched_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = next(file for file in (path / "triples").iterdir() if file.name.startswith("MANIFEST"))
    file.touch()
    assert counted(path, monkeypatch) > 0


def test_the_note_is_gone_while_a_database_is_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Database(path):
        assert not (path / clean_close.FILE).exists()
    (path / clean_close.FILE).unlink()
    assert counted(path, monkeypatch) > 0


def test_small_databases_are_always_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_close, "LARGE", 10)
    with Database(path):
        pass
    assert counted(path, monkeypatch) > 0


def test_sorted_edges_come_from_the_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.database.snapshots.SORTED_FROM", 1)
    with Database.create(tmp_path / "world.db") as database:
        database.add([*TRIPLES, ("Cleo", "likes", "Ada")])
        database.checkpoint()
    with Database(tmp_path / "world.db") as database:
        graph = database.graph
        assert "by_head" in vars(graph)
        again = graph.extended_with([])
        for view in ("by_head", "by_tail"):
            for mapped, made in zip(
                vars(getattr(graph, view)).values(), vars(getattr(again, view)).values(), strict=True
            ):
                assert mapped.tolist() == made.tolist()
        database.add([("Dora", "knows", "Ada")])
        assert database.graph.num_triples == 4
