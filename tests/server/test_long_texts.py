"""Long texts wait for each other; nobody else waits for them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import quote

from unseen.server import sparql_protocol

if TYPE_CHECKING:
    import pytest

    from tests.server.running import Running

SPARQL = {"Content-Type": "application/sparql-query"}
LONG = "ASK { " + "# long " * 5_000 + "\n }"
SHORT = "SELECT ?x { <urn:unseen:Ada> <urn:unseen:parent> ?x }"


def test_a_predicted_question_is_answered_while_long_texts_are_read(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, original = threading.Event(), sparql_protocol.clauses_of

    def held(text: str) -> object:
        if len(text) > 1000:
            go_on.wait(50)
        return original(text)

    monkeypatch.setattr(sparql_protocol, "clauses_of", held)
    with ThreadPoolExecutor(8) as pool:
        held_up = [pool.submit(server.send, "POST", "/query", LONG, SPARQL) for _ in range(8)]
        try:
            assert server.send("GET", f"/query?infer=true&query={quote(SHORT)}").status == 200
            assert server.send("GET", f"/query?query={quote(SHORT)}").status == 200
        finally:
            go_on.set()
        assert {future.result().status for future in held_up} == {200}
