"""The first questions of a fresh process or server may come together: the parser is made ready by one of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from tests.attack.serving import served

ROUNDS = int(os.environ.get("UNSEEN_FRESH_PROCESSES", "3"))
SCRIPT = """
import json, sys, threading
from unseen.logic.sparql import parse_sparql

sys.setswitchinterval(1e-6)
texts = [
    "SELECT ?x { :a :p ?x }", "SELECT ?x { ?x :p/^:q :a FILTER NOT EXISTS { ?x :r 'b' } }",
    "PREFIX e: <urn:e:> SELECT ?x { { ?x e:p 1.5 } UNION { ?x e:q true } } LIMIT 3",
    "SELECT ?x { ?x :p [ :q :a ] ; :r :b , :c MINUS { ?x :s 'd'@en } }",
    "SELECT ?x { VALUES ?y { :a :b } ?y :p ?x }", "SELECT ?x { ?x :p 1 FILTER(?x != :a) }",
    "SELECT DISTINCT ?x { ?x (:p|:q)/:r :a }", "SELECT ?x { ?x a :b }",
]
gate = threading.Barrier(len(texts))
failures = []

def ask(number):
    gate.wait()
    for turn in range(3):
        text = texts[(number + turn) % len(texts)]
        try:
            parse_sparql(text + " " * number, {"turn": str(turn)})  # no text twice: the parser, not what it remembers
        except Exception as error:
            failures.append(f"{text}: {error!r}")

threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(texts))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps(failures))
"""


@pytest.mark.parametrize("number", range(ROUNDS))
def test_questions_that_come_together_to_a_fresh_process_are_all_understood(number: int) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == []


def test_predicted_questions_that_come_together_to_a_fresh_server_are_all_answered() -> None:
    countries = ("France", "Germany", "Spain", "Italy", "Poland", "Austria", "Belgium", "Norway")
    addresses = [
        f"/query?infer=true&query={quote(f'SELECT ?x {{ :{name} :borders/:speaks ?x FILTER(?x != :{name}) }}')}"
        for name in countries
    ]
    with served("countries") as server, ThreadPoolExecutor(len(addresses)) as threads:
        for _ in range(2):  # and every later one
            replies = list(threads.map(lambda address: server.send("GET", address), addresses))
            assert [status for status, _ in replies] == [200] * len(replies), replies
            assert all(json.loads(body)["results"]["bindings"] for _, body in replies)
