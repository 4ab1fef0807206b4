"""SPARQL endpoints into a database: complete whatever the pages, patient, and gone on with after an interruption."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from tests.conftest import FAMILY
from tests.database.endpoint import Answer, SmallEndpoint, running
from tests.server.running import running as server_of
from unseen.database import Database
from unseen.database.dump import dump as write
from unseen.database.importing import paging
from unseen.database.importing.importer import Import, folder_beside
from unseen.errors import DatabaseError

EX = "http://example.org/"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallEndpoint]:
    monkeypatch.setattr(paging, "SMALLEST_PAGE", 2)
    small = SmallEndpoint()
    small.add(
        *(f"<{EX}{a}> <{EX}knows> <{EX}{b}> ." for a, b in ("ab", "ac", "bc", "ca", "cb", "de", "ef", "fa", "zz")),
        *(f"<{EX}hub> <{EX}has> <{EX}part{number}> ." for number in range(7)),
        f"<{EX}a> <{EX}has> <{EX}b> .",
        f"<{EX}z> <{EX}has> <{EX}b> .",
        f'<{EX}a> <http://www.w3.org/2000/01/rdf-schema#label> "Ada \\"A\\"\\n"@en .',
        f'<{EX}a> <{EX}born> "1815-12-10"^^<http://www.w3.org/2001/XMLSchema#date> .',
        f'<{EX}é"> <{EX}note> "a\\\\b\\tc" .'.replace('é"', "é"),
        f"_:x <{EX}knows> <{EX}a> .",
        f"<{EX}a> <{EX}knows> _:x .",
        f"<{EX}q> <{EX}knows> <{EX}a> <{EX}other> .",
    )
    with running(small):
        yield small


def imported(path: Path, url: str, **options: object) -> list[str]:
    """What a database holds after an import, and nothing is left beside it."""
    wanted = Import(url, sleep=lambda _: None, **options)  # type: ignore[arg-type]
    state = wanted.fetched(path)
    with Database(path) as database:
        wanted.into(database, state)
        dump = path.with_suffix(".nt")
        write(database, dump)
    assert not folder_beside(path).exists()
    return sorted(dump.read_text(encoding="utf-8").splitlines())


def expected(endpoint: SmallEndpoint, graph: str | None = None) -> list[str]:
    name = ox.DefaultGraph() if graph is None else ox.NamedNode(graph)
    lines = [f"{quad.triple} ." for quad in endpoint.store.quads_for_pattern(None, None, None, name)]
    return sorted(line for line in lines if "_:" not in line)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Database.create(tmp_path / "world.db").close()
    return tmp_path / "world.db"


@pytest.mark.parametrize("page_size", [2, 3, 4, 100])
def test_everything_comes_whatever_the_pages(endpoint: SmallEndpoint, path: Path, page_size: int) -> None:
    notes: list[str] = []
    found = imported(path, endpoint.url, page_size=page_size, note=notes.append)
    assert found == expected(endpoint)
    assert notes == ["2 statements with blank nodes were left out; a dump of the endpoint has them"]


def test_an_endpoint_that_cuts_its_answers_is_read_to_the_end(endpoint: SmallEndpoint, path: Path) -> None:
    def short(query: str) -> Answer | None:
        if "LIMIT" not in query:
            return None
        rows = json.loads(endpoint.store.query(query).serialize(format=ox.QueryResultsFormat.JSON))  # type: ignore[union-attr]
        rows["results"]["bindings"] = rows["results"]["bindings"][:3]
        return 200, {}, json.dumps(rows).encode()

    endpoint.instead = short
    assert imported(path, endpoint.url, page_size=1000) == expected(endpoint)


def test_a_graph_or_a_pattern_chooses(endpoint: SmallEndpoint, path: Path, tmp_path: Path) -> None:
    assert imported(path, endpoint.url, graph=f"{EX}other") == expected(endpoint, f"{EX}other")
    Database.create(tmp_path / "some.db").close()
    some = imported(tmp_path / "some.db", endpoint.url, only=f"?s <{EX}has> <{EX}b>", page_size=2)
    assert some == [line for line in expected(endpoint) if line.startswith((f"<{EX}a>", f"<{EX}z>"))]


def test_a_busy_endpoint_is_asked_again_when_it_says(endpoint: SmallEndpoint, path: Path) -> None:
    troubles: list[Answer] = [
        (503, {"Retry-After": "7"}, b"busy"),
        (429, {}, b""),
        (200, {}, b'{"results": {"bindings": ['),
    ]
    endpoint.instead = lambda _: troubles.pop() if troubles else None
    waits: list[float] = []
    wanted = Import(endpoint.url, sleep=waits.append)
    assert wanted.fetched(path).received == len(expected(endpoint))
    assert waits == [1.0, 2.0, 7.0]


def test_pages_shrink_where_they_are_too_much(endpoint: SmallEndpoint, path: Path) -> None:
    endpoint.instead = lambda query: (504, {}, b"too long") if "LIMIT 8" in query else None
    notes: list[str] = []
    assert imported(path, endpoint.url, page_size=8, note=notes.append) == expected(endpoint)
    assert any(note.endswith("going on with pages of 4") for note in notes)


@pytest.mark.parametrize("allowed", range(1, 12))
def test_an_interrupted_import_goes_on(endpoint: SmallEndpoint, path: Path, allowed: int) -> None:
    left = [allowed]

    def interrupted(_: str) -> Answer | None:
        left[0] -= 1
        return (400, {}, b"the network went away") if left[0] < 0 else None

    endpoint.instead = interrupted
    wanted = Import(endpoint.url, page_size=3)
    with pytest.raises(DatabaseError, match="answers 400 Bad Request: the network went away"):
        wanted.fetched(path)
    if allowed > 2:
        with (folder_beside(path) / "statements.nt").open("ab") as stream:
            stream.write(b"<half a page")  # a crash in the middle of writing
    endpoint.instead, before = lambda _: None, len(endpoint.queries)
    assert imported(path, endpoint.url, page_size=3) == expected(endpoint)
    if allowed > 2:
        assert not any("GROUP BY" in query for query in endpoint.queries[before:])


def test_another_import_does_not_go_on_with_it(endpoint: SmallEndpoint, path: Path) -> None:
    endpoint.instead = lambda query: (400, {}, b"") if "LIMIT" in query else None
    with pytest.raises(DatabaseError):
        Import(endpoint.url, page_size=3).fetched(path)
    with pytest.raises(DatabaseError, match="holds another import"):
        Import(endpoint.url, graph=EX).fetched(path)


def test_what_does_not_add_up_is_an_error_unless_it_is_taken(endpoint: SmallEndpoint, path: Path) -> None:
    missing = f'FILTER(STR(?s) >= "{EX}c"'
    endpoint.instead = lambda query: (200, {}, b'{"results": {"bindings": []}}') if missing in query else None
    with pytest.raises(DatabaseError, match=r"3 statements came, but the endpoint counts 9; .* --skip-errors"):
        Import(endpoint.url, page_size=4).fetched(path)
    state = Import(endpoint.url, page_size=4, skip_errors=True).fetched(path)
    assert state.received == len(expected(endpoint)) - 6


def rows_of(endpoint: SmallEndpoint, query: str) -> dict[str, Any]:
    rows: dict[str, Any] = json.loads(endpoint.store.query(query).serialize(format=ox.QueryResultsFormat.JSON))  # type: ignore[union-attr]
    return rows


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", [2, 4, 5])
def test_pages_in_any_order_are_complete_or_an_error(endpoint: SmallEndpoint, path: Path, seed: int, size: int) -> None:
    shuffler = random.Random(seed)

    def unordered(query: str) -> Answer | None:
        if "LIMIT" not in query:
            return None
        whole, _, limit = query.partition(" ORDER BY ")
        rows = rows_of(endpoint, whole)
        shuffler.shuffle(rows["results"]["bindings"])
        rows["results"]["bindings"] = rows["results"]["bindings"][: int(limit.split("LIMIT ")[1].split()[0])]
        return 200, {}, json.dumps(rows).encode()

    endpoint.instead = unordered
    with suppress(DatabaseError):
        assert imported(path, endpoint.url, page_size=size) == expected(endpoint)


def test_the_same_page_for_ever_is_an_error(endpoint: SmallEndpoint, path: Path) -> None:
    no_blanks = "FILTER(isIRI(?s) && !isBlank(?o))"
    first = json.dumps(rows_of(endpoint, f"SELECT ?s ?o {{ ?s <{EX}knows> ?o {no_blanks} }} LIMIT 3")).encode()
    endpoint.instead = lambda query: (200, {}, first) if "LIMIT" in query else None
    with pytest.raises(DatabaseError, match=r"but the endpoint counts 1; .* does not keep to ORDER BY"):
        Import(endpoint.url, page_size=3).fetched(path)


def test_a_long_list_of_predicates_that_is_cut_is_gone_on_with(
    endpoint: SmallEndpoint, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MOST_LISTED", 2)

    def short(query: str) -> Answer | None:
        if "GROUP BY" not in query:
            return None
        rows = rows_of(endpoint, query)
        rows["results"]["bindings"] = rows["results"]["bindings"][:2]
        return 200, {}, json.dumps(rows).encode()

    endpoint.instead = short
    assert imported(path, endpoint.url) == expected(endpoint)


def test_a_web_page_is_no_endpoint(endpoint: SmallEndpoint, path: Path) -> None:
    endpoint.instead = lambda _: (200, {"Content-Type": "text/html; charset=utf-8"}, b"<html>")
    waits: list[float] = []
    with pytest.raises(DatabaseError, match=r"answers with a page \(text/html\)"):
        Import(endpoint.url, sleep=waits.append).fetched(path)
    assert not waits, "nothing is tried again"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_endpoint_that_has_moved_gets_the_question_and_no_password(
    endpoint: SmallEndpoint, path: Path, status: int
) -> None:
    with running(SmallEndpoint()) as old:
        old.instead = lambda _: (status, {"Location": endpoint.url}, b"")
        assert imported(path, old.url.replace("//", "//me:secret@")) == expected(endpoint)
    assert [headers.get("Authorization") for headers in (old.headers[0], endpoint.headers[0])] == [
        "Basic bWU6c2VjcmV0",
        None,
    ]


def test_an_endpoint_that_has_moved_to_a_file_is_refused(endpoint: SmallEndpoint, path: Path) -> None:
    endpoint.instead = lambda _: (302, {"Location": "ftp://example.org/"}, b"")
    with pytest.raises(DatabaseError, match="answers 302"):
        Import(endpoint.url).fetched(path)


@pytest.mark.parametrize("url", ["ftp://example.org/", "http:///x"])
def test_what_is_no_address_is_refused(path: Path, url: str) -> None:
    with pytest.raises(DatabaseError, match="is not the address of an endpoint"):
        Import(url).fetched(path)


def test_nothing_there_is_said(endpoint: SmallEndpoint, path: Path) -> None:
    with pytest.raises(DatabaseError, match=f"there are no statements in graph {EX}nothing"):
        Import(endpoint.url, graph=f"{EX}nothing").fetched(path)


def test_our_own_server_is_an_endpoint(path: Path, tmp_path: Path) -> None:
    with server_of(tmp_path / "family.db", FAMILY) as server:
        found = imported(path, f"{server.url}/query", page_size=100)
        assert len(found) == server.database.graph.num_triples
