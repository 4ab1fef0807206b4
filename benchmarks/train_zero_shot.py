"""The zero-shot model: steps and sampled queries a second, milliseconds a query, and what a model scores.

One JSON line for each. Without arguments, everything on random graphs, small enough for a laptop:

    python benchmarks/train_zero_shot.py
    python benchmarks/train_zero_shot.py --graphs fb15k-237 wn18rr --set dim=64 layers=6 --speed-steps 40
    python benchmarks/train_zero_shot.py --model runs/general --evaluate 175.npz 550.npz --limit 1000 --speed-steps 0
    python benchmarks/train_zero_shot.py --model runs/general --latency fb15k-237 --speed-steps 0
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from unseen.datasets.published import import_dataset
from unseen.evaluation.evaluator import Options, evaluate
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Query
from unseen.logic.shapes import SHAPES
from unseen.methods.fuzzy_gnn.captured import Recordings
from unseen.methods.registry import make_method
from unseen.methods.training_settings import from_mapping
from unseen.methods.zero_shot.pretraining_settings import PretrainingConfig
from unseen.models.devices import chosen_device
from unseen.models.model_folder import open_model
from unseen.nn.kernels import cpu_layer
from unseen.training.pretraining.pretraining_session import pretrain
from unseen.training.pretraining.source_graphs import NamedGraph, open_graph, open_graphs
from unseen.training.pretraining.worlds import make_world

ANCHOR_STEP_MS = {8: 236, 32: 391}
"""A training step of the published model by batch, FB15k-237 on an H200."""
ANCHOR_2P_MS = {"cuda": {1: 43, 8: 7.1, 32: 2.9}, "cpu": {1: 727, 8: 413}}
"""Milliseconds a 2p query of the published model by batch, FB15k-237, best of two runs; the CPU has two cores."""


def show(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def random_graphs() -> list[NamedGraph]:
    """Two random graphs of a thousand entities."""
    graphs = []
    for seed, relations in enumerate((40, 10)):
        random = np.random.default_rng(seed)
        columns = [random.integers(limit, size=6000) for limit in (1000, relations, 1000)]
        graphs.append(NamedGraph(f"random-{seed}", KnowledgeGraph(*columns, Vocabulary.numbered(1000, relations))))
    return graphs


def measure_sampler(graphs: list[NamedGraph], settings: dict[str, Any], worlds: int = 12) -> None:
    """Worlds and queries a second, in one thread, beside what a step needs."""
    config = from_mapping(PretrainingConfig, settings)
    parts = [one.graph for one in graphs]
    make_world(parts, config, 0)  # compiles
    start, queries = time.perf_counter(), 0
    for number in range(1, worlds + 1):
        queries += sum(len(table) for table in make_world(parts, config, number).tables.values())
    seconds = time.perf_counter() - start
    show(
        benchmark="zero-shot sampler",
        worlds_per_second=round(worlds / seconds, 2),
        queries_per_second=round(queries / seconds),
        steps_per_second_that_one_thread_feeds=round(worlds / seconds * config.steps_per_world, 1),
    )


def measure_steps(graphs: list[NamedGraph], settings: dict[str, Any], count: int) -> None:
    """The speed of whole steps without validation, as the loop runs them; the second half counts."""
    speeds: list[dict[str, Any]] = []
    short = {"steps": count, "log_every": max(1, count // 2), "checkpoint_every": count, "calibration_queries": 0}
    short |= {"validate_every": 0, "validation_queries": 1, "validation_types": ("1p",)}
    with tempfile.TemporaryDirectory() as folder:
        report = lambda _event, values: speeds.append(values)  # noqa: E731
        pretrain(graphs, Path(folder) / "run", settings | short, report=report)
    last = [values for values in speeds if "steps_per_second" in values][-1]
    config = from_mapping(PretrainingConfig, settings)
    ms = 1000 / last["steps_per_second"]
    anchor = ANCHOR_STEP_MS.get(config.batch_size) if torch.cuda.is_available() else None
    show(
        benchmark="zero-shot training",
        device=_device_name(),
        batch_size=config.batch_size,
        shape=f"{config.relation_layers} + {config.layers} layers of {config.dim}",
        largest_world=config.largest_world,
        ms_per_step=round(ms, 1),
        steps_per_second=round(last["steps_per_second"], 3),
        times_faster_than_published_on_h200=None if anchor is None else round(anchor / ms, 2),
        peak_memory_gib=last.get("peak_memory_gib"),
    )


def measure_latency(method: Any, graph: KnowledgeGraph, names: tuple[str, ...] = ("1p", "2p", "2i", "3p")) -> None:
    """Milliseconds a query at batch 1, 8 and 32: the first batch, and the median of further ones on other anchors.

    The baseline of the same run is the same network layer by layer in plain operations, and without recordings.
    """
    random, device = np.random.default_rng(0), "cuda" if torch.cuda.is_available() else "cpu"
    for name in names:
        for size in (1, 8, 32):
            batches = [_questions(graph, [name] * size, random) for _ in range(6)]
            times = [_milliseconds(method, graph, batch) / size for batch in batches]
            found = float(np.median(times[1:]))
            anchor = ANCHOR_2P_MS[device].get(size) if name == "2p" else None
            with plain_layers():
                plain = min(_milliseconds(method, graph, batch) for batch in batches[:2]) / size if size == 1 else None
            show(
                benchmark="zero-shot latency",
                device=_device_name(),
                triples=graph.num_triples,
                type=name,
                batch=size,
                first_ms_per_query=round(times[0], 2),
                ms_per_query=round(found, 2),
                fastest_ms_per_query=round(min(times), 2),
                times_faster_than_plain_layers=None if plain is None else round(plain / found, 2),
                times_faster_than_published_2p=None if anchor is None else round(anchor / found, 2),
                load=_load(),
            )


def measure_rate(method: Any, name: str = "countries", seconds: float = 2.0) -> None:
    """Questions a second on a small graph: one at a time, and 32 together as a server puts them."""
    graph, random = open_graph(name).graph, np.random.default_rng(1)
    shapes = ["1p", "2p", "2i", "pi", "2in"]
    method.answer(graph, _questions(graph, shapes * 20, random))  # every relation has been asked for
    rates = {}
    for size in (1, 32):
        spent, asked = 0.0, 0
        while spent < seconds:
            kinds = [shapes[(asked + place) % len(shapes)] for place in range(size)]
            spent += _milliseconds(method, graph, _questions(graph, kinds, random)) / 1000
            asked += size
        rates[size] = asked / spent
    show(
        benchmark="zero-shot rate",
        device=_device_name(),
        graph=name,
        questions_per_second_one_by_one=round(rates[1], 1),
        questions_per_second_in_batches_of_32=round(rates[32], 1),
        times_faster_in_batches=round(rates[32] / rates[1], 2),
        load=_load(),
    )


@contextmanager
def plain_layers() -> Iterator[None]:
    """Inside, a layer is one operation after another, on either device."""
    with patch.object(cpu_layer, "takes", lambda *_: False), patch.object(Recordings, "pays_off", lambda *_: False):
        yield


def _questions(graph: KnowledgeGraph, names: list[str], random: np.random.Generator) -> list[Query]:
    limits = {"e": graph.connected_entities, "r": np.arange(graph.vocabulary.num_directed_relations)}
    return [SHAPES[name].fill([int(random.choice(limits[slot])) for slot in SHAPES[name].slots]) for name in names]


def _milliseconds(method: Any, graph: KnowledgeGraph, queries: list[Query]) -> float:
    start = time.perf_counter()
    method.answer(graph, queries).sum().item()
    return 1000 * (time.perf_counter() - start)


def _load() -> float:
    """How many programs wanted a core in the last minute."""
    return round(os.getloadavg()[0], 1)


def measure_test(name: str, path: Path, limit: int) -> None:
    """Hits@10 and MRR on the test queries of a dataset, with and without known facts."""
    dataset = import_dataset(path)
    for known_facts in (True, False):
        start = time.perf_counter()
        method = open_model(name, known_facts=known_facts)
        result = evaluate(method, dataset, "test", Options(limit=limit), name=name)
        hits = {kind: round(100 * found.metrics.hits_at_10, 1) for kind, found in result.types.items()}
        averages = {key: round(100 * found["hits_at_10"], 1) for key, found in result.averages.items()}
        mrr = {key: round(100 * found["mrr"], 1) for key, found in result.averages.items()}
        show(
            benchmark="zero-shot test",
            model=name,
            dataset=path.name,
            known_facts=known_facts,
            limit=limit,
            hits_at_10=averages,
            mrr=mrr,
            types=hits,
            seconds=round(time.perf_counter() - start, 1),
        )


def _device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def _settings(texts: list[str]) -> dict[str, Any]:
    """Settings given as name=value, value in JSON."""
    return {name: json.loads(value) for name, _, value in (text.partition("=") for text in texts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="*", default=[])
    parser.add_argument("--set", dest="settings", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--speed-steps", type=int, default=16)
    parser.add_argument("--model", help="a shipped model, its folder, or a run; random weights if none is given")
    parser.add_argument("--latency", metavar="GRAPH", help="the graph to ask; the first of --graphs by default")
    parser.add_argument("--evaluate", nargs="*", default=[], type=Path, metavar="NPZ")
    parser.add_argument("--limit", type=int, default=1000, help="test queries a type")
    options = parser.parse_args()
    settings = _settings(options.settings)
    torch.set_float32_matmul_precision("high")
    graphs = open_graphs(options.graphs) if options.graphs else random_graphs()
    if options.speed_steps:
        measure_sampler(graphs, settings)
        measure_steps(graphs, settings, options.speed_steps)
    if options.speed_steps or options.latency:
        fresh = make_method(from_mapping(PretrainingConfig, settings), ()).to(chosen_device("auto")).eval()
        method = fresh if options.model is None else open_model(options.model)
        measure_latency(method, graphs[0].graph if options.latency is None else open_graph(options.latency).graph)
        measure_rate(method)
    for path in options.evaluate:
        measure_test(options.model or "default", path, options.limit)


if __name__ == "__main__":
    main()
