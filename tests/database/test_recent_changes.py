"""A copy of the triples and the changes since are the triples as they are now, or are known not to be."""

from __future__ import annotations

import random
import resource
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyoxigraph
import pytest

from unseen.database import Database
from unseen.database.engine import operations
from unseen.database.engine.engine_reader import Behind, Reader
from unseen.database.engine.own_copy import apply, opened_copy
from unseen.database.exact_sparql import update
from unseen.database.journal import Change
from unseen.database.recent_changes import MOST_BYTES, RecentChanges
from unseen.server.checkpoints import Checkpoint

UPDATES = (
    "INSERT DATA {{ :e{a} :r :e{b} }}",
    "DELETE DATA {{ :e{a} :r :e{b} }}",
    'INSERT DATA {{ :e{a} :says "tea {b}"@en-GB, "0{b}"^^<http://www.w3.org/2001/XMLSchema#integer>, {a}.50 }}',
    "DELETE {{ ?s :r ?o }} INSERT {{ ?o :back ?s }} WHERE {{ ?s :r ?o . FILTER(?s = :e{a}) }}",
    "DELETE WHERE {{ :e{a} ?p ?o }}",
    "INSERT {{ _:new :met ?s }} WHERE {{ ?s :r :e{b} }}",
    "DELETE WHERE {{ ?s :met :e{a} }} ; INSERT DATA {{ :e{a} :met :e{b} }}",
    "INSERT DATA {{ :e{a} :nothing :new }} ; DELETE DATA {{ :e{a} :nothing :new }}",
    "DELETE DATA {{ :never :was :there }}",
)


def statements(store: object) -> set[str]:
    return {str(quad) for quad in store.quads_for_pattern(None, None, None, None) if "unseen-store" not in str(quad)}  # type: ignore[attr-defined]


@pytest.fixture
def memory_as_before() -> Iterator[None]:
    """A reader limits the memory of its process, here that of the tests."""
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    yield
    resource.setrlimit(resource.RLIMIT_DATA, limits)


def checkpoint_of(database: Database, path: Path) -> Checkpoint:
    place = database.recent.place
    database.triples.backup(path)
    return Checkpoint(path, {}, place)


@pytest.mark.parametrize("seed", range(2))
def test_a_copy_with_the_changes_since_equals_the_triples(database: Database, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    made, copies = 0, []
    for turn in range(60):
        if turn % 20 == 0:
            checkpoint = checkpoint_of(database, tmp_path / f"base{turn}")
            copies = [
                [opened_copy(str(checkpoint.path), str(tmp_path / f"{turn}-{n}")), checkpoint.place] for n in (1, 7)
            ]
        names = {"a": chance.randrange(5), "b": chance.randrange(5)}
        if chance.random() < 0.3:
            action = database.add if chance.random() < 0.6 else database.remove
            action([(f"e{names['a']}", "r", f"e{names['b']}")])
        else:
            update(database, chance.choice(UPDATES).format(**names))
        if not checkpoint.follow(database.recent):
            checkpoint = checkpoint_of(database, tmp_path / f"again{turn}")
            copies = [
                [opened_copy(str(checkpoint.path), str(tmp_path / f"a{turn}-{n}")), checkpoint.place] for n in (1, 7)
            ]
            made += 1
        for every, copy in zip((1, 7), copies, strict=True):
            if turn % every == 0:
                apply(copy[0], *checkpoint.lines_after(copy[1]))
                copy[1] = checkpoint.reached
                assert statements(copy[0]) == statements(database.triples.store)
    assert made < 20  # blank nodes are not traced; the rest is


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { GRAPH :g { :a :b :c } :a :b :c }",
        "CLEAR DEFAULT",
        "DROP ALL",
        "COPY DEFAULT TO :g",
        "INSERT DATA { << :a :b :c >> :d :e }",
    ],
)
def test_what_statements_cannot_tell_is_a_cut(database: Database, text: str) -> None:
    place = database.recent.place
    update(database, text)
    assert database.recent.after(place) is None


