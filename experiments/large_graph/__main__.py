"""A graph of millions of nodes from nothing to questions with known answers: seconds and peak memory of every stage.

The graph has the published statistics of WikiKG-QE (2.5 M entities, 512 relations, 17 M triples before it is split) and
something to learn, see `latent_graph`. Each stage is a process of its own and prints one JSON line; `all` runs them one
after the other. The same commands of `unseen` work on any TSV or Parquet file of that size.

    python -m experiments.large_graph all -o FOLDER [--scale 0.1]
    python -m experiments.large_graph generate -o FOLDER     writes FOLDER/graph.parquet
    python -m experiments.large_graph split -o FOLDER        writes FOLDER/dataset, ratio 133 %
    python -m experiments.large_graph sample -o FOLDER       1,000 questions of each type without negation
    python -m experiments.large_graph heuristic -o FOLDER    the edge-type heuristic, to compare with
    python -m experiments.large_graph oracle -o FOLDER       CQD-Beam with the true chances: an upper bound
    python -m experiments.large_graph tokenise -o FOLDER     20,000 anchors and the tokens of all nodes
    python -m experiments.large_graph train -o FOLDER        NodePiece-QE into FOLDER/run [--minutes 20 --set dim=100]
    python -m experiments.large_graph tune -o FOLDER         options of CQD-Beam, on validation questions
    python -m experiments.large_graph evaluate -o FOLDER     Hits@100 of the run against all entities
    python -m experiments.large_graph grow -o FOLDER         10,000 new nodes, 100,000 links, questions about them

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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.large_graph.latent_graph import RELATIONS, LatentGraph, latent_graph, num_entities_of
from experiments.large_graph.latent_oracle import Oracle
from experiments.large_graph.model_stages import evaluate_run, grow, hits_of, tokenise, train, tune
from unseen.datasets.dataset import Dataset
from unseen.datasets.sampling.sample import SampleOptions, sample_queries
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.datasets.shared_work import in_threads
from unseen.datasets.split import inductive_split
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.results import EPFO
from unseen.graph.files.readers import read_graph
from unseen.graph.files.writers import write_graph
from unseen.logic.shapes import SHAPES
from unseen.methods.cqd_beam import BeamOptions, CqdBeam
from unseen.methods.edge_type import EdgeType

if TYPE_CHECKING:
    from collections.abc import Callable

RATIO, SEED = 133, 42
SMALL = 0.01
SMALL_TRAINING = ["steps=300", "validate_every=150", "batch_size=1024", "negatives=512", "dim=32", "hidden_dim=64"]
"""Settings of a run at a hundredth of the size, a matter of seconds."""


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
    return hits_of(result)


def oracle(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    dataset = Dataset.open(folder / "dataset")
    world = LatentGraph(num_entities_of(arguments.scale), RELATIONS, arguments.seed)
    options = BeamOptions(beam=arguments.beam, scale="softmax")
    method = CqdBeam(Oracle.of(dataset.observed("test"), world), options)
    result = evaluate(method, dataset, "test", Options(limit=arguments.limit), name="oracle")
    return hits_of(result)


STAGES: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "generate": generate,
    "split": split,
    "sample": sample,
    "heuristic": heuristic,
    "oracle": oracle,
    "tokenise": tokenise,
    "train": train,
    "tune": tune,
    "evaluate": evaluate_run,
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
    numbers = ("scale", "seed", "queries", "limit", "beam", "tuning", "run")
    options = [part for name in numbers for part in (f"--{name}", str(getattr(arguments, name)))]
    options += ["--minutes", str(arguments.minutes)] if arguments.minutes else []
    options += ["--set", *arguments.settings]
    for name in STAGES:
        subprocess.run([sys.executable, "-m", "experiments.large_graph", name, "-o", str(folder), *options], check=True)


def _edges(dataset: Dataset, kind: str) -> list[tuple[str, Any]]:
    return [(side, getattr(dataset.split, f"{side}_{kind}")) for side in ("valid", "test")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", nargs="?", default="all", choices=[*STAGES, "all"])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--scale", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--queries", type=int, default=1000, help="a type, in valid and in test")
    parser.add_argument("--limit", type=int, default=100, help="queries a type that are measured")
    parser.add_argument("--beam", type=int, default=8)
    parser.add_argument("--run", default="run", help="the folder of the training run, in FOLDER")
    parser.add_argument("--minutes", type=float, help="end training after so long; the same command continues with it")
    parser.add_argument("--set", dest="settings", nargs="*", default=[], metavar="NAME=VALUE", help="of the training")
    parser.add_argument("--tuning", type=int, default=50, help="validation queries a type that options are chosen by")
    arguments = parser.parse_args()
    arguments.scale = arguments.scale or (1.0 if arguments.output else SMALL)
    if not arguments.output:
        arguments.settings = [*SMALL_TRAINING, *arguments.settings]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.output or Path(temporary)
        if arguments.stage == "all":
            run_all(folder, arguments)
        else:
            run_stage(arguments.stage, folder, arguments)


if __name__ == "__main__":
    main()
