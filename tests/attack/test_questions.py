"""Hostile questions to every route that answers any: each is answered or refused, and holds up nobody.

`UNSEEN_HOSTILE_QUESTIONS=200` sends them all.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.attack.serving import SLACK, Served, served
from tests.server.running import wait_until
from unseen.database import Database

SENT = int(os.environ.get("UNSEEN_HOSTILE_QUESTIONS", "40"))
COUNT = 400
SLOW = "((a{0,1000}){0,1}b?){0,1}" + ".*" * 6 + "y"
CUBE = "?x, y, z : exists h . in(x, h) & in(y, h) & in(z, h)"
SQUARE = "?x, y : exists h . in(x, h) & in(y, h)"
WIDE = "?x : " + " | ".join(f"likes(x, n{i})" for i in range(600))
CLIQUE = "?a, b, c, d, e : " + " & ".join(f"likes({a}, {b})" for a in "abcde" for b in "abcde" if a < b)
TABLE = "SELECT ?x (COUNT(?y) AS ?n) { ?x :in ?h . ?y :in ?h . ?z :in ?h } GROUP BY ?x"
JOIN = "?x, y : in(x, hub) & in(y, hub) & note(x) = note(y)"
QUESTIONS = {
    "square": SQUARE,
    "cube": CUBE,
    "clique": CLIQUE,
    "wide": WIDE,
    "table": TABLE,
    "texts": JOIN,
    "regular expression": f'?x : in(x, hub) & note(x) ~ "{SLOW}"',
    "large expression": '?x : in(x, hub) & note(x) ~ "' + "(a?){1000}" * 50 + '"',
    "steps": "?x : next+(c0, x)",
    "all steps": "?x, y : next+(x, y)",
    "number": "?x : in(x, hub) & age(x) > 1e999999",
    "year": f"?x : in(x, hub) & age(x) < {'9' * 5000}-01-01",
    "brackets": "?x : " + "(" * 5000 + "in(x, hub)" + ")" * 5000,
    "differences": "?x : in(x, hub) & " + " & ".join(f"x != n{i}" for i in range(COUNT)),
    "half a pair": "?x : likes(x, \ud800)",
    "zeros": "?x : likes(x, \0)",
    "bind": "SELECT ?x ?k { ?x :in :hub BIND(REPLACE(STR(?x), '.*', '" + "b" * 5000 + "') AS ?k) }",
}
WORST = ("texts", "regular expression")
"""Held a server for minutes, or took all of its memory, once."""
STATEMENTS: dict[str, list[object]] = {
    "triples": [[f"n{i}", "likes", "n0"] for i in range(1000)],
    "cycles": ["exists a, b, c . likes(a, b) & likes(b, c) & likes(c, a)"] * 1000,
    "steps": [f"next+(c{i}, c{i + 50})" for i in range(300)],
    "SPARQL": ["ASK { " + " ".join(f"?a{i} :likes ?a{i + 1} ." for i in range(40)) + " }"] * 40,
    "signs": ["!" * 50_000 + "likes(n1, n2)"],
}
Sent = tuple[str, str, bytes | None]


def requests() -> Iterator[Sent]:
    """Every question by every route that takes one."""
    for text in QUESTIONS.values():
        for wishes in (
            {"top": 1000},
            {"exact": True, "explain": True},
            {"order_by": "age desc", "predict_values": True},
        ):
            yield "POST", "/ask", json.dumps({"question": text, **wishes}).encode()
        address = urlencode({"question": text, "top": 1000}, errors="surrogatepass")
        for view in ("/ask.json", "/why.json", "/ask.csv", "/ask.parquet", "/change.json"):
            if len(address) < 20_000:
                yield "GET", f"{view}?{address}", None
    for statements in STATEMENTS.values():
        for explain in (False, True):
            yield "POST", "/score", json.dumps({"statements": statements, "explain": explain}).encode()
    yield "POST", "/ask", json.dumps({"question": SQUARE, "order_by": "age, " * 8000}).encode()
    yield "GET", f"/query?{urlencode({'query': TABLE, 'infer': 'true'})}", None
    yield "GET", "/entity.json?name=hub&predict=20", None
    yield "GET", "/entities?limit=1000", None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path, chance = Path(tmp_path_factory.mktemp("questions")) / "x.db", random.Random(7)
    with Database.create(path) as database:
        database.add([(f"c{i}", "next", f"c{i + 1}") for i in range(2000)])
        database.add([(f"n{i}", "in", "hub") for i in range(COUNT)])
        database.add([(f"n{i}", "likes", f"n{chance.randrange(COUNT)}") for i in range(COUNT) for _ in range(4)])
    with served(path, "--time-limit", "0.5") as made:
        rows = [f":n{i} :note '{'a' * 20_000}{i}' ; :age {i} ." for i in range(COUNT)]
        for start in range(0, COUNT, 100):
            text = f"INSERT DATA {{ {' '.join(rows[start : start + 100])} }}"
            wait_until(lambda text=text: made.ask("/update", text)[0] == 204)  # type: ignore[misc]
        wait_until(lambda: json.loads(made.send("GET", "/healthz")[1]).get("ready", False))
        yield made


def test_hostile_questions_are_answered_or_refused_and_hold_up_nobody(server: Served) -> None:
    every = list(requests())
    worst = [("POST", "/ask", json.dumps({"question": QUESTIONS[name]}).encode()) for name in WORST]
    for method, address, body in [*worst, *every[:: max(1, len(every) // SENT)]]:
        status, reply = server.send(method, address, body, "application/json" if body else "")
        assert status in (200, 400, 422, 503, 504), (status, address[:200], (body or b"")[:200], reply[:300])
    asked = json.dumps({"question": "?x : likes(n1, x)"}).encode()
    wait_until(lambda: server.send("POST", "/ask", asked, "application/json")[0] == 200)
    assert max(server.health) < 0.2 + SLACK
    assert server.failed == []
    assert server.most_memory < 2 << 30
