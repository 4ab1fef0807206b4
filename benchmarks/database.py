"""A database in numbers: bulk load, start-up, and how soon a new node is among predicted answers.

Prints one JSON line: seconds to create a database of random triples from N-Triples (snapshot included), to open it
again, and, on a graph of another size, from the answer to a write over HTTP to predicted answers with the new node.

    python benchmarks/database.py [--triples 1000000] [--fresh-triples 300000] [--model edge-type|RUN]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import numpy as np

import unseen
from unseen.database import Database
from unseen.server.run import make_server
from unseen.server.server_settings import ServerSettings


def write_file(path: Path, triples: int, entities: int, relations: int = 50) -> None:
    generator = np.random.default_rng(0)
    heads, tails = generator.integers(entities, size=(2, triples))
    kinds = generator.integers(relations, size=triples)
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(
            f"<http://example.org/e{h}> <http://example.org/r{r}> <http://example.org/e{t}> .\n"
            for h, r, t in zip(heads.tolist(), kinds.tolist(), tails.tolist(), strict=True)
        )


def loaded(folder: Path, triples: int) -> tuple[Path, float, float]:
    """A database of so many triples, the seconds to make it and the seconds to open it."""
    source, path = folder / f"{triples}.nt", folder / f"{triples}.db"
    write_file(source, triples, entities=max(10, triples // 20))
    began = time.perf_counter()
    with Database.create(path) as database:
        database.load([source])
    load_seconds = time.perf_counter() - began
    began = time.perf_counter()
    with Database(path) as database:
        assert database.graph.num_triples > 0.99 * triples
    return path, load_seconds, time.perf_counter() - began


def freshness(path: Path, model: str, rounds: int = 25) -> list[float]:
    """Seconds from the answer to a write, over HTTP, to the answers in which its new node is predicted."""
    seconds = []
    with served(path, model) as url, unseen.connect(url) as client:
        for number in range(rounds):
            name = f"http://example.org/new{number}"
            client.add([(f"http://example.org/e{i}", "http://example.org/r2", name) for i in range(10, 50)])
            began = time.perf_counter()
            answers = client.ask(
                "?x : <http://example.org/r2>(<http://example.org/e8>, x)", predicted_only=True, top=50
            )
            seconds.append(time.perf_counter() - began)
            assert any(answer.entity.endswith(f"new{number}") for answer in answers), answers.as_json()
    return seconds[1:]  # the first question also imports and warms up


@contextmanager
def served(path: Path, model: str) -> Iterator[str]:
    """The address of a server in a thread."""
    ports: Queue[int] = Queue()
    database = Database(path)
    server = make_server(database, ServerSettings(port=0, model=model), ports.put)
    thread = Thread(target=server.run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{ports.get(timeout=60)}"
    finally:
        server.should_exit = True
        thread.join()
        database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--fresh-triples", type=int, default=300_000)
    parser.add_argument("--model", default="edge-type")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unseen-database-") as name:
        _, load_seconds, open_seconds = loaded(Path(name), arguments.triples)
        path, _, _ = loaded(Path(name), arguments.fresh_triples)
        fresh = freshness(path, arguments.model)
    report = {
        "benchmark": "database",
        "triples": arguments.triples,
        "bulk_load_seconds": round(load_seconds, 2),
        "open_seconds": round(open_seconds, 3),
        "fresh_triples": arguments.fresh_triples,
        "fresh_seconds_median": round(statistics.median(fresh), 3),
        "fresh_seconds_worst": round(max(fresh), 3),
        "model": arguments.model,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
