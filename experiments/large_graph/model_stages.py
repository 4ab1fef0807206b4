"""What `large_graph` does with a model: tokens, training, choosing options, Hits@100, and a graph that grows."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unseen.datasets.dataset import Dataset
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.results import EPFO, Result
from unseen.logic.algebra import Anchor, Project
from unseen.methods.cqd_beam import BeamOptions, CqdBeam, VectorLinks, VectorScorer
from unseen.methods.cqd_beam.beams import RunningTop
from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
from unseen.methods.nodepiece_qe.nodepiece_qe_settings import NodePieceQeConfig
from unseen.methods.nodepiece_qe.token_shape import NodePieceShape
from unseen.models.run_folder import open_method, relation_keys
from unseen.models.tuned_method import link_scorer_of
from unseen.training.link_batches import choose_entities
from unseen.training.session import train as train_run
from unseen.training.tuning import TuningPlan, write_tuning
from unseen.training.tuning import tune as search

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from unseen.graph import KnowledgeGraph

ANCHORS, NEW_NODES, DIM = 20_000, 10_000, 200
SETTINGS: dict[str, Any] = {
    "dim": DIM,
    "hidden_dim": 2 * DIM,
    "negatives": 4096,
    "share_negatives": True,
    "batch_size": 8192,
    "hidden_targets": 0.5,
    "dropout": 0.3,
    "token_dropout": 0.2,
    "temperature": 1.0,
    "learning_rate": 1e-3,
    "schedule": "cosine",
    "warmup": 200,
    "average": 0.999,
    "steps": 6000,
    "validate_every": 1000,
    "validation_queries": 300,
    "checkpoint_every": 1000,
    "validation_metric": "hits_at_100",
    "calibration_queries": 0,
}
"""Of the training run; anchors are as many as the scale says."""


def tokenise(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Anchors of the training graph, then the tokens of all entities of the training and of the test graph."""
    dataset, start = Dataset.open(folder / "dataset"), time.perf_counter()
    config = NodePieceQeConfig(anchors=_anchors(arguments), dim=DIM)
    names = choose_entities(dataset, config)
    chosen = time.perf_counter()
    shape = NodePieceShape(dim=2, encoder="concat", anchors_per_node=config.anchors_per_node)
    tokeniser = NodePieceQe(relation_keys(dataset), shape, anchor_names=names).tokeniser
    seconds = {"anchors": round(chosen - start, 1)}
    for name in ("train", "test"):
        begun = time.perf_counter()
        tokeniser.of(dataset.observed(name))
        seconds[name] = round(time.perf_counter() - begun, 1)
    return {"anchors": len(names), "slots": tokeniser.slots, "tokens_seconds": seconds}


def train(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """NodePiece-QE into FOLDER/run, or on from where it stands; `--minutes` ends it, `--set` changes settings."""
    dataset, run = Dataset.open(folder / "dataset"), folder / arguments.run
    given = {name: json.loads(value) for name, _, value in (text.partition("=") for text in arguments.settings)}
    settings = {} if (run / "run.json").exists() else SETTINGS | {"anchors": _anchors(arguments)}
    events: list[dict[str, Any]] = []

    def report(event: str, values: dict[str, Any]) -> None:
        if event == "validation":
            sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
            sys.stdout.flush()
        elif "steps_per_second" in values:
            events.append(values)

    outcome = train_run(
        "nodepiece-qe", dataset, run, settings | given, resume=True, minutes=arguments.minutes, report=report
    )
    found = {"is_complete": outcome.is_complete, "device": _device_name()}
    last = events[-1] if events else {}
    return found | {key: last.get(key) for key in ("step", "steps_per_second", "peak_memory_gib")}


def tune(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of each type, on validation queries."""
    dataset, run = Dataset.open(folder / "dataset"), folder / arguments.run
    scorer = link_scorer_of(open_method(run))
    plan = TuningPlan(None, arguments.tuning, "hits_at_100", BeamOptions(beam=arguments.beam))
    found = search(scorer, dataset, plan)
    write_tuning(run, found, scorer, dataset, 0)
    return {"chosen": {name: options.to_json() for name, options in found.choices.types.items()}}


def evaluate_run(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Hits@100 of the run on test queries, against all entities; with the options of `tune`, if it was run."""
    dataset = Dataset.open(folder / "dataset")
    method = open_method(folder / arguments.run)
    result = evaluate(method, dataset, "test", Options(limit=arguments.limit), name="nodepiece-qe")
    return hits_of(result)


def grow(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """New nodes with ten links each, then a 1p and a 2p question about new ones; random vectors without a run."""
    graph, random = Dataset.open(folder / "dataset").observed("test"), np.random.default_rng(arguments.seed)
    count = max(10, round(NEW_NODES * arguments.scale))
    triples = _new_triples(graph, count, random)
    method = _opened(folder / arguments.run, graph, count, arguments.beam)
    start = time.perf_counter()
    grown = graph.extended_with(triples)
    extended = time.perf_counter()
    method.scorer.opened(grown)
    encoded = time.perf_counter()
    method.links(grown)
    known = time.perf_counter()
    asked = [Project(0, Anchor(grown.num_entities - 1)), Project(1, Project(0, Anchor(grown.num_entities - 2)))]
    best = RunningTop(len(asked), 10, torch.device("cpu"))
    for first, block in method.score_blocks(grown, asked).blocks():
        best.add(block, first)
    done = time.perf_counter()
    spent = {"extend": extended - start, "vectors": encoded - extended, "know": known - encoded, "answer": done - known}
    about = {"new_nodes": count, "new_triples": len(triples), "questions": len(asked)}
    about |= {"vectors": "trained" if (folder / arguments.run).exists() else "random"}
    return about | {f"{name}_seconds": round(value, 2) for name, value in (spent | {"all": done - start}).items()}


def hits_of(result: Result) -> dict[str, Any]:
    """Hits@100 by type and on average, in percent."""
    by_type = {kind: round(100 * found.metrics.hits_at_100, 2) for kind, found in result.types.items()}
    average = {"avg_p": round(100 * result.averages["avg_p"]["hits_at_100"], 2)}
    about = {"candidates": result.candidates, "queries_per_type": result.limit}
    return about | {"hits_at_100": {kind: by_type[kind] for kind in EPFO} | average}


def _opened(run: Path, graph: KnowledgeGraph, count: int, beam: int) -> CqdBeam:
    """CQD-Beam over the run, which knows the graph before it grows, or over random vectors."""
    if not run.exists():
        vectors = torch.randn(graph.num_entities + count, DIM), torch.randn(2 * graph.num_relations, DIM)
        return CqdBeam(VectorScorer(VectorLinks(*vectors)), BeamOptions(beam=beam))
    method = open_method(run, device="cpu")
    assert isinstance(method, CqdBeam)  # noqa: S101 - a run of NodePiece-QE that has been tuned
    method.scorer.opened(graph)
    return method


def _new_triples(graph: KnowledgeGraph, count: int, random: np.random.Generator) -> list[tuple[str, str, str]]:
    """Ten links of each new node, to old ones."""
    old = graph.vocabulary.entities.keys.take(random.integers(0, graph.num_entities, 10 * count)).to_pylist()
    relations = graph.vocabulary.relations.keys.take(random.integers(0, graph.num_relations, 10 * count)).to_pylist()
    new = [f"new {number // 10}" for number in range(10 * count)]
    return list(zip(new, relations, old, strict=True))


def _anchors(arguments: argparse.Namespace) -> int:
    return int(max(100, round(ANCHORS * arguments.scale)))


def _device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
