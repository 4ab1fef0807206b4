"""Exact queries beside writes: every acknowledged write is seen, whichever reader answers, and no answer goes back."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Thread

from tests.server.running import Reply, Running, readers_of, wait_until


def number_of(server: Running, name: str) -> int:
    lines = server.send("GET", "/metrics").text.splitlines()
    return int(float(next(line for line in lines if line.startswith(f"unseen_{name} ")).split()[-1]))


def patiently(send: Callable[[], Reply]) -> Reply:
    """The reply to a request that comes again when it is told to, as it is on a starved machine: nothing was done."""
    for _ in range(20):
        reply = send()
        if reply.status != 503:
            break
        time.sleep(0.5)
    return reply


def is_there(server: Running, statement: str) -> bool:
    reply = patiently(lambda: server.query(f"ASK {{ {statement} }}"))
    assert reply.status == 200, reply.text
    found: bool = reply.json["boolean"]
    return found


def change(server: Running, text: str) -> None:
    reply = patiently(lambda: server.update(text))
    assert reply.status == 204, reply.text


def write_and_read_back(server: Running, writer: int, number: int) -> list[str]:
    """Write in one of the ways there are, and look at once; what was wrong."""
    name, wrong = f"w{writer}n{number}", []
    where = f":{name} :likes :Go"
    match number % 4:
        case 0:
            facts = {"triples": [[name, "likes", "Go"]]}
            assert patiently(lambda: server.post("/triples", facts)).json["added"] == 1
        case 1 | 2:
            change(server, f"INSERT DATA {{ {where} }}")
        case 3:
            where = f"GRAPH :g{writer} {{ :{name} :likes :Go }}"
            change(server, f"INSERT DATA {{ {where} . }} ; INSERT DATA {{ :{name} :likes :Go }}")
    if not is_there(server, where):
        wrong.append(f"{name} is not in /query")
    asked = patiently(lambda: server.ask(f"?x : likes({name}, x)", exact=True))
    if asked.status != 200 or "Go" not in asked.text:
        wrong.append(f"{name} is not in /ask: {asked.text[:300]}")
    if number % 4 == 2:
        change(server, f"DELETE DATA {{ {where} }}")
        if is_there(server, where):
            wrong.append(f"{name} is still there")
    return wrong


def test_in_a_storm_of_writes_each_writer_finds_its_own_at_once(server: Running) -> None:
    def write(writer: int) -> list[str]:
        return [fault for number in range(8) for fault in write_and_read_back(server, writer, number)]

    with ThreadPoolExecutor(4) as threads:
        assert [fault for faults in threads.map(write, range(4)) for fault in faults] == []
    assert server.query("SELECT ?x { ?x :likes :Go }", {"Accept": "text/csv"}).text.count(":w") == 4 * 6


def test_small_changes_need_no_new_checkpoint_and_no_new_reader(server: Running) -> None:
    assert not is_there(server, ":gus :likes :Go")
    made, started = number_of(server, "exact_checkpoints"), number_of(server, "exact_readers_started")
    for number in range(12):
        server.post("/triples", {"triples": [[f"gus{number}", "likes", "Go"]]})
        assert is_there(server, f":gus{number} :likes :Go")
        assert server.update(f"DELETE DATA {{ :gus{number} :likes :Go }}").status == 204
        assert not is_there(server, f":gus{number} :likes :Go")
    assert (number_of(server, "exact_checkpoints"), number_of(server, "exact_readers_started")) == (made, started)


def test_a_prefix_that_the_graph_gets_by_a_write_needs_no_declaration(server: Running) -> None:
    assert not is_there(server, ":gus :likes :Go")
    things = [f"http://example.org/things#{number}" for number in range(100)]
    server.post("/triples", {"triples": [[thing, "likes", "Go"] for thing in things]})
    assert server.ask("?x : likes(x, Go)", exact=True).status == 200  # makes the graph
    prefix = next(prefix for prefix, iri in server.database.prefixes.items() if iri == "http://example.org/things#")
    assert is_there(server, f"{prefix}:7 :likes :Go")


def test_no_answer_is_older_than_one_that_was_seen_before(server: Running) -> None:
    server.post("/triples", {"triples": [["counter", "reached", "n0"]]})
    stop, faults = Event(), []

    def highest(text: str) -> int:
        return max(int(word.partition('"')[0].partition("\r")[0]) for word in text.split(":n")[1:])

    def read() -> None:
        before = 0
        while not stop.is_set():
            exact = highest(server.query("SELECT ?x { :counter :reached ?x }", {"Accept": "text/csv"}).text)
            asked = server.ask("?x : reached(counter, x)", exact=True, top=1000).json["answers"]
            shown = max(int(answer["entity"][1:]) for answer in asked)
            if not before <= exact <= shown:
                faults.append((before, exact, shown))
            before = shown

    readers = [Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for number in range(1, 30):
            if number % 3:
                assert server.update(f"INSERT DATA {{ :counter :reached :n{number} }}").status == 204
            elif number % 2:
                server.post("/triples", {"triples": [["counter", "reached", f"n{number}"]]})
            else:
                both = f"INSERT DATA {{ GRAPH :g {{ :a :b :n{number} }} :counter :reached :n{number} }}"
                assert server.update(both).status == 204
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert faults == []


def test_readers_that_die_with_a_change_on_its_way_are_replaced_by_ones_that_have_it(server: Running) -> None:
    assert not is_there(server, ":gus0 :likes :Go")
    for number in range(3):
        wait_until(lambda: len(readers_of(server)) >= 3)
        stopped = readers_of(server)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        server.post("/triples", {"triples": [[f"gus{number}", "likes", "Go"]]})
        with ThreadPoolExecutor(1) as thread:  # the change and the query wait in the connection of a stopped reader
            reply = thread.submit(server.query, f"ASK {{ :gus{number} :likes :Go }}")
            wait_until(lambda: "unseen_exact_queries 1" in server.send("GET", "/metrics").text)
            for pid in stopped:
                os.kill(pid, signal.SIGKILL)
            assert reply.result().error["code"] == "engine_ended"
            assert reply.result().error["reason"]
        assert all(is_there(server, f":gus{n} :likes :Go") for n in range(number + 1))
    folders = server.database.path / "serving"
    wait_until(lambda: len(list(folders.glob("copy-*"))) <= len(readers_of(server)))


def test_readers_that_are_killed_at_any_moment_give_no_old_answer(server: Running) -> None:
    """Changes of some hundred statements, so that a reader is often killed while it applies one."""
    chance = random.Random(0)

    def count(number: int) -> str | None:
        """None if the reader was killed."""
        reply = server.query(f"SELECT (COUNT(*) AS ?n) {{ ?x :of :whole{number} }}", {"Accept": "text/csv"})
        return reply.text.split()[-1] if reply.status == 200 else None if reply.error["code"] == "engine_ended" else ""

    for number in range(8):
        server.post("/triples", {"triples": [[f"part{part}", "of", f"whole{number}"] for part in range(300)]})
        with ThreadPoolExecutor(1) as thread:
            counted = thread.submit(count, number)
            time.sleep(chance.random() * 0.05)
            for pid in readers_of(server)[:2]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            assert counted.result() in ("300", None)
        wait_until(lambda: server.query("ASK {}").status == 200)
    for number in range(8):
        wait_until(lambda number=number: count(number) is not None)  # type: ignore[misc]
        assert count(number) in ("300", None)


def test_a_reader_that_cannot_keep_a_copy_gets_a_new_checkpoint(server: Running) -> None:
    assert not is_there(server, ":gus0 :likes :Go")
    for number in range(40):
        (server.database.path / "serving" / f"copy-{number}").write_text("in the way")
    made = number_of(server, "exact_checkpoints")
    for number in range(3):
        server.post("/triples", {"triples": [[f"gus{number}", "likes", "Go"]]})
        assert is_there(server, f":gus{number} :likes :Go")
    assert number_of(server, "exact_checkpoints") >= made + 3


def test_an_update_of_several_graphs_is_seen_whole(server: Running) -> None:
    stop, faults = Event(), []

    def read() -> None:
        while not stop.is_set():
            text = "SELECT (COUNT(?a) AS ?x) (COUNT(?b) AS ?y) { { ?a :both :d } UNION { GRAPH :g { ?b :both :n } } }"
            first, second = server.query(text, {"Accept": "text/csv"}).text.split()[1].split(",")
            if first != second:
                faults.append((first, second))

    reader = Thread(target=read)
    reader.start()
    try:
        for number in range(15):
            both = f"INSERT DATA {{ :n{number} :both :d . GRAPH :g {{ :n{number} :both :n }} }}"
            assert server.update(both).status == 204
    finally:
        stop.set()
        reader.join()
    assert faults == []
