"""Whatever an update does, the graph that models read has the edges that the store has."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import FAMILY
from tests.database.update_grammar import Grammar
from unseen.database import Database, graph_store
from unseen.database.documents import statements_in
from unseen.database.engine.operations import lines_of
from unseen.database.exact_sparql import update
from unseen.database.ledger import Ledger
from unseen.errors import QueryRefused
from unseen.graph.prefixes import key_of


def in_store(database: Database) -> set[tuple[str, str, str]]:
    """The edges of the store's default graph."""
    rdf = database.triples.rdf
    quads = database.triples.store.quads_for_pattern(None, None, None, rdf.DefaultGraph())
    return {
        (_key(quad.subject), _key(quad.predicate), _key(quad.object))
        for quad in quads
        if not isinstance(quad.object, rdf.Literal | rdf.Triple)
    }


def in_graph(database: Database) -> set[tuple[str, str, str]]:
    entities, relations = database.graph.vocabulary.entities, database.graph.vocabulary.relations
    edges = zip(database.graph.heads, database.graph.relations, database.graph.tails, strict=True)
    return {(entities.key(int(h)), relations.key(int(r)), entities.key(int(t))) for h, r, t in edges}


def _key(term: object) -> str:
    text = str(term)
    return key_of(text[1:-1]) if text.startswith("<") else text


@pytest.mark.parametrize("seed", range(6))
def test_the_graph_follows_updates_made_at_random(path: Path, seed: int) -> None:
    grammar = Grammar(seed)
    database = Database.create(path)
    for number in range(30):
        text = grammar.update()
        with suppress(QueryRefused):
            update(database, text)
        assert in_graph(database) == in_store(database), text
        if number % 10 == 9:
            database.close()
            database = Database(path)
            assert in_graph(database) == in_store(database), text
    database.close()


FACT = "INSERT DATA { :Gus :likes :Go }"


@pytest.mark.parametrize(
    "text",
    [
        f"{FACT} ; CLEAR NAMED",
        f"{FACT} ; DROP NAMED",
        f"{FACT} ; DROPSILENTNAMED",
        f"{FACT} ; CLEAR ALL ; {FACT}",
        "INSERT DATA { GRAPH <urn:g> { :Gus :likes :Go } } ; COPY <urn:g> TODEFAULT",
        "INSERT DATA { GRAPH <urn:g> { :Gus :likes :Go } } ; ADD<urn:g>TODEFAULT",
        "INSERTDATA{:Gus :likes :Go}",
        "PREFIX g: <urn:> INSERT DATA { GRAPHg:g { :a :b :c } :Gus :likes :Go }",
        "INSERT { ?g :likes :Go } WHERE { VALUES (?a ?b ?g) { (1 '>' :Gus) } FILTER(?a<'>' || ?b='>') }",
        "INSERT DATA { :x :says 'Go (a game)' . :Gus :likes :Go } ;",
        "INSERT DATA { :Gus :likes :Go {| :since 7 |} }",
        "INSERT DATA { :Gus :likes :Go ~ :r }",
    ],
)
def test_no_acknowledged_update_is_missing_from_the_graph(database: Database, path: Path, text: str) -> None:
    update(database, text)
    assert ("Gus", "likes", "Go") in set(database.graph.triples())
    assert in_graph(database) == in_store(database)
    database.close()
    with Database(path) as again:
        assert in_graph(again) == in_store(again)


@pytest.mark.parametrize(
    "text",
    [
        f"{FACT} ; DROP SILENT GRAPH <urn:unseen-store:touched>",
        f"{FACT} ; DROP SILENT GRAPH <urn:unseen\\u002Dstore:touched>",
        f"PREFIX u: <urn:unseen-> {FACT} ; DROP SILENT GRAPH u:store:touched",
        f"PREFIX u: <urn:unseen-> {FACT} ; DROP SILENT GRAPH u:store\\:touched",
        f"PREFIX u: <urn:unseen-store> {FACT} ; DROPSILENTGRAPHu::touched",
        "INSERT DATA { GRAPH <urn:unseen-store:touched> { :a :b :c } }",
    ],
)
def test_the_names_of_the_database_itself_are_refused(database: Database, text: str) -> None:
    with pytest.raises(QueryRefused, match="belong to the database itself"):
        update(database, text)
    assert set(database.graph.triples()) == set(FAMILY)


