"""GNN-QE: steps per second, milliseconds a query, and what a run scores. One JSON line for each.

Without arguments a network of the paper's size learns for a few steps on a random graph. With a dataset it trains (or
goes on with) a run for some minutes, then measures the best weights on test queries:

    python benchmarks/train_gnn_qe.py 175.npz runs/175 --minutes 8 --test 2000 [--set steps=10000] [--profile]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unseen.datasets.answering import answer_table
from unseen.datasets.dataset import Dataset
from unseen.datasets.published import import_dataset
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.split import inductive_split
from unseen.evaluation.evaluator import Options, evaluate
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.protocols import Answerer
from unseen.logic.shapes import SHAPES
from unseen.methods.gnn_qe.gnn_qe_settings import GnnQeConfig
from unseen.methods.registry import make_method
from unseen.methods.training_settings import TRAINED_TYPES
from unseen.models.devices import chosen_device
from unseen.models.run_folder import open_method, relation_keys
from unseen.training.batches import Batches
from unseen.training.session import read_settings, train

PAPER = {
    "1p": 65.4, "2p": 36.3, "3p": 31.6, "2i": 73.8, "3i": 84.3, "pi": 56.5, "ip": 41.5, "2u": 39.3, "up": 28.0,
    "2in": 33.3, "3in": 46.4, "inp": 29.2, "pin": 24.9, "pni": 34.0,
}  # fmt: skip
"""Hits@10 of GNN-QE on the test queries of the ratio 175."""


def show(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def random_dataset(entities: int = 1000, relations: int = 50, triples: int = 5000) -> Dataset:
    """Random graphs and training queries, enough to measure speed."""
    random = np.random.default_rng(0)
    columns = [random.integers(limit, size=triples).astype(np.int32) for limit in (entities, relations, entities)]
    graph = KnowledgeGraph(*columns, Vocabulary.numbered(entities, relations))
    dataset = Dataset("random", inductive_split(graph, 175))
    observed = dataset.observed("train")
    limits = {"e": observed.num_entities, "r": 2 * observed.num_relations}
    tables = {}
    for name in TRAINED_TYPES:
        slots = np.stack([random.integers(limits[slot], size=500) for slot in SHAPES[name].slots], axis=1)
        answers = answer_table(observed, SHAPES[name], slots.astype(np.int32))
        tables[name] = QueryTable(SHAPES[name], slots.astype(np.int32), answers, Ragged.empty(500))
    return dataset.with_queries({"train": tables}, {})


def measure_steps(dataset: Dataset, settings: dict[str, Any], count: int, profile: bool) -> None:
    """The speed of whole steps without validation, as the loop runs them."""
    speeds: list[dict[str, Any]] = []
    short = {"steps": count, "log_every": count // 2, "checkpoint_every": count, "calibration_queries": 0}
    without_validation = dataset.with_queries({"train": dataset.tables["train"]}, {})
    with tempfile.TemporaryDirectory() as folder:
        report = lambda _event, values: speeds.append(values)  # noqa: E731
        train("gnn-qe", without_validation, Path(folder) / "run", settings | short, report=report)
    last = [values for values in speeds if "steps_per_second" in values][-1]
    show(
        benchmark="gnn-qe training",
        dataset=dataset.name,
        device=_device_name(),
        batch_size=settings.get("batch_size", GnnQeConfig().batch_size),
        steps_per_second=round(last["steps_per_second"], 3),
        ms_per_step=round(1000 / last["steps_per_second"], 1),
        peak_memory_gib=last.get("peak_memory_gib"),
        threads=torch.get_num_threads(),
    )
    if profile:
        profile_steps(dataset, settings)


def profile_steps(dataset: Dataset, settings: dict[str, Any], count: int = 10) -> None:
    """Where the device's time goes, as a table on standard error."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler

    config = GnnQeConfig(**settings)
    method = make_method(config, relation_keys(dataset)).to(chosen_device(config.device))
    batches = Batches(dataset.tables["train"], config.types, {}, batch_size=config.batch_size, seed=0)
    optimizer = torch.optim.Adam(method.parameters())

    def step(number: int) -> None:
        generator = torch.Generator(method.device).manual_seed(number)
        method.loss(dataset.observed("train"), batches[number].queries, batches[number].answers, generator).backward()
        optimizer.step()
        optimizer.zero_grad()

    for number in range(3):
        step(number)
    if torch.cuda.is_available():  # where the host waits for the device: nowhere inside a step
        torch.cuda.set_sync_debug_mode("warn")
        step(3)
        torch.cuda.set_sync_debug_mode("default")
    with profiler(activities=list(_activities(ProfilerActivity))) as found:
        for number in range(count):
            step(number)
    key = "self_device_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
    print(found.key_averages().table(sort_by=key, row_limit=40, max_name_column_width=60), file=sys.stderr)


