"""Queries that do not end hold their threads, and nothing else."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import FAMILY
from tests.server.running import running, wait_until
from unseen.database import Database, exact
from unseen.server.problems import Problem
from unseen.server.settings import Limits, ServerSettings
from unseen.server.workers import Workers

ENDLESS = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(14)) + " }"


def test_a_write_that_does_not_begin_in_time_is_turned_away_and_one_that_has_begun_ends() -> None:
    async def run() -> None:
        free, done = threading.Event(), []
        workers = Workers("test", threads=1)
        first = asyncio.create_task(workers.run_to_the_end(lambda: free.wait(10), 0.05))
        late = asyncio.create_task(workers.run_to_the_end(lambda: done.append(1), 0.05))
        with pytest.raises(Problem) as caught:
            await late
        assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "1"})
        free.set()
        assert await first
        await workers.drain()
        assert (done, workers.inside) == ([], 0)

    asyncio.run(run())


def test_threads_that_are_all_held_are_said_and_questions_are_answered_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()
    monkeypatch.setattr(exact, "query", lambda *_, **__: free.wait(30))
    monkeypatch.setattr("unseen.server.workers.os.cpu_count", lambda: -2)
    limits = Limits(seconds=0.3)
    with running(tmp_path / "x.db", FAMILY, ServerSettings(port=0, model="edge-type", limits=limits)) as server:
        try:
            assert server.send("GET", "/healthz").status == 200
            assert [server.query("ASK {}").status for _ in range(2)] == [504, 504]
            began = time.monotonic()
            refused = server.query("ASK {}")
            assert (refused.status, refused.headers["retry-after"]) == (503, "10")
            assert time.monotonic() - began < 0.25
            assert server.send("GET", "/healthz").error["code"] == "busy"
            assert server.send("GET", "/entities?search=A").status == 200
            assert server.query("SELECT ?x { ?x :likes :Go }", infer="true").status == 200
            assert "unseen_exact_queries_abandoned 2" in server.send("GET", "/metrics").text
        finally:
            free.set()
        wait_until(lambda: server.send("GET", "/healthz").status == 200)


SCRIPT = """
import sys
from unseen.cli import serve
from unseen.database import Database
from unseen.server import run
from unseen.server.settings import Limits, ServerSettings

def ready(port):
    print(port, flush=True)

settings = ServerSettings(port=0, model="edge-type", limits=Limits(seconds=0.3), shutdown_seconds=1)
run.serve(Database(sys.argv[1]), settings, quiet=True, ready=ready)
run.leave_if_stuck()
"""


def test_a_query_without_end_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    from http.client import HTTPConnection
    from urllib.parse import quote

    with Database.create(tmp_path / "x.db") as database:
        database.add([(f"e{i}", "r", f"e{i + 1}") for i in range(200)])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "x.db")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        connection = HTTPConnection("127.0.0.1", int(process.stdout.readline()), timeout=30)
        connection.request("GET", f"/query?query={quote(ENDLESS)}")
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 504
        body = "INSERT DATA { <urn:unseen:a> <urn:unseen:b> <urn:unseen:c> }"
        connection.request("POST", "/update", body, {"Content-Type": "application/sparql-update"})
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 204
        connection.close()
        process.terminate()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
    with Database(tmp_path / "x.db") as again:
        assert again.graph.num_triples == 201
