"""Replicas: no answer is stale, none is lost when a process dies, and none is computed for nobody.

`UNSEEN_REPLICA_REQUESTS` sets how many reads and writes are mixed; the full size is 1,000.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.attack.serving import served
from tests.conftest import FAMILY
from tests.server.held_method import ENTERED, HOLD, NAME
from tests.server.running import JSON, Reply, Running, running, wait_until
from unseen.database import Database
from unseen.database.graph_steps import MOST_STEPS
from unseen.logic.stopping import checked_by
from unseen.server.predicting import Asked, Predictor
from unseen.server.replicas.feed import GraphFeed
from unseen.server.replicas.replica import Replica, ReplicaSettings
from unseen.server.server_settings import Limits, ServerSettings

REQUESTS = int(os.environ.get("UNSEEN_REPLICA_REQUESTS", "120"))
CLIENTS = 4
QUESTION = "?x : likes(x, Go)"


@pytest.fixture
def replicated(tmp_path: Path) -> Iterator[Running]:
    settings = ServerSettings(port=0, model="edge-type", replicas=2)
    with running(tmp_path / "family.db", FAMILY, settings) as server:
        wait_until(lambda: number_of(server, "replicas_ready") == 2, 120)
        yield server


def number_of(server: Running, name: str) -> float:
    found = re.search(rf"^unseen_{name} (\S+)$", server.send("GET", "/metrics").text, re.MULTILINE)
    assert found is not None, name
    return float(found[1])


def replicas_of(server: int | None = None) -> list[int]:
    """The replica processes of a server, by default of this process."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1] if words else ""
        except OSError:
            continue
        if b"replica" in words and parent == str(server or os.getpid()):
            found.append(int(folder.name))
    return found


def known_in(reply: Reply) -> set[str]:
    assert reply.status == 200, reply.text
    return {answer["entity"] for answer in reply.json["answers"] if answer["known"]}


def test_answers_after_a_write_have_seen_it_whoever_gives_them(replicated: Running) -> None:
    """Each client writes facts of its own, and expects exactly those in the very next answer."""
    entered: Counter[str] = Counter()

    def mixed(client: int) -> None:
        dice, there = random.Random(client), set[str]()
        for step in range(REQUESTS // CLIENTS // 2):
            added = not there or dice.random() < 0.7
            name = f"thing {client}-{step}" if added else dice.choice(sorted(there))
            sent = {"triples": [[f"client {client}", "owns", name]]}
            reply = replicated.send("POST" if added else "DELETE", "/triples", json.dumps(sent), JSON)
            assert reply.status == 200, reply.text
            there = there | {name} if added else there - {name}
            kind = dice.choice(("ask", "predicted", "sparql", "score"))
            entered[kind] += 1
            check_seen(kind, client, name, there)

    def check_seen(kind: str, client: int, name: str, there: set[str]) -> None:
        if kind == "score":
            statement = [f"client {client}", "owns", name]
            found = replicated.post("/score", {"statements": [statement]}).json["scores"][0]
            assert found["known"] == (name in there)
        elif kind == "sparql":
            text = quote(f"SELECT ?x ?known {{ <urn:unseen:client%20{client}> :owns ?x }} LIMIT 1000")
            rows = replicated.send("GET", f"/query?infer=true&query={text}").json["results"]["bindings"]
            assert sum(row["known"]["value"] == "true" for row in rows) == len(there)
        else:
            exact = {} if kind == "predicted" else {"exact": True}
            question = f'?x : owns("client {client}", x)'
            assert known_in(replicated.ask(question, top=1000, **exact)) == there

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(mixed, range(CLIENTS)))
    assert sum(entered.values()) * 2 >= REQUESTS - 2 * CLIENTS


