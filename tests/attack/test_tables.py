"""Tables with many rows and columns: what is computed for them holds up nobody, and ends with its request."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.attack.serving import SLACK, Served, served
from tests.conftest import FAMILY
from tests.server.running import running, wait_until
from unseen.asking.solution_tables import grouping, solving
from unseen.logic.stopping import check_stop
from unseen.server.server_settings import Limits, ServerSettings
from unseen.server.workers import THREADS

COUNTED = "SELECT ?y (COUNT(?x) AS ?n) { ?x :likes ?y } GROUP BY ?y"


@pytest.fixture(scope="module")
def countries() -> Iterator[Served]:
    with served("countries", "--time-limit", "20") as server:
        yield server


def predicted(server: Served, text: str) -> int:
    return server.send("POST", "/query?infer=true", text.encode(), "application/sparql-query")[0]


def test_a_table_of_many_columns_holds_up_nobody(countries: Served) -> None:
    assert predicted(countries, COUNTED.replace("likes", "borders")) == 200  # all is compiled
    countries.health.clear()
    counts = " ".join(f"(COUNT(DISTINCT ?x) AS ?n{number})" for number in range(100))
    text = f"SELECT ?y {counts} {{ ?x :borders ?y }} GROUP BY ?y LIMIT 64"
    assert predicted(countries, text) == 200
    assert countries.failed == []
    assert max(countries.health) < 1 + SLACK


def test_no_step_to_a_table_is_taken_where_all_requests_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noted(original: Callable[..., object]) -> Callable[..., object]:
        return lambda *given: (seen.append(threading.current_thread().name), original(*given))[1]

    monkeypatch.setattr(solving, "shown", noted(solving.shown))
    monkeypatch.setattr(grouping, "_known", noted(grouping._known))
    with running(tmp_path / "x.db", FAMILY) as server:
        assert server.query(COUNTED, infer="true").status == 200
    assert len(seen) == 2
    assert all(name.startswith(f"{THREADS}tables") for name in seen)


@pytest.mark.parametrize("is_abandoned", [True, False])
def test_a_table_ends_with_its_time_or_its_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_abandoned: bool
) -> None:
    began, ended = threading.Event(), threading.Event()

    def endless(*_: object) -> None:
        began.set()
        try:
            while True:
                check_stop()
        finally:
            ended.set()

    monkeypatch.setattr(grouping, "_row", endless)
    limits = Limits(seconds=60.0 if is_abandoned else 2.0)
    with running(tmp_path / "x.db", FAMILY, ServerSettings(port=0, model="edge-type", limits=limits)) as server:
        if is_abandoned:
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                address = f"/query?infer=true&query={quote(COUNTED)}"
                client.sendall(f"GET {address} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                assert began.wait(60)
        else:
            assert server.query(COUNTED, infer="true").status == 504
        assert ended.wait(30)
        monkeypatch.undo()
        wait_until(lambda: server.query(COUNTED, infer="true").status == 200)
