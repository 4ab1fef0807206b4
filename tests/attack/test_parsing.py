"""SPARQL that is long to parse: in turns, stopped when nobody waits, and beside everything else."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.attack.limited_server import Served, serving
from tests.conftest import FAMILY
from tests.server.running import running
from unseen.errors import Stopped
from unseen.graph import KnowledgeGraph, catalogue
from unseen.graph.names import Names
from unseen.logic.algebra import Anchor
from unseen.logic.sparql import grammar, parse
from unseen.logic.sparql.words import checked_tokens
from unseen.logic.stopping import check_stop, stop_when
from unseen.server.callers import Caller
from unseen.server.parsing import Parsing
from unseen.server.predicting import Asked, Planned
from unseen.server.problems import Problem
from unseen.server.server_settings import Limits

FLOOD = 30


def unions(depth: int) -> str:
    """Nested UNIONs: twice as many with each level."""
    return "{}" if depth == 0 else f"{{{unions(depth - 1)} UNION {unions(depth - 1)} }}"


LONG = f"SELECT ?x {unions(9)}"
"""It takes a second to parse, and only then it shows that nothing is asked for."""
TEXTS = [
    "SELECT ?x { ?x :p :a }",
    "PREFIX e: <urn:e#> # a comment\nSELECT DISTINCT ?x WHERE { # { another one\n ?x e:p/^e:q|a 'b'@en ; :r 1, 2 . }",
    'SELECT * { ?x :p "a # b" MINUS { ?x :q :b } FILTER(?x != :c && !(?x IN (:d, <e#f>))) } LIMIT 5',
    "SELECT ?x { { ?x :p 1 } UNION { ?x :q 'a'^^:t } FILTER NOT EXISTS { ?x :r :s } VALUES ?x { :a :b } }",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_grammar_that_is_cut_down_reads_what_the_whole_one_reads(text: str) -> None:
    from rdflib.plugins.sparql import parser

    assert repr(grammar.parse_tree(checked_tokens(text))) == repr(parser.Query.parse_string(text, parse_all=True))


def test_parsing_stops_at_the_next_word() -> None:
    asked = 0

    def enough() -> bool:
        nonlocal asked
        asked += 1
        return asked > 50

    with stop_when(enough), pytest.raises(Stopped):
        parse.parse_sparql(LONG + " # never parsed before")
    assert asked == 51


def test_a_question_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, once = [], parse._parse_select
    monkeypatch.setattr(parse, "_parse_select", lambda text, *names: (parsed.append(text), once(text, *names))[1])
    with running(tmp_path / "x.db", FAMILY) as server:
        assert server.query("SELECT ?x ?score { ?x :likes :Go }", infer="true").status == 200
    assert len(parsed) == 1


class Plans:
    """A parser that takes until it is let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.stopped: list[str] = []
        self.free = threading.Event()

    def __call__(self, asked: Asked) -> Planned:
        self.begun.append(asked.text)
        try:
            while not self.free.wait(0.002):
                check_stop()
        except Stopped:
            self.stopped.append(asked.text)
            raise
        return Planned(asked, Anchor("Ada"), None, 0)


def long_text(name: str) -> Asked:
    return Asked(f"SELECT ?{name} {{ " + "?x :p :a . " * 500, sparql=True)


def test_a_flood_waits_behind_itself_and_texts_without_a_client_are_given_up() -> None:
    plans = Plans()

    async def body() -> None:
        turns = Parsing(plans, Limits()).turns
        turns.start()
        leaves = asyncio.Event()
        flood = [asyncio.create_task(turns.submit(long_text(f"a{i}"), Caller("flood"))) for i in range(FLOOD)]
        leaving = asyncio.create_task(turns.submit(long_text("gone"), Caller("other", leaves.wait)))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        short = asyncio.create_task(turns.submit(Asked("SELECT ?x {}", sparql=True), Caller("third")))
        async with asyncio.timeout(60):
            while not plans.begun:
                await asyncio.sleep(0.001)
            leaves.set()
            with pytest.raises(Problem, match="went away"):
                await leaving
            plans.free.set()
            await asyncio.gather(*flood, short, return_exceptions=True)
        refused = [task for task in flood if task.exception() is not None]
        assert refused, "one client does not get all of the room"
        for task in refused:
            error = task.exception()
            assert isinstance(error, Problem)
            assert (error.status, int(error.headers["Retry-After"]) > 0) == (503, True)
        await turns.stop()

    asyncio.run(body())
    assert plans.begun.index("SELECT ?x {}") <= 2, "short ones of others come first"
    assert long_text("gone").text not in plans.begun


