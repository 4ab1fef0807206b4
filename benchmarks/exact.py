"""Exact answers on a large graph with hubs, against the same SPARQL in an in-memory pyoxigraph store.

Prints one JSON line: for 2p, 3p, 2i and pin the median milliseconds of both, their ratio, whether all answers agree.

    python benchmarks/exact.py [--triples 10000000] [--entities 1000000] [--queries 20]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyoxigraph

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.graph.files.writers import write_graph
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Query, unbind
from unseen.logic.shapes import SHAPES
from unseen.logic.sparql.writer import to_sparql
from unseen.logic.traverse import answers, step

TIMED = ("2p", "3p", "2i", "pin")
PATIENCE = 5.0
"""Seconds after which the store is not waited for any longer; its time then counts as that."""


def power_law_graph(triples: int, entities: int, relations: int, seed: int = 0) -> KnowledgeGraph:
    """A graph whose degrees and relation sizes follow a power law: a few hubs, many rare entities."""
    generator = np.random.default_rng(seed)
    ends = [(entities * generator.random(triples) ** 5).astype(np.int32) for _ in range(2)]
    shuffled = generator.permutation(entities).astype(np.int32)
    kinds = (relations * generator.random(triples) ** 4).astype(np.int32)
    names = Vocabulary.of([f"e{i}" for i in range(entities)], [f"r{i}" for i in range(relations)])
    return KnowledgeGraph(shuffled[ends[0]], kinds, shuffled[ends[1]], names)


def sampled_query(graph: KnowledgeGraph, shape: str, generator: np.random.Generator) -> Query:
    """A query of that shape, all branches walked backwards from the end of one random edge."""
    answer = int(graph.tails[generator.integers(graph.num_triples)])
    slots: list[int] = []
    for chain in SHAPES[shape].template.split("&"):
        node, steps = answer, []
        for _ in range(chain.count("r")):
            relation, node = walk_back(graph, node, generator)
            steps.append(relation)
        slots += [node, *reversed(steps)]
    return SHAPES[shape].fill(slots)


def walk_back(graph: KnowledgeGraph, node: int, generator: np.random.Generator) -> tuple[int, int]:
    """The directed relation and the source of a random edge that leads to `node`; hubs come up as often as they are."""
    here = np.array([node], np.int32)
    found = [step(graph, inverse_relation(r), here) for r in range(graph.vocabulary.num_directed_relations)]
    counts = np.array([len(sources) for sources in found])
    relation = int(generator.choice(len(found), p=counts / counts.sum()))
    return relation, int(generator.choice(found[relation]))


def loaded_store(graph: KnowledgeGraph) -> pyoxigraph.Store:
    """The same triples in an in-memory store."""
    store = pyoxigraph.Store()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.nt"
        write_graph(graph, path)
        store.bulk_load(path=str(path), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return store


def timed(action: Callable[[], object]) -> tuple[float, object]:
    """Milliseconds and result of a call."""
    start = time.perf_counter()
    result = action()
    return 1000 * (time.perf_counter() - start), result


def store_answers(store: pyoxigraph.Store, text: str) -> tuple[list[str], bool]:
    """The IRIs that the store finds, and whether it finished within `PATIENCE`."""
    start, found = time.perf_counter(), []
    for row in store.query(text):
        found.append(row[0].value)
        if time.perf_counter() - start > PATIENCE:
            return found, False
    return found, True


def compare(graph: KnowledgeGraph, store: pyoxigraph.Store, queries: list[Query]) -> dict[str, float | bool | int]:
    """Median times of both on the same queries, and whether they agree."""
    ours, theirs, sizes, agree, unfinished = [], [], [], True, 0
    names = graph.vocabulary
    for query in queries:
        milliseconds, found = timed(lambda query=query: answers(graph, query))
        ours.append(milliseconds)
        sizes.append(len(found))
        text = to_sparql(unbind(query, names.entity_name, names.relation_name))
        milliseconds, (rows, finished) = timed(lambda text=text: store_answers(store, text))
        theirs.append(milliseconds)
        expected = {f"urn:unseen:{names.entity_name(int(entity))}" for entity in found}
        agree &= set(rows) == expected if finished else set(rows) <= expected
        unfinished += not finished
    ours_median, theirs_median = statistics.median(ours), statistics.median(theirs)
    return {
        "unseen_ms": round(ours_median, 3),
        "pyoxigraph_ms": round(theirs_median, 3),
        "speedup": round(theirs_median / ours_median, 1),
        "largest_unseen_ms": round(max(ours), 3),
        "largest_pyoxigraph_ms": round(max(theirs), 3),
        "median_answers": statistics.median(sizes),
        "largest_answers": max(sizes),
        "unfinished_pyoxigraph": unfinished,
        "agree": agree,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=10_000_000)
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--relations", type=int, default=200)
    parser.add_argument("--queries", type=int, default=20)
    options = parser.parse_args()
    graph = power_law_graph(options.triples, options.entities, options.relations)
    degrees = np.bincount(np.concatenate([graph.heads, graph.tails]))
    view_ms, _ = timed(lambda: (graph.by_head, graph.by_tail))
    store = loaded_store(graph)
    generator = np.random.default_rng(1)
    results = {}
    for shape in TIMED:
        queries = [sampled_query(graph, shape, generator) for _ in range(options.queries)]
        results[shape] = compare(graph, store, queries)
    report = {
        "benchmark": "exact",
        "baseline": f"pyoxigraph {pyoxigraph.__version__}, in memory, the same SPARQL",
        "triples": graph.num_triples,
        "entities": graph.num_entities,
        "largest_degree": int(degrees.max()),
        "sorted_views_ms": round(view_ms),
        "peak_mb_with_store": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "shapes": results,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
