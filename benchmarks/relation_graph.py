"""The graph of relations of a large graph: seconds to make, to mend, and of the same by scipy's sparse products.

python benchmarks/relation_graph.py [--triples 10000000 --entities 1000000 --relations 1000]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.nn.relation_graph import RelationGraph


def random_graph(triples: int, entities: int, relations: int) -> KnowledgeGraph:
    """Relations of all frequencies, each among the entities of one region, and some hubs."""
    random = np.random.default_rng(0)
    relation = np.minimum(random.zipf(1.3, triples) - 1, relations - 1)
    region, width = relation * 7919 % entities, max(2, entities // 20)
    heads = (region + random.integers(width, size=triples)) % entities
    tails = (region * 31 + (random.random(triples) ** 3 * width).astype(np.int64)) % entities
    return KnowledgeGraph(heads, relation, tails, Vocabulary.numbered(entities, relations))


def by_scipy(graph: KnowledgeGraph) -> Any:
    """Heads of directed relations as a sparse matrix E, then EᵀE: the baseline."""
    from scipy.sparse import csr_array

    entities = np.concatenate([graph.heads, graph.tails])
    directed = np.concatenate([2 * graph.relations, 2 * graph.relations + 1])
    size = (graph.num_entities, 2 * graph.num_relations)
    incidence = csr_array((np.ones(len(entities), np.float32), (entities, directed)), size)
    incidence.sum_duplicates()
    incidence.data[:] = 1
    return incidence.T.tocsr() @ incidence


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=10_000_000)
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--relations", type=int, default=1000)
    options = parser.parse_args()
    graph = random_graph(options.triples, options.entities, options.relations)
    RelationGraph.made(random_graph(100, 10, 10))  # compiles
    made, seconds = timed(lambda: RelationGraph.made(graph))
    product, scipy_seconds = timed(lambda: by_scipy(graph))
    same = made.pairs().shape[1] == product.count_nonzero()
    last = graph.restricted_to(np.arange(graph.num_triples) < graph.num_triples - 1000)
    old = RelationGraph.made(last)
    _, mending = timed(lambda: old.after(graph))
    print(
        json.dumps(
            {
                "benchmark": "relation graph",
                "triples": graph.num_triples,
                "directed_relations": made.num_relations,
                "pairs": made.pairs().shape[1],
                "seconds": round(seconds, 3),
                "scipy_seconds": round(scipy_seconds, 3),
                "times_faster": round(scipy_seconds / seconds, 1),
                "mending_1000_triples_seconds": round(mending, 3),
                "same_as_scipy": bool(same),
            }
        )
    )


if __name__ == "__main__":
    main()
