"""NodePiece-QE: steps per second, tokens and vectors per second, and what a run scores. One JSON line for each.

Without arguments a model learns for a few steps on a random graph, and a tenth of a graph of WikiKG's size is
tokenised. With a dataset it trains (or goes on with) a run for some minutes, then measures the best weights on test
queries, all types through the executor that a run folder opens with:

    python benchmarks/train_nodepiece_qe.py 175.npz runs/175 --minutes 10 --test 2000 --config settings.toml
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from unseen.training.recipes import completed

from unseen.datasets.dataset import Dataset
from unseen.datasets.published import import_dataset
from unseen.datasets.split import inductive_split
from unseen.evaluation.evaluator import Options, evaluate
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
from unseen.methods.nodepiece_qe.nodepiece_qe_settings import NodePieceQeConfig
from unseen.methods.nodepiece_qe.token_shape import NodePieceShape
from unseen.methods.registry import make_method
from unseen.methods.training_settings import from_mapping
from unseen.models.devices import chosen_device
from unseen.models.run_folder import open_method, relation_keys
from unseen.nn.tokens import NearestAnchors, Neighbours, RelationTokens, select_anchors
from unseen.training.link_batches import LinkSource
from unseen.training.session import read_settings, train

PAPER = {
    False: {"1p": 25.5, "2p": 8.2, "3p": 8.4, "2i": 12.4, "3i": 13.9, "pi": 9.9, "ip": 8.7, "2u": 7.0, "up": 6.8},
    True: {"1p": 45.9, "2p": 19.2, "3p": 11.5, "2i": 39.9, "3i": 48.8, "pi": 29.4, "ip": 22.6, "2u": 25.3, "up": 14.6},
}
"""Hits@10 of NodePiece-QE on the test queries of the ratio 175, without and with a GNN."""


def show(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def random_graph(entities: int, relations: int, triples: int) -> KnowledgeGraph:
    """Edges between power-law hubs, with power-law relations."""
    random = np.random.default_rng(0)

    def drawn(limit: int, slope: float) -> np.ndarray:
        mass = np.cumsum(np.arange(1, limit + 1) ** -slope)
        return np.minimum(np.searchsorted(mass / mass[-1], random.random(triples)), limit - 1).astype(np.int32)

    heads, tails = (
        random.permutation(entities)[drawn(entities, 0.7)],
        random.permutation(entities)[drawn(entities, 0.7)],
    )
    columns = (heads.astype(np.int32), drawn(relations, 1.0), tails.astype(np.int32))
    return KnowledgeGraph(*columns, Vocabulary.numbered(entities, relations))


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = function()
    return found, round(time.perf_counter() - start, 2)


def measure_tokens(share: float) -> None:
    """Seconds to tokenise a share of a graph of WikiKG's size: 2.5 M entities, 17 M triples, 20,000 anchors."""
    size = (int(2.5e6 * share), 512, int(17e6 * share))
    graph = random_graph(*size)
    neighbours, of_neighbours = timed(lambda: Neighbours.along(graph.heads, graph.tails, size[0]))
    anchors, of_anchors = timed(lambda: select_anchors(neighbours, int(20_000 * share)))
    _, of_nearest = timed(lambda: NearestAnchors.of(neighbours, anchors, 20))
    sources = np.concatenate([graph.heads, graph.tails])
    directed = np.concatenate([2 * graph.relations, 2 * graph.relations + 1])
    _, of_relations = timed(lambda: RelationTokens(2 * size[1], 20).of(sources, directed, size[0]))
    show(
        benchmark="nodepiece-qe tokens",
        share_of_wikikg=share,
        entities=size[0],
        triples=graph.num_triples,
        anchors=len(anchors),
        seconds=round(of_neighbours + of_anchors + of_nearest + of_relations, 2),
        parts={"neighbours": of_neighbours, "anchors": of_anchors, "nearest": of_nearest, "relations": of_relations},
    )


def measure_growth(share: float) -> None:
    """Seconds until a share of 10,000 new entities and 100,000 new edges can be asked about, without training."""
    entities, triples = int(2.5e6 * share), int(17e6 * share)
    graph, random = random_graph(entities, 512, triples), np.random.default_rng(1)
    neighbours = Neighbours.along(graph.heads, graph.tails, entities)
    names = [str(node) for node in select_anchors(neighbours, int(20_000 * share))]
    shape = NodePieceShape(dim=100, hidden_dim=200, encoder="concat", anchors_per_node=20)
    method = NodePieceQe(graph.vocabulary.relations.keys.to_pylist(), shape, anchor_names=names).eval()
    _, opening = timed(lambda: method.opened(graph))
    limits = (int(10_000 * share), 512, entities)
    columns = [random.integers(limit, size=int(100_000 * share)).tolist() for limit in limits]
    added = [(f"new {head}", str(relation), str(tail)) for head, relation, tail in zip(*columns, strict=True)]
    grown, extending = timed(lambda: graph.extended_with(added))
    _, growing = timed(lambda: method.opened(grown))
    line = {"open": opening, "extend the graph": extending, "open the grown graph": growing}
    show(benchmark="nodepiece-qe growth", share_of_wikikg=share, new_edges=len(added), seconds=line)


