"""A graph of millions of nodes from nothing to questions with known answers: seconds and peak memory of every stage.

The graph has the published statistics of WikiKG-QE (2.5 M entities, 512 relations, 17 M triples before it is split) and
something to learn, see `latent_graph`. Each stage is a process of its own and prints one JSON line; `all` runs them one
after the other. The same commands of `unseen` work on any TSV or Parquet file of that size.

    python benchmarks/large_graph.py all -o FOLDER [--scale 0.1]
    python benchmarks/large_graph.py generate -o FOLDER     writes FOLDER/graph.parquet
    python benchmarks/large_graph.py split -o FOLDER        writes FOLDER/dataset, ratio 133 %
    python benchmarks/large_graph.py sample -o FOLDER       1,000 questions of each type without negation
    python benchmarks/large_graph.py heuristic -o FOLDER    the edge-type heuristic, to compare with
    python benchmarks/large_graph.py oracle -o FOLDER       CQD-Beam with the true chances: the most that can be learned
    python benchmarks/large_graph.py grow -o FOLDER         10,000 new nodes and 100,000 links, and questions about them

Without arguments: all of it, at a hundredth of the size, in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from latent_graph import RELATIONS, LatentGraph, latent_graph, num_entities_of
from latent_oracle import Oracle
from unseen.benchmark.dataset import Dataset
from unseen.benchmark.sampling.rules import SplitGraphs
from unseen.benchmark.sampling.sample import SampleOptions, sample_queries
from unseen.benchmark.split import inductive_split
from unseen.benchmark.threads import in_threads
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.results import EPFO
from unseen.graph import KnowledgeGraph
from unseen.graph.files.readers import read_graph
from unseen.graph.files.writers import write_graph
from unseen.logic.algebra import Anchor, Project
from unseen.logic.shapes import SHAPES
from unseen.methods.cqd_beam import BeamOptions, CqdBeam, VectorLinks, VectorScorer
from unseen.methods.cqd_beam.beams import RunningTop
from unseen.methods.edge_type import EdgeType

RATIO, SEED = 133, 42
NEW_NODES, DIM = 10_000, 200
SMALL = 0.01


def generate(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    graph = latent_graph(arguments.scale, arguments.seed)
    write_graph(graph, folder / "graph.parquet")
    size = (folder / "graph.parquet").stat().st_size
    return {"entities": len(graph.connected_entities), "triples": graph.num_triples, "file_mb": round(size / 2**20)}


def split(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    graph = read_graph(folder / "graph.parquet").graph
    about = {"kind": "inductive", "ratio": RATIO, "seed": SEED}
    dataset = Dataset(f"latent-{arguments.scale:g}", inductive_split(graph, RATIO, SEED), manifest=about)
    dataset.save(folder / "dataset")
    observed, complete = (
        {name: len(edges) for name, edges in _edges(dataset, kind)} for kind in ("inference", "predict")
    )
    return {"entities": dataset.vocabulary.num_entities, "train": len(dataset.split.train_graph)} | {
        "inference": observed,
        "predict": complete,
    }


def sample(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    dataset = Dataset.open(folder / "dataset")
    tables: dict[str, dict[str, Any]] = {}
    for name in ("valid", "test"):
        graphs = SplitGraphs(name, dataset.observed(name), dataset.complete(name))
        draw = partial(sample_queries, graphs, count=arguments.queries, options=SampleOptions(seed=SEED))
        found = in_threads(draw, [SHAPES[kind] for kind in EPFO])
        tables[name] = {kind: drawn.table for kind, drawn in zip(EPFO, found, strict=True)}
    sampled = dataset.with_queries(tables, {}, answers="true", sampling={"seed": SEED})
    sampled.save(folder / "dataset")
    test = sampled.tables["test"]
    return {
        "queries": {kind: len(table) for kind, table in test.items()},
        "hard_answers": {
            kind: round(float(table.hard.lengths.mean()), 1) for kind, table in test.items() if len(table)
        },
    }


def heuristic(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    dataset = Dataset.open(folder / "dataset")
    result = evaluate(EdgeType(), dataset, "test", Options(limit=arguments.limit), name="edge-type")
    by_type = {kind: round(100 * found.metrics.hits_at_100, 2) for kind, found in result.types.items()}
    return {"candidates": result.candidates, "hits_at_100": by_type | _average(result)}


def oracle(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    dataset = Dataset.open(folder / "dataset")
    world = LatentGraph(num_entities_of(arguments.scale), RELATIONS, arguments.seed)
    options = BeamOptions(beam=arguments.beam, scale="softmax")
    method = CqdBeam(Oracle.of(dataset.observed("test"), world), options)
    result = evaluate(method, dataset, "test", Options(limit=arguments.limit), name="oracle")
    by_type = {kind: round(100 * found.metrics.hits_at_100, 2) for kind, found in result.types.items()}
    return {"candidates": result.candidates, "hits_at_100": by_type | _average(result)}


def grow(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """New nodes with ten links each, then a 2p question about each of eight of them; vectors are random."""
    graph, random = Dataset.open(folder / "dataset").observed("test"), np.random.default_rng(arguments.seed)
    count = max(10, round(NEW_NODES * arguments.scale))
    triples = new_triples(graph, count, random)
    vectors = torch.randn(graph.num_entities + count, DIM), torch.randn(2 * graph.num_relations, DIM)
    start = time.perf_counter()
    grown = graph.extended_with(triples)
    extended = time.perf_counter()
    method = CqdBeam(VectorScorer(VectorLinks(*vectors)), BeamOptions(beam=arguments.beam))
    method.links(grown)
    known = time.perf_counter()
    asked = [Project(1, Project(0, Anchor(grown.num_entities - 1 - place))) for place in range(8)]
    best = RunningTop(len(asked), 10, torch.device("cpu"))
    for first, block in method.score_blocks(grown, asked).blocks():
        best.add(block, first)
    spent = {"extend": extended - start, "know": known - extended, "answer": time.perf_counter() - known}
    return {"new_nodes": count, "new_triples": len(triples), "questions": len(asked)} | {
        f"{name}_seconds": round(value, 2) for name, value in spent.items()
    }


def new_triples(graph: KnowledgeGraph, count: int, random: np.random.Generator) -> list[tuple[str, str, str]]:
    """Ten links of each new node, to old ones."""
    old = graph.vocabulary.entities.keys.take(random.integers(0, graph.num_entities, 10 * count)).to_pylist()
    relations = graph.vocabulary.relations.keys.take(random.integers(0, graph.num_relations, 10 * count)).to_pylist()
    new = [f"new {number // 10}" for number in range(10 * count)]
    return list(zip(new, relations, old, strict=True))


STAGES: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "generate": generate,
    "split": split,
    "sample": sample,
    "heuristic": heuristic,
    "oracle": oracle,
    "grow": grow,
}


def run_stage(name: str, folder: Path, arguments: argparse.Namespace) -> None:
    """One stage and its JSON line."""
    folder.mkdir(parents=True, exist_ok=True)
    start, busy = time.perf_counter(), time.process_time()
    found = STAGES[name](folder, arguments)
    report = {
        "benchmark": "large_graph",
        "stage": name,
        "scale": arguments.scale,
        "seconds": round(time.perf_counter() - start, 2),
        "cpu_seconds": round(time.process_time() - busy, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(json.dumps(report | found), flush=True)


def run_all(folder: Path, arguments: argparse.Namespace) -> None:
    """Every stage in a process of its own, so that each has its own peak of memory."""
    numbers = ("scale", "seed", "queries", "limit", "beam")
    options = [part for name in numbers for part in (f"--{name}", str(getattr(arguments, name)))]
    for name in STAGES:
        subprocess.run([sys.executable, __file__, name, "-o", str(folder), *options], check=True)


def _edges(dataset: Dataset, kind: str) -> list[tuple[str, Any]]:
    return [(side, getattr(dataset.split, f"{side}_{kind}")) for side in ("valid", "test")]


def _average(result: Any) -> dict[str, float]:
    return {"avg_p": round(100 * result.averages["avg_p"]["hits_at_100"], 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", nargs="?", default="all", choices=[*STAGES, "all"])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--scale", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--queries", type=int, default=1000, help="a type, in valid and in test")
    parser.add_argument("--limit", type=int, default=100, help="queries a type that are measured")
    parser.add_argument("--beam", type=int, default=8)
    arguments = parser.parse_args()
    arguments.scale = arguments.scale or (1.0 if arguments.output else SMALL)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.output or Path(temporary)
        if arguments.stage == "all":
            run_all(folder, arguments)
        else:
            run_stage(arguments.stage, folder, arguments)


if __name__ == "__main__":
    main()