def _activities(kinds: Any) -> list[Any]:
    return [kinds.CPU, kinds.CUDA] if torch.cuda.is_available() else [kinds.CPU]


def measure_latency(method: Answerer, dataset: Dataset) -> None:
    """Milliseconds for one 2p query, and for each of sixty-four at once, on the test graph."""
    graph, table = dataset.observed("test"), dataset.tables["test"]["2p"]
    for size in (1, 64):
        queries = [table.query(row) for row in range(size)]
        times = []
        for _ in range(8):
            start = time.perf_counter()
            method.answer(graph, queries).sum().item()
            times.append(time.perf_counter() - start)
        show(
            benchmark="gnn-qe 2p queries", batch=size, ms_per_query=round(1000 * float(np.median(times[2:])) / size, 3)
        )


def measure_test(folder: Path, dataset: Dataset, limit: int, output: Path | None) -> None:
    """Hits@10 of the best weights, beside the paper's at 175."""
    method, start = open_method(folder), time.perf_counter()
    measure_latency(method, dataset)
    for known_facts in (True, False):
        answering = open_method(folder, known_facts=known_facts)
        result = evaluate(answering, dataset, "test", Options(limit=limit), name="gnn-qe")
        hits = {name: round(100 * found.metrics.hits_at_10, 1) for name, found in result.types.items()}
        averages = {key: round(100 * found["hits_at_10"], 1) for key, found in result.averages.items()}
        mrr = {key: round(100 * found["mrr"], 1) for key, found in result.averages.items()}
        show(benchmark="gnn-qe test", known_facts=known_facts, limit=limit, hits_at_10=averages, mrr=mrr, types=hits)
        if output is not None and known_facts:
            output.write_text(json.dumps(result.to_json()))
    show(benchmark="gnn-qe test", paper_175=PAPER, seconds=round(time.perf_counter() - start, 1))


def _device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def _opened(path: Path) -> Dataset:
    return Dataset.open(path, verify=False) if (path / "manifest.json").exists() else import_dataset(path)


def _settings(texts: list[str]) -> dict[str, Any]:
    """Settings given as name=value, value in JSON."""
    return {name: json.loads(value) for name, _, value in (text.partition("=") for text in texts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--set", dest="settings", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--speed-steps", type=int, default=20)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--test", type=int, default=0, help="test queries a type")
    parser.add_argument("--result", type=Path, help="where to write the test result")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    settings = read_settings(options.config, _settings(options.settings))
    torch.set_float32_matmul_precision("high")
    dataset = random_dataset() if options.dataset is None else _opened(options.dataset)
    if options.speed_steps:
        measure_steps(dataset, settings, options.speed_steps, options.profile)
    if options.run is not None:
        train("gnn-qe", dataset, options.run, settings, resume=True, minutes=options.minutes, report=_report)
        if options.test:
            measure_test(options.run, dataset, options.test, options.result)


def _report(event: str, values: dict[str, Any]) -> None:
    if event in ("start", "validation", "end") or (event == "train" and values["step"] % 500 == 0):
        show(event=event, **values)


if __name__ == "__main__":
    main()
