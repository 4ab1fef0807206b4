"""The list of bad input: each has its status, all have one shape of error, and the server lives on."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from tests.server.running import FORM, JSON, Running
from unseen.database import ledger

SPARQL = {"Content-Type": "application/sparql-query"}
UNION = "SELECT * { " + " UNION ".join(["{?s ?p ?o}"] * 100_000) + " }"
SHORT_UNION = "SELECT*{" + "UNION".join(["{}"] * 100_000) + "}"
DEEP = "SELECT * " + "{" * 50_000 + "}" * 50_000
CYCLE = "SELECT ?x { :Ada :parent ?v . ?v :parent ?x . ?v :likes ?x }"
LONELY = "SELECT ?x ?y { :Ada :parent ?x . :Ben :likes ?y }"


@pytest.fixture(autouse=True)
def alive(reading: Running) -> Iterator[None]:
    """Whatever was sent, the server answers afterwards."""
    yield
    assert reading.ask("?x : likes(x, Go)").json["known"] == 2


@pytest.mark.parametrize(
    ("method", "address", "body", "headers", "status", "code"),
    [
        ("POST", "/query", "SELECT * WHERE { ?s ?p", SPARQL, 400, "syntax_error"),
        ("POST", "/query", "", SPARQL, 400, "bad_request"),
        ("GET", "/query", None, {}, 400, "bad_request"),
        ("GET", "/query?query=ASK%7B%7D&query=ASK%7B%7D", None, {}, 400, "bad_request"),
        ("POST", "/query", b"SELECT " + b"x" * 10_000_000, SPARQL, 413, "too_large"),
        ("POST", "/query", UNION, SPARQL, 413, "too_large"),
        ("POST", "/query", SHORT_UNION, SPARQL, 400, "refused"),
        ("POST", "/query", DEEP, SPARQL, 400, "refused"),
        ("POST", "/query?infer=true", LONELY, SPARQL, 400, "refused"),
        ("POST", "/query?infer=perhaps", CYCLE, SPARQL, 400, "bad_request"),
        ("POST", "/query?infer=true&k=0", CYCLE, SPARQL, 400, "bad_request"),
        ("POST", "/query?infer=true", "SELECT ?x { :Adda :likes ?x }", SPARQL, 400, "unknown_entity"),
        ("POST", "/query", b"\xff\xfe\x00binary", SPARQL, 400, "bad_request"),
        ("POST", "/query", b"query=%FF%FE", FORM, 400, "bad_request"),
        ("POST", "/query", "ASK {}", {"Content-Type": "text/plain"}, 415, "unsupported_type"),
        ("POST", "/query", "ASK {}", {}, 415, "unsupported_type"),
        (
            "POST",
            "/update",
            "INSERT DATA { :a :b }",
            {"Content-Type": "application/sparql-update"},
            400,
            "syntax_error",
        ),
        ("POST", "/update", urlencode({"update": "LOAD <file:///etc/passwd>"}), FORM, 400, "refused"),
        ("POST", "/ask", b"\xff\xfe", JSON, 400, "bad_request"),
        ("POST", "/ask", "{", JSON, 400, "bad_json"),
        ("POST", "/ask", "[" * 100_000, JSON, 400, "bad_json"),
        ("POST", "/ask", '{"question": NaN}', JSON, 400, "bad_json"),
        ("POST", "/ask", "question=x", FORM, 415, "unsupported_type"),
        ("POST", "/ask", '{"question": "?x : likes(Adda, x)"}', JSON, 400, "unknown_entity"),
        ("POST", "/ask", '{"question": "?x : likes(\\ud800, x)"}', JSON, 400, None),
        ("POST", "/triples", '{"triples": [["a", "b", "\\ud800"]]}', JSON, 400, None),
        ("POST", "/triples", '{"triples": [["a", "b", "\\u0000"]]}', JSON, 400, "bad_triples"),
        ("PUT", "/store?default", b"\x00\x01\x02", {"Content-Type": "text/turtle"}, 400, "bad_triples"),
        ("PUT", "/store?default", "x", {"Content-Type": "image/png"}, 415, "unsupported_type"),
        ("GET", "/entities?limit=many", None, {}, 400, "bad_request"),
        ("GET", "/entities?search=%FF", None, {}, 400, "bad_request"),
        ("GET", "/nothing", None, {}, 404, "not_found"),
        ("PATCH", "/query", None, {}, 405, "method_not_allowed"),
        ("GET", "/update", None, {}, 405, "method_not_allowed"),
    ],
    ids=range(34),
)
def test_bad_input(
    reading: Running, method: str, address: str, body: bytes, headers: dict, status: int, code: str | None
) -> None:
    reply = reading.send(method, address, body, headers)
    assert reply.status == status, reply.text[:500]
    assert code is None or reply.error["code"] == code
    assert len(reply.error["message"]) < 1000


def test_an_unknown_entity_comes_with_the_closest_names(reading: Running) -> None:
    assert "Ada" in reading.ask("?x : likes(Adda, x)").error["closest"]
    assert "Ada" in reading.query("SELECT ?x { :Adda :likes ?x }", infer="true").error["closest"]


def test_a_full_disk_changes_nothing_and_is_said(reading: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    new = {"triples": [["Gus", "likes", "Go"]]}
    monkeypatch.setattr(ledger, "free_bytes", lambda _: 1000)
    assert reading.post("/triples", new).status == 507
    assert reading.update("INSERT DATA { :Gus :likes :Go }").error["code"] == "disk_full"
    assert reading.send("PUT", "/store?default", "", {"Content-Type": "text/turtle"}).status == 507
    health = reading.send("GET", "/healthz")
    assert (health.status, health.error["code"]) == (503, "read_only")
    assert str(reading.database.path) not in health.text
    monkeypatch.undo()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("unseen.database.journal.os.fsync", full)
    assert reading.post("/triples", new).status == 507
    monkeypatch.undo()
    assert reading.post("/triples", new).json["added"] == 1
    assert reading.send("GET", "/healthz").status == 200
    assert reading.send("DELETE", "/triples", json.dumps(new), JSON).json["removed"] == 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (5 << 20), 431),
        (b"GET /query?query=" + b"x" * (5 << 20), 431),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * (1 << 20), 431),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
    ],
    ids=["header", "address", "headers", "tls", "nonsense"],
)
def test_what_comes_before_a_body_is_bounded_and_must_be_http(reading: Running, sent: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", reading.port), 30) as connection:
        with contextlib.suppress(ConnectionError):  # the server need not listen to the end
            connection.sendall(sent)
        received = b""
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(65536):
                received += data
    if received:  # a reset may overtake the answer
        head, _, body = received.partition(b"\r\n\r\n")
        assert int(head.split()[1]) == status
        assert set(json.loads(body)["error"]) == {"code", "message"}
    assert received or status == 431


def test_a_part_that_joins_nothing_is_named_with_its_place(reading: Running) -> None:
    reply = reading.ask("?x, y : parent(Ada, x) & likes(Ben, y)")
    assert (reply.status, reply.error["code"]) == (400, "refused")
    assert "no connection" in reply.error["message"]
    assert reply.error["position"] > 0


def test_an_error_that_nobody_foresaw_says_nothing_about_its_insides(
    reading: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("unseen.server.exact_answers._wanted", broken)
    reply = reading.query("ASK {}")
    assert (reply.status, reply.error["code"]) == (500, "internal_error")
    assert "secret" not in reply.text
