"""Long texts: reading one takes time in proportion to its length, and nobody else waits for it."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest

from tests.attack.limited_server import Served, serving
from tests.conftest import FAMILY
from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.sparql.words import tokens_of
from unseen.server.predicted_sparql import clauses_of, without_extra_variables

MEGABYTE = 1_000_000
SPARQL, FORM, JSON = "application/sparql-query", "application/x-www-form-urlencoded", "application/json"
UNITS = [
    "\\'''\n",
    '\\"',
    '"\n',
    "a.",
    "<a",
    "{}",
    "SERVICE a:b{}",
    "SERVICE<urn:unseen:predict>{",
    ":a..",
    "a:",
    "'''",
]


def seconds_for(text: str) -> float:
    """Processor time to find the words and the clauses of a text."""
    began = time.thread_time()
    for _ in tokens_of(text):
        pass
    with contextlib.suppress(QueryRefused, QuerySyntaxError):
        clauses_of(text)
    return time.thread_time() - began


@pytest.mark.parametrize("unit", UNITS)
def test_the_time_to_read_a_text_grows_with_its_length_and_no_faster(unit: str) -> None:
    short, long = unit * (20_000 // len(unit)), unit * (160_000 // len(unit))
    seconds_for(short)
    assert seconds_for(long) < 32 * max(0.01, seconds_for(short)), (
        "eight times the text, far from sixty-four times the time"
    )


def test_many_variables_are_taken_out_in_one_go() -> None:
    began = time.thread_time()
    text = "SELECT ?x" + " ?score" * 14_000 + " { ?x :a :b }"
    assert without_extra_variables(text).split() == ["SELECT", "?x", "{", "?x", ":a", ":b", "}"]
    assert time.thread_time() - began < 5


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("texts") / "x.db", FAMILY, model="edge-type") as served:
        yield served


def long_bodies() -> list[tuple[str, str, bytes]]:
    """Address, type and body of requests that are long to read."""
    texts = [unit * (MEGABYTE // len(unit)) for unit in ("\\'''\n", "a.", "SERVICE{")]
    texts += ["SERVICE a:b{}" * 4000, "SERVICE a:b{}" * 60_000]
    bodies = [("/query", SPARQL, (text + " SERVICE")[: 1 << 20].encode()) for text in texts]
    bodies += [("/query?infer=true", SPARQL, b"SELECT" + b" ?score" * 140_000)]
    bodies += [("/query", FORM, b"query=" + b"%41" * 340_000)]
    bodies += [("/ask", JSON, b"[" + b"[]," * 300_000 + b"[]]")]
    bodies += [("/ask", JSON, json.dumps({"question": "?x : " + "likes(x, Go) & " * 6000 + "likes(x, Go)"}).encode())]
    bodies += [("/triples", JSON, b'{"triples": [' + b"[]," * 3_000_000 + b"[]]}")]
    bodies += [("/triples", JSON, b'{"triples": [["a", "b", "' + b"x" * 3_000_000 + b'"]]}')]
    return bodies


def test_the_health_is_told_while_long_texts_are_read(server: Served) -> None:
    answers: list[int] = []
    bodies = long_bodies()

    def send() -> None:
        while bodies:
            address, media_type, body = bodies.pop()
            connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
            connection.request("POST", address, body, {"Content-Type": media_type})
            answers.append(connection.getresponse().status)
            connection.close()

    senders, beginning = [threading.Thread(target=send) for _ in range(2)], time.monotonic()
    for sender in senders:
        sender.start()
    waits = []
    while any(sender.is_alive() for sender in senders):
        began = time.monotonic()
        assert server.get("/healthz")[0] == 200
        waits.append(time.monotonic() - began)
        time.sleep(0.05)
    assert set(answers) <= {200, 400}, answers
    assert len(answers) == 11
    whole = time.monotonic() - beginning
    assert max(waits) < max(1.0, whole / 3), "one of the texts held up everyone"


def test_many_triples_are_read_one_by_one(server: Served) -> None:
    triples = [[f"entity {i}", 'li\u00e9 "à"', f"entity\t{i + 1}"] for i in range(10_000)]
    connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("POST", "/triples", json.dumps({"triples": triples}, indent=1), {"Content-Type": JSON})
    reply = connection.getresponse()
    assert json.loads(reply.read()) == {"added": 10_000, "unchanged": 0}
    connection.close()


def test_a_long_address_is_read(server: Served) -> None:
    status, body = server.get("/query?" + urlencode({"query": "ASK {} #" + "é" * 10_000}))
    assert (status, b"true" in body) == (200, True)
