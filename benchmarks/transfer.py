"""What models know of graphs that they were not trained on, by splits that are given as files.

For every folder with train, valid and test files (and every graph with an inference graph of its own, see
`unseen split --given`) and every model: link prediction (every hidden triple from both ends, means over triples) and
questions of the fourteen types, with and without known facts. One JSON line each; all numbers are per cent, filtered,
and beside them stand those of the edge-type heuristic on the same questions and the ratio to it.

    python benchmarks/transfer.py codex-m wn18rr --models default --count 5 --links 20
    python benchmarks/transfer.py codex-m wn18rr --keep prepared --prepare-only
    python benchmarks/transfer.py --keep prepared --models default runs/without-fb --count 1000
    python benchmarks/transfer.py data/fb237_v1:data/fb237_v1_ind --observe train --models default

A folder may be a dataset that `unseen split --given` has made. `--keep DIR` keeps the datasets with their questions in
DIR, one folder each (TRAINING_to_INFERENCE where there are two graphs), and takes what is there already if it is of the
same files and shows the same at test; without any FOLDER all of DIR is measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unseen.api import check_memory
from unseen.datasets.dataset import Dataset
from unseen.datasets.given_files import given_files
from unseen.datasets.given_split import OBSERVE, given_split, observed_by_default
from unseen.datasets.sampling.sample import SampleOptions
from unseen.datasets.sampling.sample_dataset import SamplePlan, sample_dataset
from unseen.errors import DatasetError, UnseenError
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.results import METRICS, RankMetrics, Result
from unseen.logic.shapes import SHAPES
from unseen.methods.edge_type import EdgeType
from unseen.models.model_folder import ModelFolder, find_model, open_model
from unseen.models.run_folder import RunFolder

BASELINE = "edge-type"
SEED = 0
SHOWN = tuple(metric for metric in METRICS if metric != "hits_at_100")


def show(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def name_of(source: str) -> str:
    """The name of a source's dataset: that of its folder, or of both as TRAINING_to_INFERENCE."""
    return "_to_".join(Path(folder).resolve().name for folder in source.split(":", 1) if folder)


def about(source: str, observe: str | None) -> dict[str, Any]:
    """What makes a source's dataset the one that it is: its files by their checksums, and what is observed at test."""
    training, _, inference = source.partition(":")
    if (Path(training) / "manifest.json").is_file():
        manifest = Dataset.open(training, verify=False).manifest
        sources = manifest.get("sources") or checksums([Path(training) / "manifest.json"])
        return {"sources": sources, "observe": manifest.get("observe")}
    files = given_files([training], [inference] if inference else [])
    return {"sources": checksums(files.paths), "observe": observe or observed_by_default(files)}


def checksums(paths: list[Path]) -> list[list[str]]:
    """The names of files and what is in them; folders may lie elsewhere on another machine."""
    found = []
    for path in paths:
        with path.open("rb") as stream:
            found.append([path.name, hashlib.file_digest(stream, "sha256").hexdigest()])
    return found


def opened(source: str, wanted: dict[str, Any]) -> Dataset:
    """The dataset of a folder, or of two as TRAINING:INFERENCE, that says what it is made of."""
    training, _, inference = source.partition(":")
    if (Path(training) / "manifest.json").is_file():
        dataset = Dataset.open(training)
        return replace(dataset, manifest={**dataset.manifest, **wanted})
    found = given_split(given_files([training], [inference] if inference else []), wanted["observe"])
    for remark in found.remarks:
        show(graph=source, remark=remark)
    return Dataset(name_of(source), found.split, manifest={"kind": found.kind, **wanted})


def with_questions(dataset: Dataset, count: int, threads: int | None) -> Dataset:
    """The same with so many test questions of every type, always the same ones; it keeps those that it has."""
    if any(dataset.tables["test"].values()) or count == 0:
        return dataset
    counts = {(side, name): count if side == "test" else 0 for side in ("train", "valid", "test") for name in SHAPES}
    sampled, remarks = sample_dataset(
        dataset, SamplePlan(counts=counts, options=SampleOptions(seed=SEED)), None, threads
    )
    for remark in remarks:
        show(graph=dataset.name, remark=remark)
    return sampled.with_queries(sampled.tables, {}, count=count)


def is_kept(folder: Path, wanted: dict[str, Any], count: int) -> bool:
    """Whether a folder holds what would be rebuilt; one with another source's dataset is refused, not replaced."""
    if not (folder / "manifest.json").is_file():
        return False
    manifest = Dataset.open(folder, verify=False).manifest
    if manifest.get("sources", wanted["sources"]) != wanted["sources"]:
        raise DatasetError("is kept from other files of that name: remove it, or --keep these elsewhere", path=folder)
    as_wanted = all(manifest.get(key) == value for key, value in wanted.items())
    return as_wanted and manifest.get("count", 0) >= count


def prepared(sources: list[str], options: argparse.Namespace) -> list[Dataset]:
    """The datasets to measure; those that are kept already are not made again."""
    if not sources:
        return [Dataset.open(path.parent) for path in sorted(Path(options.keep).glob("*/manifest.json"))]
    found = []
    for source in sources:
        kept, wanted = options.keep and Path(options.keep) / name_of(source), about(source, options.observe)
        if kept and is_kept(kept, wanted, options.count):
            found.append(Dataset.open(kept))
            continue
        start = time.perf_counter()
        dataset = with_questions(opened(source, wanted), options.count, options.threads)
        if kept:
            dataset.save(kept)
        found.append(dataset)
        show(benchmark="transfer preparation", graph=dataset.name, seconds=round(time.perf_counter() - start, 1))
    return found


