"""Writes that last: what was added is there in every later answer, also in another process and after a crash."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unseen
from tests.conftest import FAMILY
from unseen.database import Database, folder, ledger
from unseen.database.dump import dump
from unseen.database.exact_sparql import query, update
from unseen.errors import DatabaseError, DatabaseInUse, DiskFull, GraphError, QueryRefused, QuerySyntaxError

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def triples(database: Database) -> set[tuple[str, str, str]]:
    return set(database.graph.triples())


def exact(database: Database, text: str) -> set[str]:
    return {str(solution[0].value) for solution in query(database, text).found}


def test_what_was_added_is_in_the_graph_in_sparql_and_after_opening_again(database: Database, path: Path) -> None:
    assert database.add([("Emil", "parent", "Fay"), ("Ada", "parent", "Ben")]) == 1
    assert exact(database, "SELECT ?x { :Emil :parent ?x }") == {"urn:unseen:Fay"}
    assert ("Emil", "parent", "Fay") in triples(database)
    database.close()
    with Database(path) as again:
        assert triples(again) == {*FAMILY, ("Emil", "parent", "Fay")}
        assert exact(again, "SELECT ?x { :Emil :parent ?x }") == {"urn:unseen:Fay"}


def test_what_was_removed_is_gone(database: Database, path: Path) -> None:
    assert database.remove([FAMILY[0], ("Ada", "parent", "Nobody")]) == 1
    assert triples(database) == set(FAMILY[1:])
    database.close()
    with Database(path) as again:
        assert triples(again) == set(FAMILY[1:])
        assert exact(again, "SELECT ?x { :Ada :parent ?x }") == {"urn:unseen:Cleo"}


def test_a_new_relation_and_a_new_entity_are_answered_at_once(database: Database) -> None:
    database.add([("Gus", "admires", "Ada"), ("Gus", "likes", "Go")])
    answers = unseen.ask(database.graph, "?x : admires(x, Ada) & likes(x, Go)")
    assert [(answer.entity, answer.known) for answer in answers][:1] == [("Gus", True)]
    assert "Gus" in [answer.entity for answer in unseen.ask(database.graph, "?x : likes(x, Chess)")]


@pytest.mark.parametrize(
    ("text", "gone", "new"),
    [
        ("INSERT DATA { :Ada :knows :Gus . GRAPH <urn:g> { :x :y :z } }", [], [("Ada", "knows", "Gus")]),
        ("DELETE DATA { :Ada :parent :Ben }", [FAMILY[0]], []),
        ("DELETE WHERE { :Ada :parent ?x . ?x :likes ?y }", [FAMILY[0], FAMILY[4]], []),
        (
            "DELETE { ?x :likes ?y } INSERT { ?y :pleases ?x } WHERE { ?x :likes ?y . FILTER(?y = :Go) }",
            FAMILY[6:],
            [("Go", "pleases", "Emil"), ("Go", "pleases", "Ada")],
        ),
        ("INSERT { ?x :older ?y } WHERE { ?x :parent ?y . ?y :parent :Dora }", [], [("Ada", "older", "Ben")]),
        ("DELETE DATA { :Ada :parent :Ben } ; INSERT DATA { :Ada :parent :Ben }", [], []),
        ("INSERT DATA { :Ada :parent :Gus } ; DELETE WHERE { ?x :parent :Gus }", [], []),
        ("CLEAR DEFAULT ; INSERT DATA { :a :b :c }", FAMILY, [("a", "b", "c")]),
        ("INSERT DATA { GRAPH <urn:g> { :a :b :c } } ; COPY <urn:g> TO DEFAULT", FAMILY, [("a", "b", "c")]),
        ("DELETE { ?s :likes ?o } WHERE { ?s :likes ?o } # a comment", [t for t in FAMILY if t[1] == "likes"], []),
        ("INSERT DATA { :Ada :age 7 . :Ada :knows :Gus }", [], [("Ada", "knows", "Gus")]),
        ("INSERT DATA { :a :b 7. }", [], []),
        ("WITH <urn:g> INSERT { :a :b :c } WHERE {}", [], []),
        ("INSERT { GRAPH ?g { :a :b :c } } WHERE { VALUES ?g { <urn:g> } }", [], []),
        ("", [], []),
    ],
)
def test_the_graph_follows_sparql_updates(
    database: Database, path: Path, text: str, gone: list[tuple[str, str, str]], new: list[tuple[str, str, str]]
) -> None:
    update(database, text)
    expected = (set(FAMILY) - set(gone)) | set(new)
    assert triples(database) == expected
    graphs = {str(solution["g"]) for solution in query(database, "SELECT ?g { GRAPH ?g { ?s ?p ?o } }").found}
    assert graphs <= {"<urn:g>"}
    database.close()
    with Database(path) as again:
        assert triples(again) == expected


def test_blank_nodes_of_updates_are_the_same_in_both_worlds(database: Database) -> None:
    update(database, "INSERT DATA { :Ada :owns _:b . _:b :kind :Boat }")
    update(database, "INSERT DATA { :Ben :owns [ :kind :Boat ] }")
    owners = {answer.entity for answer in unseen.ask(database.graph, "?x : exists b . owns(x, b) & kind(b, Boat)")}
    assert {"Ada", "Ben"} <= owners


def test_labels_are_names_and_follow_updates(database: Database, path: Path) -> None:
    update(database, f'INSERT DATA {{ :Ada <{LABEL}> "Ada  Lovelace"@en , "Ada die Erste"@de }}')
    assert database.graph.vocabulary.entity_name(database.graph.vocabulary.entity_id("Ada")) == "Ada Lovelace"
    assert database.add([("Ada Lovelace", "likes", "Chess")]) == 1
    assert exact(database, "SELECT ?x { ?x :likes :Chess FILTER(?x = :Ada) }") == {"urn:unseen:Ada"}
    update(database, f'DELETE DATA {{ :Ada <{LABEL}> "Ada  Lovelace"@en }}')
    database.close()
    with Database(path) as again:
        assert again.graph.vocabulary.entity_name(again.graph.vocabulary.entity_id("Ada")) == "Ada die Erste"


@pytest.mark.parametrize("literals", [False, True])
def test_literals_are_entities_only_where_asked_for(path: Path, tmp_path: Path, literals: bool) -> None:
    (tmp_path / "a.ttl").write_text("@prefix e: <http://e.org/> . e:a e:age 7 ; e:knows e:b .")
    with Database.create(path, literals=literals) as database:
        database.load([tmp_path / "a.ttl"])
        update(database, "INSERT DATA { <http://e.org/b> <http://e.org/age> 7 }")
        assert database.graph.num_triples == (3 if literals else 1)
        assert exact(database, "SELECT ?x { <http://e.org/a> <http://e.org/age> ?x }") == {"7"}
        if literals:
            assert {a.entity for a in unseen.ask(database.graph, "?x : <http://e.org/age>(x, 7)")} >= {"e:a", "e:b"}


def test_files_with_blank_nodes_are_loaded_beside_what_is_there(database: Database, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(
        "@prefix : <urn:unseen:> . :Ada :owns [ :kind :Boat ] . :Ben :owns [ :kind :Car ] ."
    )
    database.load([tmp_path / "a.ttl"])
    database.load([tmp_path / "a.ttl"])
    assert database.graph.num_triples == len(FAMILY) + 8
    known = [a.entity for a in unseen.ask(database.graph, "?x : exists b . owns(x, b) & kind(b, Car)") if a.known]
    assert known == ["Ben"]


def test_loading_a_broken_file_changes_nothing(database: Database, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Ada\tknows\tGus\nonly two\tparts\n")
    with pytest.raises(unseen.UnseenError, match="line 2"):
        database.load([tmp_path / "a.tsv"])
    assert triples(database) == set(FAMILY)
    assert database.load([tmp_path / "a.tsv"], skip_errors=True).skipped == 1
    assert triples(database) == {*FAMILY, ("Ada", "knows", "Gus")}


def test_a_second_process_gets_a_clear_error(database: Database, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "PATIENCE", 0.0)
    with pytest.raises(DatabaseInUse, match=f"is in use by process {os.getpid()}; stop it first"):
        Database(path)
    script = "import sys, unseen.database.folder as f; f.PATIENCE = 0\nfrom unseen.database import Database\n"
    command = [sys.executable, "-c", f"{script}Database({str(path)!r})"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"is in use by process {os.getpid()}" in ended.stderr


def test_a_format_from_the_future_is_refused_and_an_old_one_is_upgraded(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.close()
    monkeypatch.setattr(folder, "FORMAT", 3)
    monkeypatch.setitem(folder.UPGRADES, 2, lambda found: (found / "upgraded").touch())
    Database(path).close()
    assert (path / "upgraded").exists()
    monkeypatch.undo()
    with pytest.raises(DatabaseError, match="has format 3, and this version of unseen reads up to 2"):
        Database(path)


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="is not a database; `unseen db create` makes one"):
        Database(tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseError, match="already exists and is not a database"):
        Database.create(tmp_path)


def test_a_full_disk_is_said_and_changes_nothing(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("unseen.database.journal.os.fsync", full)
    with pytest.raises(DiskFull, match="the disk is full; nothing was changed"):
        database.add([("Emil", "parent", "Fay")])
    monkeypatch.undo()
    monkeypatch.setattr(ledger, "free_bytes", lambda _: 0)
    with pytest.raises(DiskFull):
        update(database, "INSERT DATA { :a :b :c }")
    monkeypatch.undo()
    assert triples(database) == set(FAMILY)
    assert database.add([("Emil", "parent", "Fay")]) == 1
    database.close()
    with Database(path) as again:
        assert triples(again) == {*FAMILY, ("Emil", "parent", "Fay")}


@pytest.mark.parametrize("damage", ["snapshot.json", "heads.npy", "entities.arrow"])
def test_a_damaged_snapshot_is_made_again(database: Database, path: Path, damage: str) -> None:
    database.checkpoint()
    database.close()
    (file,) = path.glob(f"snapshot-*/{damage}")
    file.write_bytes(b"{")
    with Database(path) as again:
        assert triples(again) == set(FAMILY)


def test_a_long_journal_becomes_a_snapshot(database: Database, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST_JOURNALED", 20)
    for number in range(40):
        database.add([(f"e{number}", "next", f"e{number + 1}")])
    (journal,) = path.glob("journal-*")
    assert len(journal.read_text().splitlines()) < 25
    assert len(list(path.glob("snapshot-*"))) == 1
    database.close()
    with Database(path) as again:
        assert again.graph.num_triples == len(FAMILY) + 40


def test_a_backup_is_a_database(database: Database, tmp_path: Path) -> None:
    database.backup(tmp_path / "copy.db")
    database.add([("Emil", "parent", "Fay")])
    with Database(tmp_path / "copy.db") as copy:
        assert triples(copy) == set(FAMILY)
        copy.add([("x", "y", "z")])
    with pytest.raises(DatabaseError, match="already exists"):
        database.backup(tmp_path / "copy.db")


@pytest.mark.parametrize("name", ["out.nt", "out.ttl", "out.nq.gz", "out.trig", "out.rdf", "out.tsv", "out.parquet"])
def test_a_dump_reads_back(database: Database, tmp_path: Path, name: str) -> None:
    dump(database, tmp_path / name)
    assert set(unseen.load(tmp_path / name).triples()) == set(FAMILY)


def test_a_database_can_be_loaded_like_a_file(database: Database, path: Path) -> None:
    database.close()
    assert set(unseen.load(path).triples()) == set(FAMILY)


@pytest.mark.parametrize(
    "bad", [[("a", "b")], [("a", "b", "")], [("a", "b", " ")], [("a", "b", 7)], ["abc"], [("a", "b", "\ud800")]]
)
def test_what_is_no_triple_of_names_is_refused(database: Database, bad: list[object]) -> None:
    with pytest.raises(GraphError):
        database.add(bad)  # type: ignore[arg-type]
    assert triples(database) == set(FAMILY)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("LOAD <http://127.0.0.1/x>", "LOAD is off"),
        ("PREFIX : <urn:> INSERT DATA { :a :b :c } ; load <file:///etc/passwd>", "LOAD is off"),
        ("INSERT { ?s ?p ?o } WHERE { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }", "SERVICE asks other servers"),
    ],
)
def test_updates_that_reach_out_are_refused(database: Database, text: str, reason: str) -> None:
    with pytest.raises(QueryRefused, match=reason):
        update(database, text)


@pytest.mark.parametrize("word", ["SERVICE", "service", "SeRvIcE SILENT"])
def test_queries_that_reach_out_are_refused(database: Database, word: str) -> None:
    with pytest.raises(QueryRefused, match="SERVICE asks other servers"):
        query(database, f"SELECT * {{ ?s ?p '<' . {word} <http://127.0.0.1/> {{ ?s ?p ?o }} }}")
    assert exact(database, 'SELECT ?s { ?s :likes :Go FILTER("SERVICE <x> {" != "LOAD") } # SERVICE <x> {') != set()


def test_a_syntax_error_shows_its_place(database: Database) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        query(database, "SELECT ?x WHERE {\n  ?x :likes :Go :Chess }")
    assert caught.value.position >= 20
    with pytest.raises(QuerySyntaxError):
        update(database, "INSERT DATA { :a :b }")


ODD_IRIS = ["http://[x", "http://ex.org/a b", "http://ex.org/{x}", "urn:x:%zz", "_:b", '"text"@en', "http://ex.org/ü"]


@pytest.mark.parametrize("name", ODD_IRIS)
def test_odd_names_come_and_go_like_others(database: Database, path: Path, name: str) -> None:
    database.add([("Ada", "knows", name), ("Ada", "knows", "Ben")])
    assert exact(database, "SELECT ?x { :Ada :knows ?x FILTER(?x = :Ben) }") == {"urn:unseen:Ben"}
    database.close()
    with Database(path) as again:
        again.checkpoint()
        assert again.remove([("Ada", "knows", name)]) == 1
        assert triples(again) == {*FAMILY, ("Ada", "knows", "Ben")}


def test_statements_about_statements_are_for_sparql_only(database: Database, path: Path) -> None:
    update(database, "INSERT DATA { :Ada :says <<( :Ben :likes :Go )>> . :Ada :knows :Gus }")
    expected = {*FAMILY, ("Ada", "knows", "Gus")}
    assert triples(database) == expected
    database.checkpoint()
    (snapshot,) = path.glob("snapshot-*/heads.npy")
    database.close()
    snapshot.unlink()
    with Database(path) as again:
        assert triples(again) == expected
        assert len(list(query(again, "SELECT * { :Ada :says ?x }").found)) == 1


def test_a_snapshot_that_fails_does_not_undo_the_write(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DatabaseError("no space")

    monkeypatch.setattr(ledger, "MOST_JOURNALED", 1)
    monkeypatch.setattr(ledger, "write_snapshot", full)
    assert database.add([("Emil", "parent", "Fay")]) == 1
    assert ("Emil", "parent", "Fay") in triples(database)


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_update_lasts_even_if_the_journal_is_full(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.database.journal.os.fsync", _full)
    update(database, "INSERT DATA { :Gus :likes :Go }")
    expected = {*FAMILY, ("Gus", "likes", "Go")}
    assert triples(database) == expected
    with pytest.raises(DiskFull, match="nothing was changed"):
        update(database, "INSERT DATA { :Hal :likes :Go }")
    assert triples(database) == expected
    assert exact(database, "SELECT ?x { :Hal :likes ?x }") == set()
    monkeypatch.undo()
    database.close()
    with Database(path) as again:
        assert triples(again) == expected


def test_an_update_that_may_not_last_says_that_it_was_done(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("unseen.database.journal.os.fsync", _full)
        patched.setattr("unseen.database.triples.Triples.flush", _full)
        with pytest.raises(DatabaseError, match="the update was carried out, but may not outlast the machine"):
            update(database, "INSERT DATA { :Gus :likes :Go }")
    assert database.add([("Hal", "likes", "Go")]) == 1
    assert triples(database) == {*FAMILY, ("Gus", "likes", "Go"), ("Hal", "likes", "Go")}


def test_no_update_begins_without_space_for_its_journal(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.database.journal.os.posix_fallocate", _full)
    with pytest.raises(DiskFull, match="nothing was changed"):
        update(database, "INSERT DATA { :Gus :likes :Go }")
    assert exact(database, "SELECT ?x { :Gus :likes ?x }") == set()


def test_a_database_without_its_triples_is_damaged_and_left_as_it_is(database: Database, path: Path) -> None:
    database.checkpoint()
    database.close()
    shutil.rmtree(path / "triples")
    before = sorted(path.iterdir())
    with pytest.raises(DatabaseError, match="is damaged: its folder `triples` is missing"):
        Database(path)
    assert sorted(path.iterdir()) == before


def test_nothing_is_upgraded_while_another_process_has_it(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "PATIENCE", 0.0)
    monkeypatch.setattr(folder, "FORMAT", 3)
    monkeypatch.setitem(folder.UPGRADES, 2, lambda _: pytest.fail("upgraded"))
    with pytest.raises(DatabaseInUse):
        Database(path)


def test_the_iri_of_a_plain_name_is_that_name(database: Database) -> None:
    assert (
        database.add([("urn:unseen:Ada", "urn:unseen:parent", "urn:unseen:Ben"), ("Ada", "urn:unseen:new%20one", "x")])
        == 1
    )
    assert triples(database) == {*FAMILY, ("Ada", "new one", "x")}
