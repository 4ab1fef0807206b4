"""Damage is noticed: the database says which file, what is whole and how to go on, and deletes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import FAMILY
from unseen.database import Database
from unseen.database.exact_sparql import update
from unseen.database.repair import repair
from unseen.errors import DatabaseDamaged, DatabaseError

LATE = [("Gus", "likes", "Go"), ("Hal", "likes", "Go"), ("Ida", "likes", "Go")]


def triples(database: Database) -> set[tuple[str, str, str]]:
    return set(database.graph.triples())


@pytest.fixture
def written(database: Database, path: Path) -> Path:
    """A closed database with a snapshot and three lines in its journal."""
    database.checkpoint()
    for triple in LATE:
        database.add([triple])
    database.close()
    return path


def journal_of(path: Path) -> Path:
    (journal,) = path.glob("journal-*")
    return journal


def test_a_flipped_bit_in_the_journal_is_refused_and_can_be_repaired(written: Path) -> None:
    journal = journal_of(written)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + lines[1].replace(b"Hal", b"Hbl") + lines[2])
    damaged = journal.read_bytes()
    told = rf"line 2 \(byte {len(lines[0])}\).*2 changes are whole, 1 are not.*Nothing was deleted.*unseen db repair"
    for _ in range(2):
        with pytest.raises(DatabaseDamaged, match=told):
            Database(written)
    assert journal.read_bytes() == damaged
    report = repair(written)
    assert (report.is_complete, report.damaged_lines, report.carried_out) == (True, 1, 0)
    assert (written / f"damaged-{journal.name}").read_bytes() == damaged
    with Database(written) as again:
        assert triples(again) == {*FAMILY, *LATE}


def test_a_last_line_that_was_never_finished_is_dropped(written: Path) -> None:
    journal = journal_of(written)
    whole = journal.read_bytes()
    for torn in (b"0123", b'00000000 [9,[],[["<urn:a', b"\0" * 40):
        journal.write_bytes(whole + torn)
        with Database(written) as again:
            assert triples(again) == {*FAMILY, *LATE}
        assert journal_of(written).read_bytes() == whole
    journal.write_bytes(whole[:-1])
    with Database(written) as again:
        assert triples(again) == {*FAMILY, *LATE}


def test_a_journal_that_lost_lines_is_made_good_from_the_triples(
    written: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = journal_of(written)
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    with Database(written) as again:
        assert triples(again) == {*FAMILY, *LATE}
    assert "the journal lacks changes that the triples hold" in caplog.text


def test_a_damaged_snapshot_is_kept_and_made_anew(written: Path, caplog: pytest.LogCaptureFixture) -> None:
    (file,) = written.glob("snapshot-*/tails.npy")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with Database(written) as again:
        assert triples(again) == {*FAMILY, *LATE}
    assert "tails.npy: is damaged: its checksum does not fit; the snapshot is rebuilt" in caplog.text
    (kept,) = written.glob("damaged-snapshot-*/tails.npy")
    assert kept.read_bytes() == bytes(data)


@pytest.mark.parametrize("damage", ["emptied", "older", "foreign"])
def test_triples_that_lost_something_are_refused_and_nothing_is_swept(
    database: Database, path: Path, tmp_path: Path, damage: str
) -> None:
    database.backup(tmp_path / "older.db")
    database.add([LATE[0]])
    database.checkpoint()
    database.add([LATE[1]])
    database.close()
    shutil.rmtree(path / "triples")
    if damage == "emptied":
        (path / "triples").mkdir()
    elif damage == "older":
        shutil.copytree(tmp_path / "older.db" / "triples", path / "triples")
    else:
        Database.create(tmp_path / "foreign.db").close()
        shutil.copytree(tmp_path / "foreign.db" / "triples", path / "triples")
    before = {file: file.read_bytes() for file in path.glob("*/*") if file.parent.name != "triples"}
    for _ in range(2):
        with pytest.raises(DatabaseDamaged, match="triples"):
            Database(path)
    assert {file: file.read_bytes() for file in path.glob("*/*") if file.parent.name != "triples"} == before
    assert len(list(path.glob("journal-*"))) == 1


def test_an_update_of_named_graphs_that_the_triples_lost_is_noticed(database: Database, path: Path) -> None:
    database.checkpoint()
    database.triples.backup(path.parent / "before")
    update(database, "INSERT DATA { GRAPH <urn:g> { :a :b :c } }")
    database.close()
    shutil.rmtree(path / "triples")
    shutil.copytree(path.parent / "before", path / "triples")
    with pytest.raises(DatabaseDamaged, match="changes that were made to last it holds those up to"):
        Database(path)
    assert not repair(path).is_complete


@pytest.mark.parametrize("name", ["current.json", "database.json", "journal"])
def test_a_missing_or_damaged_file_is_named_and_can_be_repaired(written: Path, name: str) -> None:
    file = journal_of(written) if name == "journal" else written / name
    if name == "database.json":
        file.write_text(file.read_text().replace('"literals": false', '"literals": true'))
    else:
        file.unlink()
    with pytest.raises(DatabaseError, match=rf"{file.name}: is (missing|damaged).*unseen db repair"):
        Database(written)
    repair(written)
    with Database(written) as again:
        assert triples(again) == {*FAMILY, *LATE}
        assert again.settings.literals is False
        assert again.add([("Jo", "likes", "Go")]) == 1


def test_a_database_of_the_first_format_opens(written: Path) -> None:
    rewrite_as_format_1(written)
    with Database(written) as again:
        assert triples(again) == {*FAMILY, *LATE}
        assert again.add([("Jo", "likes", "Go")]) == 1
    with Database(written) as once_more:
        assert triples(once_more) == {*FAMILY, *LATE, ("Jo", "likes", "Go")}
    assert json.loads((written / "database.json").read_text())["format"] == 2


def rewrite_as_format_1(path: Path) -> None:
    """The same folder without numbers and checksums."""
    import zlib

    import pyoxigraph

    (path / "database.json").write_text('{"format": 1, "literals": false}\n')
    number = json.loads((path / "current.json").read_text())["snapshot"]
    (path / "current.json").write_text(json.dumps({"snapshot": number}))
    (path / "counts.json").unlink(missing_ok=True)
    described = path / f"snapshot-{number:06}" / "snapshot.json"
    kept = {
        name: value for name, value in json.loads(described.read_text()).items() if name not in ("files", "checksum")
    }
    described.write_text(json.dumps(kept))
    journal = journal_of(path)
    bodies = [json.loads(line.partition(b" ")[2])[1:3] for line in journal.read_bytes().splitlines()]
    texts = [json.dumps(body, separators=(",", ":")).encode() for body in bodies]
    journal.write_bytes(b"".join(b"%08x %s\n" % (zlib.crc32(text), text) for text in texts))
    store = pyoxigraph.Store(str(path / "triples"))
    store.remove_graph(pyoxigraph.NamedNode("urn:unseen-store:state"))
    store.flush()