def test_a_text_that_is_being_parsed_stops_when_its_client_goes() -> None:
    plans = Plans()

    async def body() -> None:
        turns = Parsing(plans, Limits()).turns
        turns.start()
        leaves = asyncio.Event()
        leaving = asyncio.create_task(turns.submit(long_text("gone"), Caller("one", leaves.wait)))  # type: ignore[arg-type]
        async with asyncio.timeout(60):
            while not plans.begun:
                await asyncio.sleep(0.001)
            leaves.set()
            with pytest.raises(Problem, match="went away"):
                await leaving
            while not plans.stopped:
                await asyncio.sleep(0.001)
        await turns.stop()

    asyncio.run(body())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("parsing") / "x.db", FAMILY, model="edge-type") as served:
        yield served


def test_long_texts_starve_nobody(server: Served) -> None:
    """Thirty at once are parsed or told when to come again; names, numbers and short questions are answered."""
    answers: list[tuple[int, str | None, float]] = []
    ask = "/query?" + urlencode({"query": "SELECT ?x { ?x :likes :Go }", "infer": "true"})
    assert server.get(ask)[0] == 200

    def send(number: int) -> None:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=300)
        began = time.monotonic()
        body = f"{LONG} # {number}".encode()
        connection.request("POST", "/query?infer=true", body, {"Content-Type": "application/sparql-query"})
        reply = connection.getresponse()
        answers.append((reply.status, reply.headers["Retry-After"], time.monotonic() - began))
        reply.read()
        connection.close()

    senders = [threading.Thread(target=send, args=(number,)) for number in range(FLOOD)]
    for sender in senders:
        sender.start()
    asked = []
    while any(sender.is_alive() for sender in senders):
        for address in ("/entities?search=a", "/metrics", ask.replace("Go", f"Go{'+' * len(asked)}")):
            status, body = server.get(address, 300)
            asked.append((address, status, body))
            time.sleep(0.05)
    assert [one for one in asked if one[1] != 200 and not (one[0].startswith("/query") and one[1] == 503)] == []
    questions = [status for address, status, _ in asked if address.startswith("/query")]
    assert questions.count(200) >= len(questions) / 2, "a busy machine may refuse some"
    assert len(answers) == FLOOD
    assert {status for status, _, _ in answers} <= {400, 503}
    assert all(int(after or 0) > 0 for status, after, _ in answers if status == 503)


@pytest.fixture
def many() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples([(f"e{i}", "next", f"e{i + 1}") for i in range(3000)])


def test_names_are_looked_at_one_by_one_only_as_far_as_that_is_bounded(
    many: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up, name = [], Names.name
    monkeypatch.setattr(Names, "name", lambda names, index: (looked_up.append(index), name(names, index))[1])
    every = catalogue.entities_like(many, "1", 1000)
    monkeypatch.setattr(catalogue, "MOST_RANKED", 40)
    looked_up.clear()
    few = catalogue.entities_like(many, "1", 20)
    assert len(looked_up) == 20
    assert few == every[:20]
    assert [one["name"] for one in every[:3]] == ["e1", "e10", "e11"]
    assert [one["name"] for one in catalogue.entities_like(many, "", 2)] == ["e1", "e2"]


def test_a_search_with_signs_of_patterns_is_plain_text(many: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "MOST_RANKED", 1)
    graph = KnowledgeGraph.from_triples([("a (b", "p", "x a (b"), ("a.b", "p", "a (b c")])
    assert [one["name"] for one in catalogue.entities_like(graph, "a (B", 5)] == ["a (b"]
    assert json.dumps(catalogue.relations_like(many, "NEXT", 5)).count("next") >= 1