def measured(method: Any, dataset: Dataset, options: argparse.Namespace) -> tuple[Result, float]:
    """Links and questions of one method, and the seconds that took."""
    start = time.perf_counter()
    types = tuple(name for name in options.types or SHAPES if len(dataset.tables["test"].get(name, ())))
    chosen: dict[str, Any] = {"seed": SEED, "batch_size": options.batch_size}
    links = evaluate(method, dataset, "test", Options((), options.links or None, links=True, **chosen)).links
    asked = {}
    if types and options.count:
        asked = evaluate(method, dataset, "test", Options(types, options.count, **chosen)).types
    return Result(type(method).__name__, dataset.name, "test", asked, links=links), time.perf_counter() - start


def report(model: str, known_facts: bool, found: tuple[Result, float], baseline: Result, dataset: Dataset) -> None:
    """One line: links, averages and types of a model, and the heuristic's beside them."""
    result, seconds = found
    graph = dataset.observed("test")
    assert result.links is not None
    assert baseline.links is not None
    show(
        benchmark="transfer",
        graph=dataset.name,
        observe=dataset.manifest.get("observe"),
        entities=len(graph.connected_entities),
        relations=len(np.unique(graph.relations)),
        observed_triples=graph.num_triples,
        model=model,
        learned_from=learned_from(model),
        known_facts=known_facts,
        links=numbers(result.links.metrics) | {"triples": result.links.metrics.answers // 2},
        links_by_direction={name: numbers(one) for name, one in result.links.directions.items()},
        averages=averages(result),
        hits_at_10={name: per_cent(one.metrics.hits_at_10) for name, one in result.types.items()},
        mrr={name: per_cent(one.metrics.mrr) for name, one in result.types.items()},
        queries=max((one.metrics.queries for one in result.types.values()), default=0),
        baseline=BASELINE,
        baseline_links=numbers(baseline.links.metrics),
        baseline_averages=averages(baseline),
        links_mrr_ratio=ratio(result.links.metrics.mrr, baseline.links.metrics.mrr),
        hits_at_10_ratio={
            key: ratio(means.get("hits_at_10", 0.0), baseline.averages[key].get("hits_at_10", 0.0))
            for key, means in result.averages.items()
            if means
        },
        device=torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        seconds=round(seconds, 1),
    )


def learned_from(model: str, met: tuple[Path, ...] = ()) -> list[str]:
    """The names of the graphs that a model, or one that it began with, has seen: on these it is not tried zero-shot.

    A beginning that cannot be found here, or has been replaced by the model itself, is named in their place.
    """
    found = find_model(model)
    names, start = own_data(found)
    earlier = [] if start is None else begun_with(start, (*met, found.path.resolve()))
    return list(dict.fromkeys(names + earlier))


def begun_with(start: str, met: tuple[Path, ...]) -> list[str]:
    """What the model that another one began with has learned from, if it is there still."""
    try:
        is_other = find_model(start).path.resolve() not in met
    except UnseenError:
        is_other = False
    return learned_from(start, met) if is_other else [f"what {start} had learned from"]


def own_data(found: ModelFolder | RunFolder) -> tuple[list[str], str | None]:
    """The names of the graphs that a model has learned from itself, and the model that it began with."""
    if isinstance(found, ModelFolder):
        graphs, start = found.card["data"], found.card.get("start")
    else:
        graphs, start = found.origin.get("graphs"), found.origin.get("start")
        graphs = graphs or [{"name": found.origin.get("dataset")}]
    return [str(graph.get("name")) for graph in graphs], start


def numbers(metrics: RankMetrics) -> dict[str, float]:
    return {name: per_cent(getattr(metrics, name)) for name in SHOWN}


def averages(result: Result) -> dict[str, dict[str, float]]:
    return {key: {name: per_cent(means[name]) for name in SHOWN} for key, means in result.averages.items() if means}


def per_cent(value: float) -> float:
    return round(100 * value, 2)


def ratio(value: float, baseline: float) -> float | None:
    return round(value / baseline, 2) if baseline else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="a split, a dataset, or TRAINING:INFERENCE")
    parser.add_argument("--models", nargs="*", default=["default"], help="names, folders of models, or runs")
    parser.add_argument("--count", type=int, default=1000, help="questions of each type; 0 asks for links alone")
    parser.add_argument("--links", type=int, default=0, help="most hidden triples to ask for; all by default")
    parser.add_argument("--types", nargs="*", choices=list(SHAPES), help="all fourteen by default")
    parser.add_argument("--observe", choices=OBSERVE, help="what is known at test; see `unseen split --given`")
    parser.add_argument("--keep", metavar="DIR", help="where datasets with their questions are kept")
    parser.add_argument("--prepare-only", action="store_true", help="make the datasets, measure nothing")
    parser.add_argument("--batch-size", type=int, help="questions at once; by default as many as make 4 M scores")
    parser.add_argument("--threads", type=int, help="threads that sample; all cores by default")
    options = parser.parse_args()
    if not (options.folders or options.keep):
        parser.error("name a FOLDER, or --keep DIR with datasets in it")
    torch.set_float32_matmul_precision("high")
    datasets = prepared(options.folders, options)
    for dataset in [] if options.prepare_only else datasets:
        baseline, seconds = measured(EdgeType(), dataset, options)
        show(benchmark="transfer baseline", graph=dataset.name, method=BASELINE, seconds=round(seconds, 1))
        for model in options.models:
            for known_facts in (True, False):
                try:
                    method = open_model(model, known_facts=known_facts)
                    check_memory(method, dataset.observed("test"))
                    found = measured(method, dataset, options)
                except UnseenError as error:
                    show(benchmark="transfer", graph=dataset.name, model=model, error=str(error))
                    break
                report(model, known_facts, found, baseline, dataset)


if __name__ == "__main__":
    main()
