"""One flipped bit anywhere in a database: it is refused, made anew or does no harm; never a wrong answer.

`UNSEEN_BIT_FLIPS` sets how many bits of every file are flipped, one at a time. `UNSEEN_BIT_FLIP_FILES` chooses files by
a pattern of their path, such as `triples/[A-Z]*`.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from fnmatch import fnmatch
from io import BytesIO
from pathlib import Path

import pytest

from unseen.database import Database
from unseen.database.exact_sparql import query, update
from unseen.database.triples import Triples
from unseen.errors import DatabaseError

FLIPS = int(os.environ.get("UNSEEN_BIT_FLIPS", "1"))
FILES = os.environ.get("UNSEEN_BIT_FLIP_FILES", "*")
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
NOTES = ("lock", "counts.json")
"""Files that nothing depends on."""
QUERIES = [
    "SELECT ?s ?p ?o { ?s ?p ?o }",
    "SELECT ?s ?o { ?s :next ?o }",
    "SELECT ?s { ?s ?p :e7 }",
    "SELECT ?p ?o { :e9 ?p ?o }",
    "SELECT ?g ?s ?o { GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?s { GRAPH <urn:g> { ?s ?p :z } }",
    "SELECT ?p { :e3 ?p :e4 }",
    "ASK { :e50 :next :e51 }",
]


@pytest.fixture
def original(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with a snapshot, files of the triples, a log and a journal that both have something to say."""
    path = quick_path / "original.db"
    database = Database.create(path)
    database.add([(f"e{n}", "next", f"e{n + 1}") for n in range(120)])
    update(database, f"INSERT DATA {{ GRAPH <urn:g> {{ :x :y :z }} :e1 <{LABEL}> 'one' }}")
    database.checkpoint()
    for number in range(8):
        database.add([(f"late{number}", "next", "e7")])
        update(database, f"DELETE DATA {{ :late{number - 1} :next :e7 }} ; INSERT DATA {{ :e9 :likes :l{number} }}")
    update(database, "INSERT DATA { GRAPH <urn:h> { :x :y :late } }")
    database.add([("last", "next", "e7")])
    with monkeypatch.context() as patched:
        patched.setattr(Triples, "flush", lambda _: None)  # as if the process had been killed
        database.close()
    return path


def answers(database: Database) -> list[list[str]]:
    """What every way to read says; a failure must be a `DatabaseError`."""
    said = []
    for text in QUERIES:
        output = BytesIO()
        query(database, text).write("text/csv" if text.startswith("SELECT") else "application/json", output)
        said.append(sorted(output.getvalue().decode().splitlines()))
    said.append(sorted(map(str, database.graph.triples())))
    return said


def flipped(original: Path, target: Path, name: str, bit: int) -> Path:
    shutil.copytree(original, target)
    data = bytearray((target / name).read_bytes())
    data[bit // 8] ^= 1 << (bit % 8)
    (target / name).write_bytes(data)
    return target


def outcome(path: Path, expected: list[list[str]]) -> str:
    """What becomes of a database with a flipped bit; the answers must be right if there are any."""
    before = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file() and file.name not in NOTES}
    try:
        database = Database(path)
    except DatabaseError:
        after = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file() and file.name not in NOTES}
        assert after == before, "something was deleted or changed"
        return "refused"
    with database:
        try:
            found = answers(database)
        except DatabaseError:
            return "refused when it is met"
        assert found == expected
        try:
            assert database.add([("after", "next", "e7")]) == 1
        except DatabaseError:
            return "refused when it is met"
    return "made anew" if any(path.glob("damaged-*")) else "harmless"


def test_a_damaged_block_with_names_of_graphs_is_a_database_error(original: Path) -> None:
    with Database(original) as database, pytest.MonkeyPatch.context() as patched:
        patched.setattr("unseen.database.exact_sparql.user_graphs", _damaged)
        with pytest.raises(DatabaseError, match="damaged"):
            query(database, "SELECT ?g { GRAPH ?g { ?s ?p ?o } }")


def _damaged(_store: object) -> None:
    raise RuntimeError("Corruption: block checksum mismatch")


def test_a_flipped_bit_is_never_a_wrong_answer(original: Path, quick_path: Path) -> None:
    expected_path = quick_path / "expected.db"
    shutil.copytree(original, expected_path)
    with Database(expected_path) as database:
        expected = answers(database)
    chance, counts = random.Random(5), Counter[tuple[str, str]]()
    files = sorted(file for file in original.rglob("*") if file.is_file() and file.stat().st_size)
    files = [file for file in files if fnmatch(str(file.relative_to(original)), FILES)]
    assert files
    for file in files:
        name = str(file.relative_to(original))
        for bit in chance.sample(range(8 * file.stat().st_size), min(FLIPS, 8 * file.stat().st_size)):
            target = flipped(original, quick_path / "flipped.db", name, bit)
            try:
                counts[file.name.partition("-0")[0], outcome(target, expected)] += 1
            except BaseException as error:
                error.add_note(f"bit {bit} of {name}")
                raise
            shutil.rmtree(target)
    print(dict(counts))  # noqa: T201 - the figures of a full run
    assert sum(counts.values()) >= len(files)
    for kind in ("heads.npy", "entities.arrow", "snapshot.json"):
        assert counts[kind, "made anew"] == sum(n for (name, _), n in counts.items() if name == kind)
    for kind in ("journal", "current.json", "database.json"):
        assert counts[kind, "refused"] == sum(n for (name, _), n in counts.items() if name == kind)