def test_bulk_changes_are_seen_too(replicated: Running) -> None:
    document = "".join(f"<urn:a:{n}> <urn:unseen:likes> <urn:unseen:Go> .\n" for n in range(50))
    assert replicated.send("POST", "/store?default", document, {"Content-Type": "application/n-triples"}).status < 300
    assert [len(known_in(replicated.ask(QUESTION, top=1000))) for _ in range(4)] == [52] * 4
    assert replicated.update("CLEAR DEFAULT").status < 300
    assert replicated.update("INSERT DATA { :Ada :likes :Go }").status < 300
    assert [known_in(replicated.ask(QUESTION)) for _ in range(4)] == [{"Ada"}] * 4


def test_a_replica_that_lags_by_many_states_of_the_graph_begins_anew(replicated: Running) -> None:
    """Every state is made because somebody looks at it, and no replica is asked meanwhile."""
    for number in range(MOST_STEPS + 10):
        assert replicated.post("/triples", {"triples": [[f"late {number}", "likes", "Go"]]}).status == 200
        assert replicated.send("GET", f"/entities?search=late%20{number}").json["entities"]
    wanted = {"Ada", "Emil"} | {f"late {number}" for number in range(MOST_STEPS + 10)}
    assert [known_in(replicated.ask(QUESTION, top=1000)) for _ in range(3)] == [wanted] * 3


def test_replicas_say_what_the_server_itself_would_say(replicated: Running, tmp_path: Path) -> None:
    asked = [
        {"question": "?x : likes(Ada, x)", "explain": True},
        {"question": "?x, ?y : parent(x, y) & likes(y, Chess)", "top": 5},
        {"question": "?x : exists y . parent(y, x) & !likes(x, Go)", "all_predictions": True},
        {"question": "count x : likes(x, Go)"},
        {"question": "?x : liks(Ada, x)"},
        {"question": "?x : likes(Eda, x)", "explain": True},
    ]
    stated = {"statements": ["likes(Ada, Chess)", ["Ada", "likes", "Go"], "likes(Nobody, Go)"], "explain": True}
    with running(tmp_path / "other.db", FAMILY) as plain:
        for one in asked:
            assert replicated.post("/ask", one).json == plain.post("/ask", one).json
        assert replicated.post("/score", stated).json == plain.post("/score", stated).json


def test_a_replica_that_dies_is_replaced_and_no_question_is_lost(replicated: Running) -> None:
    before, statuses, done = replicas_of(), Counter[int](), threading.Event()

    def ask() -> None:
        while not done.is_set():
            reply = replicated.ask(QUESTION)
            statuses[reply.status] += 1
            if reply.status == 503:
                assert int(reply.headers["retry-after"]) > 0
            else:
                assert known_in(reply) == {"Ada", "Emil"}

    assert len(before) == 2
    with ThreadPoolExecutor(CLIENTS) as pool:
        asking = [pool.submit(ask) for _ in range(CLIENTS)]
        try:
            os.kill(before[0], signal.SIGKILL)
            wait_until(lambda: set(replicas_of()) - set(before) != set(), 60)
            wait_until(lambda: number_of(replicated, "replicas_ready") == 2, 120)
        finally:
            done.set()
        for one in asking:
            one.result()
    assert set(statuses) <= {200, 503}
    assert statuses[200] > 0
    assert before[0] not in replicas_of()


def test_with_all_replicas_dead_questions_wait_or_are_refused_and_exact_queries_go_on(replicated: Running) -> None:
    for pid in replicas_of():
        os.kill(pid, signal.SIGKILL)
    assert replicated.query("ASK { :Ada :likes :Go }").status == 200
    reply = replicated.ask(QUESTION)
    assert reply.status in (200, 503)
    assert reply.status == 200 or "retry-after" in reply.headers
    wait_until(lambda: number_of(replicated, "replicas_ready") == 2, 120)
    assert known_in(replicated.ask(QUESTION)) == {"Ada", "Emil"}


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Running, Path, Path]]:
    """A server with one replica that waits while a file is there, which is not there yet."""
    hold, entered = tmp_path / "hold", tmp_path / "entered"
    entered.touch()
    monkeypatch.setenv(HOLD, str(hold))
    monkeypatch.setenv(ENTERED, str(entered))
    settings = ServerSettings(port=0, model=NAME, replicas=1, limits=Limits(seconds=5.0))
    with running(tmp_path / "family.db", FAMILY, settings) as server:
        wait_until(lambda: number_of(server, "replicas_ready") == 1, 120)
        yield server, hold, entered
        hold.unlink(missing_ok=True)


