"""Predicted answers on a large graph: seconds to open, seconds a question by type, memory, as JSON lines.

Run: .venv/bin/python benchmarks/large_graph.py GRAPH --questions 20 --types 1p 2p 2i pin --effort normal
     .venv/bin/python benchmarks/large_graph.py core.tsv --first 100000 --questions 20        its first 100,000 triples

GRAPH is a file or a database. Questions are grounded at random in the graph: each has a known answer. The first one of
each type is not counted, because it reads relations that later ones find again.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np

import unseen
from unseen.api import ask_all, open_method
from unseen.asking.answers import Question
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, And, Not, Project, Query
from unseen.rules.adjacency import adjacency_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", help="a file or a database")
    parser.add_argument("--first", type=int, help="only so many triples")
    parser.add_argument("--questions", type=int, default=20, help="of each type")
    parser.add_argument("--types", nargs="+", default=["1p", "2p", "2i", "pin"], choices=("1p", "2p", "2i", "pin"))
    parser.add_argument("--efforts", nargs="+", default=["normal"])
    parser.add_argument("--method", default="default")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    clock = time.perf_counter()
    graph = unseen.load(options.graph)
    if options.first:
        graph = graph.restricted_to(np.arange(graph.num_triples) < options.first)
    about: dict[str, object] = {"triples": graph.num_triples, "entities": len(graph.connected_entities)}
    say({**about, "part": "open", "seconds": round(time.perf_counter() - clock, 2)})
    for effort in options.efforts:
        clock, processor = time.perf_counter(), time.process_time()
        method = open_method(options.method, effort=effort)
        random = np.random.default_rng(options.seed)
        asked(graph, method, grounded(graph, "1p", random))
        say({**about, "effort": effort, "part": "first answer", **spent(clock, processor)})
        for kind in options.types:
            measure(graph, method, kind, {**about, "effort": effort}, random, options.questions)


def measure(
    graph: KnowledgeGraph, method: object, kind: str, about: dict[str, object], random: np.random.Generator, count: int
) -> None:
    wall, processor = [], []
    for number in range(count + 1):
        query = grounded(graph, kind, random)
        start, own = time.perf_counter(), time.process_time()
        asked(graph, method, query)
        if number:
            wall.append(time.perf_counter() - start)
            processor.append(time.process_time() - own)
    numbers = {"median": np.median(wall), "p95": np.quantile(wall, 0.95), "slowest": max(wall)}
    cpu = {"cpu_median": np.median(processor), "cpu_p95": np.quantile(processor, 0.95)}
    rounded = {name: round(float(value), 3) for name, value in (numbers | cpu).items()}
    say({**about, "part": kind, **rounded, "peak_gib": peak()})


def asked(graph: KnowledgeGraph, method: object, query: Query) -> None:
    ask_all(graph, [Question(str(query), query)], method, "default")  # type: ignore[arg-type]


def grounded(graph: KnowledgeGraph, kind: str, random: np.random.Generator) -> Query:
    """A question of a type that has a known answer."""
    adjacency = adjacency_of(graph)

    def back(entity: int) -> tuple[int, int]:
        """A random edge (source, relation) that leads to an entity."""
        rows = adjacency.entity_rows[entity], adjacency.entity_rows[entity + 1]
        row = int(random.integers(*rows))
        edge = int(random.integers(adjacency.row_edges[row], adjacency.row_edges[row + 1]))
        return int(adjacency.targets[edge]), int(adjacency.row_relation[row]) ^ 1

    def link(entity: int) -> Project:
        source, relation = back(entity)
        return Project(relation, Anchor(source))

    answer = int(random.choice(graph.connected_entities))
    if kind == "1p":
        return link(answer)
    if kind == "2i":
        return And((link(answer), link(answer)))
    middle, relation = back(answer)
    two = Project(relation, link(middle))
    return two if kind == "2p" else And((two, Not(link(int(random.choice(graph.connected_entities))))))


def spent(clock: float, processor: float) -> dict[str, object]:
    used = {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - processor}
    return {name: round(value, 2) for name, value in used.items()} | {"peak_gib": peak()}


def peak() -> float:
    """The most memory that this process has had, in GiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)


def say(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
