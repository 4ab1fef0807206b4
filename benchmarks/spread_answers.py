"""Questions answered by four workers on two Ray nodes of this machine, beside one process: speed, and what survives.

    python benchmarks/spread_answers.py [GRAPH] [--questions N] [--method NAME]

Both use the same cores. In a second spread run a worker is killed after a third of the questions, and a whole node,
with its two workers, after two thirds. Each table is compared with that of one process, byte by byte.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import unseen
from unseen.api import default_method
from unseen.bulk.answering_files import GraphAsker, answer_file
from unseen.bulk.question_files import AskedQuestion
from unseen.graph.compiling import available_cores
from unseen.spreading.cluster import imported_ray
from unseen.spreading.crew import crew_of
from unseen.spreading.spread_answers import spread_answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.graph import KnowledgeGraph

MARK = "UNSEEN_BENCHMARK"
NODES, WORKERS = 2, 4


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("graph", nargs="?", default="countries")
    words.add_argument("--questions", type=int, default=1536)
    words.add_argument("--method", default=default_method())
    given = words.parse_args()
    graph = unseen.load(given.graph)
    asked = questions(graph, given.questions)
    asker = GraphAsker(graph, given.method)
    asker.ask(asked[:1])  # compiled, and what the graph teaches is found out
    os.environ[MARK] = str(os.getpid())
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(asker, asked, Path(folder)) | {"graph": Path(given.graph).name}))


def measured(asker: GraphAsker, asked: list[AskedQuestion], folder: Path) -> dict[str, object]:
    alone = timed(lambda: answer_file(asked, asker, folder / "alone.parquet"))
    ray = imported_ray()
    from ray.cluster_utils import Cluster

    about = {"include_dashboard": False, "num_cpus": max(1, available_cores() // NODES)}
    cluster = Cluster(initialize_head=True, head_node_args=about)
    try:
        other = cluster.add_node(num_cpus=about["num_cpus"])
        cluster.wait_for_nodes()
        spread, starting, kills = {}, 0.0, []
        with crew_of(WORKERS, cluster.address) as crew:
            spreading = spread_answers(crew, asker)
            starting = timed(
                lambda: answer_file(asked[: WORKERS * asker.batch], asker, folder / "warm", spread=spreading)
            )
            spread["calm"] = timed(lambda: answer_file(asked, asker, folder / "calm.parquet", spread=spreading))

            def disturb(done: int, total: int) -> None:
                if not kills and done * 3 >= total:
                    kills.append(kill_a_worker())
                elif len(kills) == 1 and done * 3 >= 2 * total:
                    kills.append("node")
                    cluster.remove_node(other, allow_graceful=False)

            spread["killed"] = timed(
                lambda: answer_file(asked, asker, folder / "killed.parquet", spread=spreading, progress=disturb)
            )
        return {
            "benchmark": "spread_answers",
            "method": asker.name,
            "questions": len(asked),
            "cores": available_cores(),
            "nodes": NODES,
            "workers": WORKERS,
            "one_process_questions_per_second": round(len(asked) / alone, 1),
            "spread_questions_per_second": round(len(asked) / spread["calm"], 1),
            "ratio": round(alone / spread["calm"], 2),
            "first_batches_seconds": round(starting, 1),
            "seconds_with_kills": round(spread["killed"], 1),
            "killed": kills,
            "same": {name: same(folder, name) for name in spread},
        }
    finally:
        ray.shutdown()
        cluster.shutdown()


def questions(graph: KnowledgeGraph, count: int) -> list[AskedQuestion]:
    """One, two and three relations from entities that have them."""
    names, relations = graph.vocabulary.entities, graph.vocabulary.relations
    rows = np.random.default_rng(0).integers(graph.num_triples, size=(count, 2)).tolist()
    asked = []
    for number, (first, second) in enumerate(rows, start=1):
        here, there = (f'"{names.key(int(graph.heads[row]))}"' for row in (first, second))
        one, two = (f'"{relations.key(int(graph.relations[row]))}"' for row in (first, second))
        texts = (f"{one}({here}, x)", f"{one}({here}, y) & {two}(y, x)", f"{one}({here}, x) | {two}({there}, x)")
        asked.append(AskedQuestion(number, f"?x : {texts[number % 3]}", str(number)))
    return asked


def kill_a_worker() -> str:
    """End one of the workers of this benchmark, without a word to it."""
    mark = f"{MARK}={os.getpid()}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = (process / "cmdline").read_bytes().startswith(b"ray::Worker")
            if is_worker and mark in (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
                return "worker"
        except OSError:
            continue
    sys.exit("there is no worker to kill")


def same(folder: Path, name: str) -> bool:
    """Whether a table is that of one process."""
    return (folder / f"{name}.parquet").read_bytes() == (folder / "alone.parquet").read_bytes()


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
