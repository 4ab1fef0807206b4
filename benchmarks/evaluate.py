"""Evaluating the edge-type heuristic on all fourteen shapes: seconds and peak memory.

Prints one JSON line. The target is 14 x 10,000 queries of the 175 % dataset in at most 120 s and 4,000 MB on two cores.
Without a dataset, questions of a random graph take its place, fewer of them.

    python benchmarks/evaluate.py [DATASET] [--limit 10000] [--batch-size N]
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.published import import_dataset
from unseen.datasets.sampling.sample_dataset import SamplePlan, sample_dataset
from unseen.datasets.split import inductive_split
from unseen.evaluation.evaluator import Options, evaluate
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.shapes import SHAPES
from unseen.methods.edge_type import EdgeType

ENTITIES, RELATIONS, TRIPLES = 14_000, 218, 290_000
COUNTS = {"train": 10, "valid": 10, "test": 500}


def random_dataset() -> Dataset:
    """A graph of the published size, whose hubs are as uneven as those of a real one, with sampled questions."""
    generator = np.random.default_rng(0)
    heads, tails = (generator.power(0.4, (2, TRIPLES)) * ENTITIES).astype(np.int32)
    relations = (generator.power(0.5, TRIPLES) * RELATIONS).astype(np.int32)
    graph = KnowledgeGraph(heads, relations, tails, Vocabulary.numbered(ENTITIES, RELATIONS))
    dataset = Dataset("random", inductive_split(graph, 175), manifest={"ratio": 175})
    counts = {(split, name): count for split, count in COUNTS.items() for name in SHAPES}
    return sample_dataset(dataset, SamplePlan(counts=counts))[0]


def opened(path: Path | None) -> Dataset:
    if path is None:
        return random_dataset()
    return Dataset.open(path) if (path / "manifest.json").is_file() else import_dataset(path)


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("--limit", type=int, default=10_000)
    parser.add_argument("--batch-size", type=int)
    options = parser.parse_args()
    dataset = opened(options.dataset)
    before, start, busy = megabytes(), time.perf_counter(), time.process_time()
    result = evaluate(EdgeType(), dataset, "test", Options(limit=options.limit, batch_size=options.batch_size))
    report = {
        "benchmark": "evaluate",
        "dataset": dataset.name,
        "queries": sum(found.metrics.queries for found in result.types.values()),
        "candidates": result.candidates,
        "seconds": round(time.perf_counter() - start, 2),
        "cpu_seconds": round(time.process_time() - busy, 2),
        "peak_mb": round(megabytes()),
        "peak_mb_before": round(before),
        "hits_at_10": {name: round(100 * means["hits_at_10"], 2) for name, means in result.averages.items() if means},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