def test_a_call_that_nobody_waits_for_stops_in_the_replica(held: tuple[Running, Path, Path]) -> None:
    server, hold, entered = held
    before = replicas_of()
    hold.touch()
    connection = HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/ask", json.dumps({"question": QUESTION}), JSON)
    wait_until(lambda: entered.read_text() != "")
    connection.close()
    wait_until(lambda: "unseen_model_calls_stopped_total 1" in server.send("GET", "/metrics").text)
    hold.unlink()
    assert known_in(server.ask(QUESTION)) == {"Ada", "Emil"}
    assert replicas_of() == before


def test_a_quick_call_and_a_write_pass_in_the_middle_of_a_long_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, entered = tmp_path / "hold", tmp_path / "entered"
    entered.touch()
    monkeypatch.setenv(HOLD, str(hold))
    monkeypatch.setenv(ENTERED, str(entered))
    with Database.create(tmp_path / "family.db") as database:
        database.add(FAMILY)
        predictor = Predictor(database, NAME)
        own = ReplicaSettings(ServerSettings(port=0, model=NAME), threads=1)
        replica = Replica(database, GraphFeed(database, tmp_path), predictor, own, threading.Lock())
        quick: list[object] = []

        def pass_by() -> None:
            if entered.read_text() and not quick:
                database.add([("Zoe", "likes", "Go")])
                quick.append(None)
                quick[0] = replica.answer_all([predictor.plan(Asked(QUESTION, exact=True))])[0]
                hold.unlink()

        try:
            replica.measure()
            hold.touch()
            with checked_by(pass_by):
                (long,) = replica.answer_all([predictor.plan(Asked(QUESTION))])
        finally:
            replica.close()
            wait_until(lambda: not replica.is_running)
    found = [{answer.entity for answer in one if answer.known} for one in (quick[0], long)]  # type: ignore[attr-defined]
    assert found == [{"Ada", "Emil", "Zoe"}, {"Ada", "Emil"}]


def test_the_time_limit_counts_in_a_replica(held: tuple[Running, Path, Path]) -> None:
    server, hold, _ = held
    hold.touch()
    assert server.ask(QUESTION).status == 504
    hold.unlink()
    wait_until(lambda: server.ask(QUESTION).status == 200)  # at first it counts as a slow one


def test_a_question_that_ends_each_replica_is_refused_with_the_time_to_come_again(
    held: tuple[Running, Path, Path],
) -> None:
    server, hold, entered = held
    hold.touch()
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(server.ask, QUESTION)
        wait_until(lambda: entered.read_text() != "")
        os.kill(int(entered.read_text()), signal.SIGKILL)
        reply = asking.result()
    assert reply.status in (503, 504)  # it waited for the next process, which is held when it is measured
    assert reply.status == 504 or int(reply.headers["retry-after"]) > 0
    hold.unlink()
    wait_until(lambda: number_of(server, "replicas_ready") == 1, 120)
    assert server.ask(QUESTION).status == 200


def test_a_server_that_is_stopped_while_replicas_start_ends_soon() -> None:
    with served("countries", "--replicas", "2") as server:
        processes = server.processes()
        os.kill(server.pid, signal.SIGTERM)
        wait_until(lambda: not any(map(is_running, [*processes, *replicas_of(server.pid)])), 20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_however_the_server_ends(number: signal.Signals) -> None:
    with served("countries", "--replicas", "2") as server:
        wait_until(lambda: len(replicas_of(server.pid)) >= 1, 60)
        assert server.send(
            "POST", "/ask", json.dumps({"question": "?x : borders(France, x)"}).encode(), "application/json"
        )
        processes = server.processes()
        os.kill(server.pid, number)
        wait_until(lambda: not any(map(is_running, processes[1:])), 60)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