def test_a_load_and_a_change_that_fails_are_cuts(database: Database, tmp_path: Path) -> None:
    place = database.recent.place
    (tmp_path / "more.tsv").write_text("Gus\tlikes\tGo\n")
    database.load([tmp_path / "more.tsv"])
    assert database.recent.after(place) is None

    place = database.recent.place
    real = database._ledger.triples.apply

    def fails(*_: object) -> None:
        real(*_)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    database._ledger.triples.apply = fails  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        database.add([("Hal", "likes", "Go")])
    database._ledger.triples.apply = real  # type: ignore[method-assign]
    assert database.recent.after(place) is None


def test_only_so_many_changes_are_kept() -> None:
    recent = RecentChanges()
    small, large = Change(added=(("a", "b", "c"),)), Change(added=(("a", "b", "x" * MOST_BYTES),))
    recent.note(small)
    recent.note(Change())
    recent.note(small)
    assert (recent.after(0), recent.after(1), recent.after(2)) == ([small, small], [small], [])
    recent.note(large)
    assert (recent.after(2), recent.after(recent.place)) == (None, [])
    for _ in range(MOST_BYTES // 16):
        recent.note(small)
    assert recent.after(3) is None
    assert (recent.noted, len(recent.after(recent.place) or [])) == (4 + MOST_BYTES // 16, 0)


@pytest.mark.usefixtures("memory_as_before")
def test_a_reader_that_could_not_apply_a_change_answers_nothing(database: Database, tmp_path: Path) -> None:
    base, more = tmp_path / "base", tmp_path / "more"
    database.triples.backup(base)
    database.triples.backup(more)
    (tmp_path / "copy").write_text("a file where the copy should be")
    reader = Reader(256, str(tmp_path / "copy"))
    header = {"solutions": ["text/csv", "CSV"], "triples": [None, None], "default": [], "named": []}
    header |= {"spool": str(tmp_path / "result"), "most": 1000}
    reader.open({"path": str(base), "prefixes": {}}, b"")
    assert reader.query(header, b"ASK {}")[1] == b"true"
    reader.apply({"gone": 0}, b"<urn:a> <urn:b> <urn:c> .\n")
    for _ in range(2):
        with pytest.raises(Behind):
            reader.query(header, b"ASK {}")
        reader.apply({"gone": 0}, b"<urn:a> <urn:b> <urn:d> .\n")
    (tmp_path / "copy").unlink()
    reader.open({"path": str(more)}, b"")
    reader.apply({"gone": 0}, b"<urn:a> <urn:b> <urn:c> .\n")
    assert reader.query(header, b"ASK { <urn:a> <urn:b> <urn:c> }")[1] == b"true"
    assert reader.query(header, b"ASK { <urn:a> <urn:b> <urn:d> }")[1] == b"false"


class Growing:
    """A store whose log is said to be longer than it is yet, some times."""

    def __init__(self, store: object, failures: int, message: str) -> None:
        self.store, self.left, self.message = store, failures, message

    def backup(self, path: str) -> None:
        if self.left:
            self.left -= 1
            raise RuntimeError(self.message)
        self.store.backup(path)  # type: ignore[attr-defined]


def test_a_copy_that_is_made_while_the_log_grows_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "PAUSES_OF_BACKUP", (0.0, 0.0))
    shorter = "Corruption: File smaller than expected for copy: /x/000004.log expecting 356 more bytes after 14695"
    store = pyoxigraph.Store(str(tmp_path / "store"))
    store.update("INSERT DATA { <urn:a> <urn:b> <urn:c> }")

    def copied(failures: int, message: str) -> None:
        operations.Operations.backup(SimpleNamespace(store=Growing(store, failures, message)), str(tmp_path / "copy"))  # type: ignore[arg-type]

    copied(2, shorter)
    assert len(pyoxigraph.Store.read_only(str(tmp_path / "copy"))) == 1
    with pytest.raises(RuntimeError, match="smaller"):
        copied(3, shorter)
    with pytest.raises(RuntimeError, match="checksum"):
        copied(1, "Corruption: block checksum mismatch")