def measure_steps(dataset: Dataset, settings: dict[str, Any], count: int, profile: bool) -> None:
    """The speed of whole steps without validation, as the loop runs them."""
    speeds: list[dict[str, Any]] = []
    short = {"steps": count, "log_every": max(1, count // 2), "checkpoint_every": count, "calibration_queries": 0}
    without_validation = dataset.with_queries({}, {})
    with tempfile.TemporaryDirectory() as folder:
        report = lambda _event, values: speeds.append(values)  # noqa: E731
        train("nodepiece-qe", without_validation, Path(folder) / "run", settings | short, report=report)
    last = [values for values in speeds if "steps_per_second" in values][-1]
    config = _config(dataset, settings)
    show(
        benchmark="nodepiece-qe training",
        dataset=dataset.name,
        device=_device_name(),
        gnn=config.gnn,
        batch_size=config.batch_size,
        negatives=config.negatives or "all",
        steps_per_second=round(last["steps_per_second"], 3),
        ms_per_step=round(1000 / last["steps_per_second"], 2),
        triples_per_second=round(last["steps_per_second"] * config.batch_size),
        peak_memory_gib=last.get("peak_memory_gib"),
        threads=torch.get_num_threads(),
    )
    if profile:
        profile_steps(dataset, config)


def profile_steps(dataset: Dataset, config: NodePieceQeConfig, count: int = 10) -> None:
    """Where the device's time goes, as a table on standard error; warns where the host waits for the device."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler

    method = make_method(config, relation_keys(dataset)).to(chosen_device(config.device))
    assert isinstance(method, NodePieceQe)
    source = LinkSource.of(method, dataset, config)
    optimizer = torch.optim.Adam(method.parameters())

    def step(number: int) -> None:
        generator = torch.Generator(method.device).manual_seed(number)
        batch = method.prepare(source.graph, source._numbers(number))
        method.losses(batch, generator).mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    for number in range(3):
        step(number)
    if torch.cuda.is_available():
        torch.cuda.set_sync_debug_mode("warn")
        step(3)
        torch.cuda.set_sync_debug_mode("default")
    kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])
    with profiler(activities=kinds) as found:
        for number in range(count):
            step(number)
    key = "self_device_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
    print(found.key_averages().table(sort_by=key, row_limit=40, max_name_column_width=60), file=sys.stderr)


def measure_vectors(dataset: Dataset, settings: dict[str, Any]) -> None:
    """Seconds to open the test graph, and entities a second."""
    config = _config(dataset, settings)
    method = make_method(config, relation_keys(dataset)).to(chosen_device(config.device)).eval()
    assert isinstance(method, NodePieceQe)
    graph = dataset.observed("test")
    _, seconds = timed(lambda: float(method.opened(graph).vectors.sum()))
    show(benchmark="nodepiece-qe entity vectors", entities=graph.num_entities, gnn=config.gnn, seconds=seconds)


def measure_test(folder: Path, dataset: Dataset, limit: int, output: Path | None) -> None:
    """Hits@10 of the best weights, beside the paper's at 175."""
    start = time.perf_counter()
    for known_facts in (True, False):
        method = open_method(folder, known_facts=known_facts)
        result = evaluate(method, dataset, "test", Options(limit=limit), name="nodepiece-qe")
        hits = {name: round(100 * found.metrics.hits_at_10, 1) for name, found in result.types.items()}
        averages = {key: round(100 * found["hits_at_10"], 1) for key, found in result.averages.items()}
        mrr = {key: round(100 * found["mrr"], 1) for key, found in result.averages.items()}
        line = {"known_facts": known_facts, "limit": limit, "hits_at_10": averages, "mrr": mrr, "types": hits}
        show(benchmark="nodepiece-qe test", **line)
        if output is not None and known_facts:
            output.write_text(json.dumps(result.to_json()))
    gnn = "gnn = true" in (folder / "config.toml").read_text()
    show(benchmark="nodepiece-qe test", paper_175=PAPER[gnn], seconds=round(time.perf_counter() - start, 1))


def _config(dataset: Dataset, settings: dict[str, Any]) -> NodePieceQeConfig:
    return from_mapping(NodePieceQeConfig, completed("nodepiece-qe", dataset, settings))


def _device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def _opened(path: Path) -> Dataset:
    return Dataset.open(path, verify=False) if (path / "manifest.json").exists() else import_dataset(path)


def _settings(texts: list[str]) -> dict[str, Any]:
    """Settings given as name=value, value in JSON."""
    return {name: json.loads(value) for name, _, value in (text.partition("=") for text in texts)}


def _report(event: str, values: dict[str, Any]) -> None:
    if event in ("start", "validation", "end") or (event == "train" and values["step"] % 500 == 0):
        show(event=event, **values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--set", dest="settings", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--speed-steps", type=int, default=20)
    parser.add_argument("--tokens", type=float, default=0.1, help="share of WikiKG's size to tokenise; 0 is none")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--test", type=int, default=0, help="test queries a type")
    parser.add_argument("--result", type=Path, help="where to write the test result")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    settings = read_settings(options.config, _settings(options.settings))
    torch.set_float32_matmul_precision("high")
    small = Dataset("random", inductive_split(random_graph(3000, 50, 20_000), 175))
    dataset = small if options.dataset is None else _opened(options.dataset)
    if options.tokens and options.dataset is None:
        measure_tokens(options.tokens)
        measure_growth(options.tokens)
    if options.speed_steps:
        measure_steps(dataset, settings, options.speed_steps, options.profile)
        measure_vectors(dataset, settings)
    if options.run is not None:
        train("nodepiece-qe", dataset, options.run, settings, resume=True, minutes=options.minutes, report=_report)
        if options.test:
            measure_test(options.run, dataset, options.test, options.result)


if __name__ == "__main__":
    main()
