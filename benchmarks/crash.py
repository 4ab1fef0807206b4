"""Kill -9 during concurrent writes and a bulk load, again and again: nothing acknowledged is lost or half-done.

Each round starts a process that writes to a database from several threads (facts added and removed, SPARQL updates)
while another thread loads a file in bulk, and kills it at a random moment. Then the database is opened here: every
write that was acknowledged must be there, every load as a whole or not at all, the graph that models read must
hold exactly what SPARQL finds, and a question must be answered.

Run: .venv/bin/python benchmarks/crash.py --rounds 200 [--engine]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

WRITERS = 4
LOAD_SIZE = 500


def work(path: Path, round_number: int, in_process_of_its_own: bool) -> None:
    """The process that will be killed: says on standard output what it is about to do, and what is done."""
    from unseen.database import Database
    from unseen.database.engine.process_triples import ProcessTriples
    from unseen.database.triples import Triples

    database = Database(path, ProcessTriples if in_process_of_its_own else Triples)
    threads = [Thread(target=write, args=(database, round_number, writer)) for writer in range(WRITERS)]
    threads.append(Thread(target=load, args=(database, path.parent, round_number)))
    say("open")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def write(database: object, round_number: int, writer: int) -> None:
    from unseen.database.exact_sparql import update

    number = 0
    while True:
        name = f"n{round_number}-{writer}-{number}"
        say("try", "+", name)
        if number % 2:
            update(database, f"INSERT DATA {{ :{name} :made_by :w{writer} . :{name} :in :round{round_number} }}")
        else:
            database.add([(name, "made_by", f"w{writer}"), (name, "in", f"round{round_number}")])
        say("done", "+", name)
        if number % 3 == 0:
            say("try", "-", name)
            if number % 2:
                update(database, f"DELETE WHERE {{ :{name} ?p ?o }}")
            else:
                database.remove([(name, "made_by", f"w{writer}"), (name, "in", f"round{round_number}")])
            say("done", "-", name)
        number += 1


def load(database: object, folder: Path, round_number: int) -> None:
    number = 0
    while True:
        name = f"load{round_number}-{number}"
        file = folder / f"{name}.tsv"
        file.write_text("".join(f"{name}-{i}\tloaded_from\t{name}\n" for i in range(LOAD_SIZE)))
        say("try", "load", name)
        database.load([file])
        say("done", "load", name)
        file.unlink()
        number += 1


def say(*words: str) -> None:
    os.write(1, (" ".join(words) + "\n").encode())


class Expected:
    """What must be there, from what the processes said."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.gone: set[str] = set()
        self.unsure: set[str] = set()
        self.loads: dict[str, bool] = {}
        self.acknowledged = 0

    def take(self, text: str) -> None:
        """Take in what one process said; a line that was cut off was not said."""
        for line in text.splitlines(keepends=True):
            if line.endswith("\n"):
                self._take(line.split())

    def _take(self, words: list[str]) -> None:
        match words:
            case ["try", "load", name]:
                self.loads.setdefault(name, False)
            case ["done", "load", name]:
                self.loads[name] = True
                self.acknowledged += 1
            case ["try", _, name]:
                self.there.discard(name)
                self.unsure.add(name)
            case ["done", sign, name]:
                self.unsure.discard(name)
                (self.there if sign == "+" else self.gone).add(name)
                self.acknowledged += 1


def check(path: Path, expected: Expected) -> dict[str, float]:
    """Open the database after a crash, and hold it against what was acknowledged."""
    import unseen
    from unseen.database import Database
    from unseen.database.exact_sparql import query

    began = time.perf_counter()
    database = Database(path)
    seconds = time.perf_counter() - began
    with database:
        graph = database.graph
        triples = set(graph.triples())
        stored = {
            tuple(term.value.removeprefix("urn:unseen:") for term in (row["s"], row["p"], row["o"]))
            for row in query(database, "SELECT * { ?s ?p ?o }").found
        }
        assert triples == stored, f"graph and store differ by {len(triples ^ stored)} triples"
        halves = {}
        for head, relation, tail in triples:
            halves.setdefault(tail if relation == "loaded_from" else head, []).append(relation)
        for name in expected.there:
            assert sorted(halves.get(name, [])) == ["in", "made_by"], f"{name} was acknowledged and is not there"
        for name in expected.gone - expected.unsure - expected.there:
            assert name not in halves, f"{name} was removed and is there"
        for name in expected.unsure:
            assert len(halves.get(name, [])) in (0, 2), f"{name} is half there"
        for name, done in expected.loads.items():
            count = len(halves.get(name, []))
            assert count in ({LOAD_SIZE} if done else {0, LOAD_SIZE}), f"{name}: {count} of {LOAD_SIZE} loaded"
        if triples:
            answers = unseen.ask(graph, f"?x : made_by(x, w0) & in(x, {tail_of(triples)})", method="exact")
            assert answers.known >= 0
    return {"open_seconds": seconds, "triples": len(triples)}


def tail_of(triples: set[tuple[str, str, str]]) -> str:
    return next((tail for _, relation, tail in triples if relation == "in"), "w0")


def run(rounds: int, seed: int, engine: bool = False) -> dict[str, object]:
    from unseen.database import Database

    chance = random.Random(seed)
    expected, opened = Expected(), []
    with tempfile.TemporaryDirectory(prefix="unseen-crash-") as folder:
        path = Path(folder) / "crash.db"
        with Database.create(path) as database:
            database.add([("seed", "made_by", "w0"), ("seed", "in", "round0")])
        for number in range(rounds):
            expected.take(killed(path, number, chance.uniform(0.01, 0.8), engine))
            opened.append(check(path, expected)["open_seconds"])
            if (number + 1) % 20 == 0:
                said = f"{number + 1} rounds, {expected.acknowledged} writes acknowledged, none lost"
                print(said, file=sys.stderr, flush=True)
    opened.sort()
    return {
        "benchmark": "crash",
        "rounds": rounds,
        "acknowledged_writes": expected.acknowledged,
        "bulk_loads_done": sum(expected.loads.values()),
        "bulk_loads_begun": len(expected.loads),
        "lost": 0,
        "open_seconds_median": round(opened[len(opened) // 2], 3),
        "open_seconds_worst": round(opened[-1], 3),
    }


def killed(path: Path, number: int, seconds: float, engine: bool) -> str:
    """Run the working process, kill it some time after it has opened the database, and give what it said."""
    command = [sys.executable, __file__, "--work", str(path), "--round", str(number), *["--engine"][: int(engine)]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            first = process.stdout.readline()
            time.sleep(seconds)
        finally:
            process.send_signal(signal.SIGKILL)
        said, complaints = process.communicate()
    assert first == b"open\n", complaints.decode()[-2000:]
    assert b"Error" not in complaints, complaints.decode()[-2000:]
    return said.decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--engine", action="store_true", help="the store is open in a process of its own, as in a server"
    )
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--round", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work, arguments.round, arguments.engine)
    else:
        print(json.dumps(run(arguments.rounds, arguments.seed, arguments.engine)))


if __name__ == "__main__":
    main()
