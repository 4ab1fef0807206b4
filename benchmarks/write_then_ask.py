"""The first predicted answer after a small write to a large database: seconds by the clock and of processor time.

Run: .venv/bin/python benchmarks/write_then_ask.py world.db "?x : depends(pkg:bash, x)" --writes 4

Every write adds a new entity with two edges; at the end all of it is removed again, and asked once more.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import TYPE_CHECKING

import unseen
from unseen.database.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("question")
    parser.add_argument("--writes", type=int, default=4)
    options = parser.parse_args()
    with Database(options.database) as database:

        def answer() -> None:
            unseen.ask(database.graph, options.question)

        graph = database.graph
        head, relation, tail = next(iter(graph.triples()))
        _report("first answer", answer)
        _report("next answer", answer)
        new = [(f"written-{time.time_ns()}-{number}", relation, tail) for number in range(options.writes)]
        edges = [(edge, (head, relation, edge[0])) for edge in new]
        for number, pair in enumerate(edges, start=1):
            database.add(pair)
            _report(f"after write {number}", answer)
            _report("next answer", answer)
        database.remove([edge for pair in edges for edge in pair])
        _report("after the removal", answer)


def _report(what: str, work: Callable[[], None]) -> None:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    seconds = {"seconds": time.perf_counter() - clock, "processor_seconds": time.process_time() - processor}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rounded = {name: round(value, 2) for name, value in (seconds | {"peak_gib": peak}).items()}
    print(json.dumps({"what": what, **rounded}), flush=True)


if __name__ == "__main__":
    main()
