"""A mixed batch of all fourteen shapes on fuzzy sets: project calls, and time against one query at a time.

Prints one JSON line. The graph is random; the projector is exact traversal, so that only the executor differs.

    python benchmarks/execute.py [--entities 5000] [--triples 50000] [--copies 8]
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Query
from unseen.logic.execute import execute
from unseen.logic.shapes import SHAPES
from unseen.methods.exact import Exact

RELATIONS = 50


class CountingProjector:
    """Exact traversal that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def project(self, graph: KnowledgeGraph, sets: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """One relation step, counted."""
        self.calls += 1
        return Exact().project(graph, sets, relations)


def random_graph(entities: int, triples: int, generator: np.random.Generator) -> KnowledgeGraph:
    """Uniform random edges."""
    columns = [generator.integers(limit, size=triples).astype(np.int32) for limit in (entities, RELATIONS, entities)]
    return KnowledgeGraph(*columns, Vocabulary.numbered(entities, RELATIONS))


def mixed_batch(entities: int, copies: int, generator: np.random.Generator) -> list[Query]:
    """`copies` random queries of every shape."""
    limits = {"e": entities, "r": 2 * RELATIONS}
    return [
        shape.fill([int(generator.integers(limits[slot])) for slot in shape.slots])
        for shape in SHAPES.values()
        for _ in range(copies)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=5_000)
    parser.add_argument("--triples", type=int, default=50_000)
    parser.add_argument("--copies", type=int, default=8)
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    graph = random_graph(options.entities, options.triples, generator)
    queries = mixed_batch(options.entities, options.copies, generator)
    execute(Exact(), graph, queries).stacked(queries)
    together, apart = CountingProjector(), CountingProjector()
    start = time.perf_counter()
    batched = execute(together, graph, queries).stacked(queries)
    middle = time.perf_counter()
    single = torch.cat([execute(apart, graph, [query]).stacked([query]) for query in queries])
    end = time.perf_counter()
    report = {
        "benchmark": "execute",
        "baseline": "the same executor, one query at a time",
        "queries": len(queries),
        "shapes": len(SHAPES),
        "project_calls": together.calls,
        "project_calls_one_at_a_time": apart.calls,
        "seconds": round(middle - start, 4),
        "speedup": round((end - middle) / (middle - start), 2),
        "agree": bool(torch.equal(batched, single)),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
