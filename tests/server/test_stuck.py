"""What a query or an update does to the engine stays there: limits end it, and the server goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from tests.conftest import FAMILY
from tests.server.running import Running, readers_of, running, wait_until
from unseen.database import Database
from unseen.database.engine.limits import EngineLimits
from unseen.database.engine.process import Child
from unseen.server import exact_answers
from unseen.server.problems import Problem
from unseen.server.server_settings import Limits, ServerSettings
from unseen.server.spool import CHUNK
from unseen.server.workers import WorkerThreads

ENDLESS = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(14)) + " }"
HUGE = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?a ?d ?l LIMIT 1"


def settings(seconds: float = 30.0, megabytes: int = 64, **limits: int) -> ServerSettings:
    engine = EngineLimits(megabytes=megabytes)
    return ServerSettings(port=0, model="edge-type", limits=Limits(seconds=seconds, **limits), engine=engine)


def test_a_write_that_does_not_begin_in_time_is_turned_away_and_one_that_has_begun_ends() -> None:
    async def run() -> None:
        free, done = threading.Event(), []
        workers = WorkerThreads("test", threads=1)
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


def test_a_query_over_its_time_stops_computing(tmp_path: Path) -> None:
    with running(tmp_path / "x.db", FAMILY, settings(seconds=0.5)) as server:
        readers = set[int]()
        wait_until(lambda: server.query("ASK {}").status == 200)
        with ThreadPoolExecutor(1) as thread:
            reply = thread.submit(server.query, ENDLESS)
            while not reply.done():
                readers |= set(readers_of(server))
        assert reply.result().error["code"] == "time_limit"
        wait_until(lambda: not readers <= set(readers_of(server)))  # the one that computed has ended
        assert "unseen_exact_queries 0" in server.send("GET", "/metrics").text
        assert server.query("ASK { ?s ?p ?o }").json["boolean"]


def test_a_query_over_its_memory_is_told_so_and_the_next_one_is_answered(tmp_path: Path) -> None:
    triples = [(f"e{i}", "r", f"e{i + 1}") for i in range(100)]
    with running(tmp_path / "x.db", triples, settings()) as server:
        error = server.query(HUGE).error
        assert error["code"] == "memory_limit"
        assert "64 MB" in error["message"]
        assert server.query("ASK { ?s ?p ?o }").json["boolean"]


def test_a_query_too_deep_for_the_engine_is_told_so(server: Running) -> None:
    """No text is known that passes the guard and overflows the engine's stack, so the signal is sent from here."""
    wait_until(lambda: server.query("ASK {}").status == 200)
    with ThreadPoolExecutor(1) as thread:
        reply = thread.submit(server.query, ENDLESS)
        wait_until(lambda: "unseen_exact_queries 1" in server.send("GET", "/metrics").text)
        while not reply.done():
            for pid in readers_of(server):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSEGV)
            time.sleep(3)  # which leaves new ones the time to begin
        assert reply.result().error["reason"] == "it is nested too deeply for the engine"
    wait_until(lambda: server.query("ASK { ?s ?p ?o }").status == 200)
    assert server.query("ASK { ?s ?p ?o }").json["boolean"]


@pytest.mark.parametrize("sign", ["!", "-", "+ "])
def test_a_long_row_of_signs_is_refused_before_it_reaches_the_engine(server: Running, sign: str) -> None:
    for address, kind, text in [
        ("/query", "query", "ASK{{FILTER({}?a)}}"),
        ("/update", "update", "DELETE{{}}WHERE{{FILTER({}?a)}}"),
    ]:
        body = text.format(sign * 400_000)
        error = server.send("POST", address, body, {"Content-Type": f"application/sparql-{kind}"}).error
        assert error["reason"] == "it is nested deeper than 100 levels"
    assert "unseen_exact_queries_ended_nesting 0" in server.send("GET", "/metrics").text


def test_an_update_that_takes_long_to_plan_never_reaches_the_writer(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_answers, "PLANNING", 0.3)
    for text in ("DELETE WHERE { %s }", "INSERT DATA { :a :b :c } ; INSERT { :a :b :d } WHERE { %s }"):
        error = server.update(text % ("?s a ?o." * 600)).error
        assert (error["code"], "seconds to plan" in error["message"]) == ("refused", True)
    assert "unseen_writer_starts 1" in server.send("GET", "/metrics").text
    assert not server.query("ASK { :a :b ?o }").json["boolean"]


