"""Rules alone: how long mining takes, and what links are predicted afterwards, as JSON lines.

Run: .venv/bin/python benchmarks/rules.py fb15k-237 wn18rr --seconds 10 100 --split valid --limit 2000

A dataset is a folder with the training, validation and test triples of a given split. `--samples` mines with fixed
numbers of samples in place of times. The first line of a process includes compiling, unless the machine code is cached.
`--grow N` makes a random graph of N triples in place of a dataset and measures mining alone; with `--hubs`, a tenth of
all edges begin at one entity, and as many end there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.given_files import given_files
from unseen.datasets.given_split import given_split
from unseen.evaluation.evaluator import Options, evaluate
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import Vocabulary
from unseen.methods.mined_rules import MinedRules
from unseen.rules.forecast import forecast
from unseen.rules.mining import mine
from unseen.rules.opening import use_rules


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", help="folders of given splits")
    parser.add_argument("--seconds", nargs="+", type=float, default=[])
    parser.add_argument("--samples", nargs="+", type=int, default=[])
    parser.add_argument("--split", choices=("valid", "test"), default="valid")
    parser.add_argument("--limit", type=int, help="hidden triples that are asked for; all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--grow", type=int, help="triples of a random graph to mine")
    parser.add_argument("--hubs", action="store_true", help="make a random graph of hubs")
    options = parser.parse_args()
    if options.grow:
        measure_growth(options)
    for folder in options.datasets:
        measure_dataset(folder, options)


def measure_growth(options: argparse.Namespace) -> None:
    graph = random_graph(options.grow, options.hubs)
    start = time.perf_counter()
    effort = efforts(options)[0]
    expected = forecast(graph, effort.get("samples", 100))
    about = {"graph": "hubs" if options.hubs else "random", "forecast": str(expected)}
    seconds = {"forecast_seconds": round(time.perf_counter() - start, 2)}
    report({**about, **seconds, **mined_numbers(graph, effort)[1]})


def efforts(options: argparse.Namespace) -> list[dict]:
    found = [{"seconds": value} for value in options.seconds] + [{"samples": value} for value in options.samples]
    return [{**effort, "seed": options.seed} for effort in found or [{"samples": 100}]]


def measure_dataset(folder: str, options: argparse.Namespace) -> None:
    split = given_split(given_files([folder], []), "train").split
    dataset = Dataset(Path(folder).name, split)
    graph = dataset.observed(options.split)
    for effort in efforts(options):
        rules, numbers = mined_numbers(graph, effort)
        method = MinedRules()
        use_rules(graph, rules)
        start = time.perf_counter()
        asked = Options(types=(), links=True, limit=options.limit, batch_size=256)
        found = evaluate(method, dataset, options.split, asked, name="rules").links
        metrics = {key: round(value, 4) for key, value in vars(found.metrics).items() if isinstance(value, float)}
        seconds = {"evaluation_seconds": round(time.perf_counter() - start, 1), "questions": found.metrics.queries}
        report(
            {"dataset": dataset.name, "split": options.split, "limit": options.limit, **numbers, **seconds, **metrics}
        )


def mined_numbers(graph: KnowledgeGraph, effort: dict) -> tuple:
    start = time.perf_counter()
    rules = mine(graph, **effort)
    numbers = {
        **effort,
        "triples": graph.num_triples,
        "mining_seconds": round(time.perf_counter() - start, 2),
        "samples_used": rules.samples,
        "path_rules": len(rules.paths.heads),
        "peak_memory_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "cores": len(os.sched_getaffinity(0)),
    }
    return rules, numbers


def random_graph(triples: int, hubs: bool = False) -> KnowledgeGraph:
    """Ends with a heavy tail, 200 relations."""
    random = np.random.default_rng(0)
    entities = max(10, triples // (20 if hubs else 10))
    ends = (entities * random.random((2, triples)) ** (6 if hubs else 2)).astype(np.int32)
    relations = (200 * random.random(triples) ** 2).astype(np.int32)
    return KnowledgeGraph(ends[0], relations, ends[1], Vocabulary.numbered(entities, 200))


def report(numbers: dict) -> None:
    print(json.dumps({"benchmark": "rules", **numbers}), flush=True)


if __name__ == "__main__":
    main()