def test_statements_about_statements_are_copied_and_kept(database: Database, path: Path) -> None:
    update(database, "INSERT DATA { :a :b <<( :c :d <<( :e :f '\"x\\n' )>> )>> }")
    update(database, "INSERT { ?s :copy ?o } WHERE { ?s :b ?o }")
    update(database, "INSERT DATA { :x :y :z }")
    document = b"@prefix : <urn:unseen:> . :m :n <<( :c :d :e )>> ; :o :p ."
    statements = list(statements_in(document, "text/turtle"))
    lines = graph_store.Lines(len(statements), lines_of(statements))
    graph_store.add(database, None, lines)
    graph_store.add(database, "urn:g", lines)
    assert database.add([("p", "q", "r")]) == 1
    database.close()
    with Database(path) as again:
        assert in_graph(again) == in_store(again) == {*FAMILY, ("x", "y", "z"), ("p", "q", "r"), ("m", "o", "p")}
        graph_store.replace(again, None, lines)
        assert in_graph(again) == in_store(again) == {("m", "o", "p")}


def test_a_trace_that_is_too_long_may_be_anything(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.database.engine.operations.MOST_TOUCHED", 0)
    update(database, FACT)
    assert in_graph(database) == in_store(database) == {*FAMILY, ("Gus", "likes", "Go")}


def test_edges_that_the_snapshot_lacks_are_found_when_it_is_opened(database: Database, path: Path) -> None:
    database.triples.store.update("INSERT DATA { <urn:unseen:Gus> <urn:unseen:likes> <urn:unseen:Go> }")
    database.close()
    with Database(path) as again:
        assert in_graph(again) == in_store(again) == {*FAMILY, ("Gus", "likes", "Go")}


def test_two_spellings_of_an_iri_are_two_things(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(database, "INSERT DATA { <urn:unseen:Bb> :b :c . <urn:unseen:%42b> :b :c }")
    both = {*FAMILY, ("Bb", "b", "c"), ("urn:unseen:%42b", "b", "c")}
    assert in_graph(database) == in_store(database) == both
    assert database.remove([("<urn:unseen:%42b>", "b", "c")]) == 1
    assert in_graph(database) == in_store(database) == both - {("urn:unseen:%42b", "b", "c")}
    assert database.add([("urn:unseen:%42b", "b", "c")]) == 1
    update(database, "DELETE DATA { <urn:unseen:Bb> :b :c }")
    database.close()
    monkeypatch.setattr(Ledger, "rebuild", lambda _: pytest.fail("made again"))
    with Database(path) as again:
        assert in_graph(again) == in_store(again) == both - {("Bb", "b", "c")}


def test_no_update_sees_or_loses_the_numbers_of_the_database(database: Database, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\tc\n")
    database.load([tmp_path / "a.tsv"])
    before = database.triples.marks()
    update(database, "INSERT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }")
    update(database, "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } } ; DROP ALL ;")
    after = database.triples.marks()
    assert in_store(database) == in_graph(database) == set()
    assert (after.loaded, after.number) == (before.loaded, (before.number or 0) + 2)
    assert database.triples.size() == 0


@pytest.mark.parametrize("text", ["DROP GRAPH <urn:g>", "CLEAR GRAPH <urn:g>", "MOVE <urn:g> TO <urn:h>"])
def test_graphs_that_are_there_can_be_dropped_and_others_are_named(database: Database, text: str) -> None:
    with pytest.raises(QueryRefused, match="does not exist"):
        update(database, text)
    update(database, "INSERT DATA { GRAPH <urn:g> { :a :b :c } }")
    update(database, text)
    update(database, text.replace(" ", " SILENT ", 1))
    assert set(database.graph.triples()) == set(FAMILY)