def test_whatever_ends_a_query_is_told_as_its_reason(tmp_path: Path) -> None:
    with running(tmp_path / "x.db", FAMILY, settings(seconds=0.5)) as server:
        assert server.query(ENDLESS).error["reason"] == "it took longer than 0.5 seconds"
    triples = [(f"e{i}", "r", f"e{i + 1}") for i in range(100)]
    with running(tmp_path / "y.db", triples, settings()) as server:
        assert server.query(HUGE).error["reason"] == "it needs more than 64 MB of memory"


def test_who_waits_for_a_reader_is_told_when_none_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_kind: str, _settings: object) -> Child:
        return real("nothing that there is", {})

    real = Child.start
    monkeypatch.setattr("unseen.server.reader_pool.Child", SimpleNamespace(start=broken))
    with running(tmp_path / "x.db", FAMILY, settings()) as server:
        reply = server.query("ASK {}")
        assert (reply.status, reply.headers["retry-after"]) == (503, "10")
        assert server.send("GET", "/healthz").status == 503
        monkeypatch.undo()
        wait_until(lambda: server.query("ASK {}").status == 200)


def test_an_engine_that_is_killed_is_started_again_and_every_write_is_there(server: Running) -> None:
    for number in range(3):
        for pid in _children():
            os.kill(pid, signal.SIGKILL)
        fact = [[f"Gus{number}", "likes", "Go"]]
        assert server.post("/triples", {"triples": fact}).json == {"added": 1, "unchanged": 0}
        wait_until(lambda: server.query("ASK { ?s ?p ?o }").status == 200)
    found = server.query("SELECT ?x { ?x :likes :Go }", {"Accept": "text/csv"}).text
    assert all(f"Gus{number}" in found for number in range(3))


def test_a_read_after_an_acknowledged_write_sees_it(server: Running) -> None:
    for number in range(20):
        assert server.update(f"INSERT DATA {{ :n{number} :likes :Go }}").status == 204
        assert server.query(f"ASK {{ :n{number} :likes :Go }}").json["boolean"]
    wait_until(lambda: len(list((server.database.path / "serving").glob("checkpoint-*"))) == 1)


def test_large_results_wait_on_disk_and_are_sent_as_they_are_read(tmp_path: Path) -> None:
    triples = [(f"a{i}", "r", f"b{i}") for i in range(6000)]
    with running(tmp_path / "x.db", triples, settings(spool_bytes=1 << 20)) as server:
        address = f"/query?query={quote('SELECT * { ?s ?p ?o }')}"
        whole = server.send("GET", address, None, {"Accept": "text/csv"})
        assert len(whole.body) == int(whole.headers["content-length"]) > 2 * CHUNK
        assert whole.text.count("\n") == 6001
        assert len(server.send("GET", "/store?default").body) > CHUNK
        assert not list((tmp_path / "x.db" / "serving").glob("result-*"))
        assert server.query("SELECT * { ?s ?p ?o . ?a ?b ?s2 } LIMIT 20000").status == 503  # no room for it
        assert "unseen_exact_result_bytes_held 0" in server.send("GET", "/metrics").text
    assert not (tmp_path / "x.db" / "serving").exists()


SCRIPT = """
import sys
from unseen.database import Database
from unseen.database.engine.process_triples import ProcessTriples
from unseen.server import run
from unseen.server.server_settings import Limits, ServerSettings

def ready(port):
    print(port, flush=True)

settings = ServerSettings(port=0, model="edge-type", limits=Limits(seconds=30), shutdown_seconds=1)
run.serve(Database(sys.argv[1], ProcessTriples), settings, quiet=True, ready=ready)
"""


def test_a_query_without_end_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    with Database.create(tmp_path / "x.db") as database:
        database.add([(f"e{i}", "r", f"e{i + 1}") for i in range(200)])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "x.db")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        held = HTTPConnection("127.0.0.1", port, timeout=30)
        held.request("GET", f"/query?query={quote(ENDLESS)}")
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        body = "INSERT DATA { <urn:unseen:a> <urn:unseen:b> <urn:unseen:c> }"
        connection.request("POST", "/update", body, {"Content-Type": "application/sparql-update"})
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 204
        connection.close()
        process.terminate()
        assert process.wait(30) == 0
        held.close()
    finally:
        process.kill()
        process.communicate()
    with Database(tmp_path / "x.db") as again:
        assert again.graph.num_triples == 201


def _children() -> list[int]:
    """The processes that this one has started and that run."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                found.append(int(folder.name))
    return found
