"""Clients that others have written, and our own."""

from __future__ import annotations

import gc
import json
import socket
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet

import unseen
import unseen.client
from tests.cli.command import command_in
from tests.server.running import Running
from unseen.errors import QueryRefused, QuerySyntaxError, ServerError, UnknownName

P = "PREFIX : <urn:unseen:> "


@pytest.fixture
def forgiven() -> Iterator[None]:
    """Some clients leave their sockets to the garbage collector: let it come at once, and say nothing."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("forgiven")
def test_rdflib_reads_and_writes(server: Running) -> None:
    from rdflib import Graph, URIRef
    from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore

    store = SPARQLUpdateStore(f"{server.url}/query", f"{server.url}/update", context_aware=False)
    graph = Graph(store)
    found = {str(row.x) for row in graph.query(P + "SELECT ?x { :Ada :parent ?x }")}
    assert found == {"urn:unseen:Ben", "urn:unseen:Cleo"}
    graph.add((URIRef("urn:unseen:Gus"), URIRef("urn:unseen:likes"), URIRef("urn:unseen:Go")))
    assert (URIRef("urn:unseen:Gus"), None, None) in graph
    graph.update(P + "DELETE WHERE { :Gus ?p ?o }")
    assert len(graph) == 8
    reading = Graph(SPARQLStore(f"{server.url}/query", context_aware=False))
    assert {str(row.x) for row in reading.query(P + "SELECT ?x { ?x :parent :Ben }")} == {"urn:unseen:Ada"}
    assert len(list(reading.triples((URIRef("urn:unseen:Ada"), URIRef("urn:unseen:parent"), None)))) == 2


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("forgiven")
def test_sparqlwrapper_reads_and_writes(server: Running) -> None:
    from SPARQLWrapper import CSV, JSON, POST, TURTLE, SPARQLWrapper

    client = SPARQLWrapper(f"{server.url}/query", f"{server.url}/update")
    client.setQuery(P + "INSERT DATA { :Gus :likes :Go }")
    client.setMethod(POST)
    client.query()
    client = SPARQLWrapper(f"{server.url}/query")
    client.setQuery(P + "SELECT ?x { ?x :likes :Go } ORDER BY ?x")
    client.setReturnFormat(JSON)
    rows = client.query().convert()["results"]["bindings"]
    assert [row["x"]["value"] for row in rows] == ["urn:unseen:Ada", "urn:unseen:Emil", "urn:unseen:Gus"]
    client.setReturnFormat(CSV)
    assert b"urn:unseen:Gus" in client.query().convert()
    client.setQuery(P + "CONSTRUCT { ?x :fan :yes } { ?x :likes :Go }")
    client.setReturnFormat(TURTLE)
    assert b"fan" in client.query().convert()


def test_our_own_asks_adds_and_removes(server: Running, family: unseen.KnowledgeGraph) -> None:
    question = "?x : exists v . parent(Ada, v) & likes(v, x)"
    with unseen.connect(server.url) as graph:
        mine = unseen.ask(family, question, method="edge-type", explain=True)
        theirs = graph.ask(question, explain=True)
        assert [(a.entity, a.known, a.edges) for a in theirs] == [(a.entity, a.known, a.edges) for a in mine]
        assert [[str(reason) for reason in a.reasons] for a in theirs] == [[str(r) for r in a.reasons] for a in mine]
        assert theirs.graph.num_triples == 8
        assert theirs.as_json()["graph"] == mine.as_json()["graph"]
        assert graph.add([("Gus", "likes", "Go"), ("Ada", "parent", "Ben")]) == 1
        assert [a.entity for a in graph.ask("?x : likes(x, Go)", exact=True)][-1] == "Gus"
        assert graph.query("SELECT ?x { :Gus :likes ?x }") == [{"x": "urn:unseen:Go"}]
        assert graph.query("SELECT ?x { :Gus :likes ?x }", infer=True, top=1)[0]["known"] == "true"
        assert graph.remove([("Gus", "likes", "Go")]) == 1
        assert graph.add([]) == 0
        graph.update("INSERT DATA { :Gus :likes :Chess }")
        assert graph.entities("gus")[0]["name"] == "Gus"
        assert {found["name"] for found in graph.relations()} == {"parent", "likes"}


def test_errors_are_those_of_the_library(reading: Running) -> None:
    graph = unseen.connect(reading.url)
    with pytest.raises(UnknownName) as unknown:
        graph.ask("?x : likes(Adda, x)")
    assert "Ada" in unknown.value.closest
    with pytest.raises(QuerySyntaxError) as syntax:
        graph.ask("?x : likes(Ada x)")
    assert syntax.value.position == 15
    with pytest.raises(QueryRefused, match="LOAD is off"):
        graph.update("LOAD <http://127.0.0.1/>")
    with pytest.raises(ServerError) as server_error:
        graph.ask("?x : likes(Ada, x)", top=0)
    assert (server_error.value.status, server_error.value.code) == (400, "bad_json")
    graph.close()
    assert graph.ask("?x : likes(x, Go)").known == 2
    graph.close()


def test_an_address_where_nobody_is_is_said() -> None:
    with pytest.raises(ServerError, match="does not answer"):
        unseen.connect("http://127.0.0.1:9").ask("?x : likes(x, Go)")
    with pytest.raises(ServerError, match="looks like"):
        unseen.connect("localhost:7878")


class Silent:
    """A server that answers, closes idle connections, and never answers an update."""

    def __init__(self, *, closes: bool = False) -> None:
        self.requests: list[bytes] = []
        self.unanswered = threading.Semaphore(0)
        """Released with each request that stays without an answer."""
        self.closes = closes
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                visitor, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(visitor,), daemon=True).start()

    def _talk(self, visitor: socket.socket) -> None:
        with visitor:
            while data := visitor.recv(65536):
                self.requests.append(data.split(b" HTTP", maxsplit=1)[0])
                if b"/update" in data or b"slow" in data:
                    self.unanswered.release()
                    while visitor.recv(65536):  # says nothing until the client has given up
                        pass
                    return
                visitor.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"entities":[]}')
                if self.closes:
                    return


def test_nothing_is_sent_twice_but_to_a_connection_that_was_closed() -> None:
    server = Silent()
    for action in (lambda one: one.update("INSERT DATA {}"), lambda one: one.entities("slow")):
        client = unseen.connect(server.url, timeout=60)
        client.entities()
        before = len(server.requests)
        client._timeout = 0.2  # only what is never answered is to time out
        client._local.connection.sock.settimeout(0.2)
        with pytest.raises(ServerError, match="does not answer: timed out"):
            action(client)
        assert server.unanswered.acquire(timeout=60)
        assert len(server.requests) == before + 1
        client.close()
    server.socket.close()
    closing = Silent(closes=True)
    client = unseen.connect(closing.url, timeout=60)
    assert [client.entities() for _ in range(3)] == [[]] * 3
    client.close()
    closing.socket.close()


def test_what_is_wrong_with_an_address_a_key_or_an_answer_is_said() -> None:
    for address in ("http://127.0.0.1:99999", "http://[", "ftp://x", "http://"):
        with pytest.raises(ServerError, match="looks like"):
            unseen.connect(address)
    with pytest.raises(ServerError, match="printable"):
        unseen.connect(api_key="key\n")
    server = Silent()
    with pytest.raises(ServerError, match="is this a server of unseen"):
        _NoJson(server.url).entities()
    client = unseen.connect(server.url)
    for action in (lambda: client.ask("x"), lambda: client.query("x"), lambda: client.add([("a", "b", "c")])):
        with pytest.raises(ServerError, match="is this a server of unseen"):
            action()
    client.close()
    server.socket.close()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("Retry-After: 7\r\n", 7), ("", None), ("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", None)],
)
@pytest.mark.parametrize("body", ['{"error": {"code": "busy", "message": "too many requests are waiting"}}', "busy"])
def test_an_error_says_when_to_try_again(header: str, seconds: int | None, body: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            visitor, _ = server.accept()
            with visitor:
                visitor.recv(65536)
                visitor.sendall(f"HTTP/1.1 503 Busy\r\n{header}Content-Length: {len(body)}\r\n\r\n{body}".encode())

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        client = unseen.connect(f"http://127.0.0.1:{server.getsockname()[1]}", timeout=30)
        with pytest.raises(ServerError) as refused:
            client.entities()
        assert (refused.value.status, refused.value.retry_after) == (503, seconds)
        client.close()
        thread.join(30)


class _NoJson(unseen.client.Client):
    def _send(self, *_: object) -> bytes:  # type: ignore[override]
        return b"<html>"


def test_the_command_line_asks_a_server_and_gets_keys_beside_names(
    server: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = command_in(monkeypatch, capsys)
    asked = command("ask", server.url, "?x : parent(Ada, x)", "--method", "exact", "--json")
    assert [(one["entity"], one["key"]) for one in json.loads(asked.output)["answers"]] == [
        ("Ben", "Ben"),
        ("Cleo", "Cleo"),
    ]
    with unseen.connect(server.url) as graph:
        assert [answer.key for answer in graph.ask("?x : parent(Ada, x)", exact=True)] == ["Ben", "Cleo"]
    (tmp_path / "q.txt").write_text("?x : parent(Ada, x)\n?x : parent(Adda, x)\n", encoding="utf-8")
    words = ("-g", server.url, "-o", tmp_path / "a.parquet", "--method", "exact")
    assert command("answer", tmp_path / "q.txt", *words).code == 0
    found = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert [(row["key"], bool(row["error"])) for row in found] == [("Ben", False), ("Cleo", False), (None, True)]
