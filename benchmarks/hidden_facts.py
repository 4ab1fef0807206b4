"""Facts of a graph hidden at random: how often a model finds them, and whether its probabilities can be believed.

One JSON line for all seeds together: filtered Hits@10 of the answers that only hidden facts give, for each type of
question, by the model and by the edge-type heuristic on the same questions; and for the model's first ten predicted
answers to each question their mean probability beside how many came true, with the expected calibration error: for
these questions, each of which has a hidden answer, and for any questions that the whole graph has an answer to, as
someone asks who does not know what is hidden. True is what the whole graph says; where that is itself incomplete,
predictions look worse than they are.

    python benchmarks/hidden_facts.py
    python benchmarks/hidden_facts.py facts.tsv --share 0.2 --seeds 3 --types 1p 2p 2i --model runs/general
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import torch

from unseen import load
from unseen.api import default_method, open_method
from unseen.datasets.answering import answer_table
from unseen.datasets.dataset import Dataset
from unseen.datasets.hidden_facts import hidden_dataset, hidden_facts, with_questions
from unseen.datasets.query_table import Ragged
from unseen.datasets.sampling.sample import SampleOptions, sample_queries
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.first_predictions import first_predictions
from unseen.evaluation.query_sets import Questions, hard_answers
from unseen.evaluation.reliability import Reliability, checked_probabilities
from unseen.graph import KnowledgeGraph
from unseen.logic.shapes import SHAPES

BASELINE = "edge-type"
TOP = 10
BATCH = 32


def hits(method: Any, dataset: Dataset) -> dict[str, float]:
    """Hits@10 by type of question, in per cent."""
    found = evaluate(method, dataset, "test", Options(batch_size=BATCH)).types
    return {name: 100 * one.metrics.hits_at_10 for name, one in found.items()}


def believe(method: Any, questions: Questions, reliability: Reliability) -> None:
    """Add the first predicted answers to each question: their probabilities, and which of them came true."""
    for part in questions.batches(BATCH):
        queries = [part.table.query(row) for row in range(len(part))]
        values = checked_probabilities(method.estimate(part.graph, queries).stacked(queries).float().cpu().numpy())
        first, is_true = first_predictions(values, part, TOP)
        reliability.add(first[first >= 0], is_true[first >= 0])


def any_questions(dataset: Dataset, name: str, count: int, seed: int) -> Questions:
    """Questions that the whole graph answers, whether or not a hidden fact is needed; what is not known is wanted."""
    observed, complete = dataset.observed("test"), dataset.complete("test")
    graphs = SplitGraphs("any", complete, complete)
    table = sample_queries(graphs, SHAPES[name], count, SampleOptions(seed=seed)).table
    known = answer_table(observed, table.shape, table.slots)
    missing = [np.setdiff1d(table.easy.row(row), known.row(row)) for row in range(len(table))]
    return Questions(observed, dataset.candidates("test"), table, Ragged.from_rows(missing), known)


def measured(graph: KnowledgeGraph, options: argparse.Namespace) -> dict[str, Any]:
    """The numbers of all seeds."""
    methods = {options.model: open_method(options.model), BASELINE: open_method(BASELINE)}
    found: dict[str, dict[str, list[float]]] = {name: {} for name in methods}
    believed: dict[str, dict[str, Reliability]] = {
        kind: {"with_a_hidden_answer": Reliability(), "any": Reliability()} for kind in options.types
    }
    counts = []
    for seed in range(options.seeds):
        hidden = hidden_facts(graph, options.share, seed)
        counts.append(int(hidden.sum()))
        dataset = with_questions(hidden_dataset(graph, hidden), options.types, options.questions, seed)
        for name, method in methods.items():
            for kind, value in hits(method, dataset).items():
                found[name].setdefault(kind, []).append(value)
        for kind in dataset.tables["test"]:
            model, seen = methods[options.model], believed[kind]
            believe(model, hard_answers(dataset, "test", kind), seen["with_a_hidden_answer"])
            believe(model, any_questions(dataset, kind, options.questions, seed), seen["any"])
    spread = {name: {kind: _spread(values) for kind, values in kinds.items()} for name, kinds in found.items()}
    first = {kind: {which: _believed(one) for which, one in seen.items()} for kind, seen in believed.items()}
    return {"hidden": counts, "hits_at_10": spread, "first_predictions": first}


def _spread(values: list[float]) -> dict[str, float]:
    return {"mean": round(float(np.mean(values)), 1), "spread": round(float(np.std(values)), 1)}


def _believed(reliability: Reliability) -> dict[str, Any]:
    result = reliability.result()
    counts, probabilities, came_true = (
        np.array(column) for column in (result.counts, result.probability, result.frequency)
    )
    return {
        "predictions": int(counts.sum()),
        "mean_probability": round(float((counts * probabilities).sum() / max(1, counts.sum())), 4),
        "came_true": round(float((counts * came_true).sum() / max(1, counts.sum())), 4),
        "calibration_error": round(result.ece, 4),
        "by_probability": [
            [int(count), round(float(probability), 3), round(float(true), 3)]
            for count, probability, true in zip(counts, probabilities, came_true, strict=True)
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", nargs="*", default=["countries"], help="files that make one graph, or countries")
    parser.add_argument("--share", type=float, default=0.1, help="of the facts, how many are hidden")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--types", nargs="+", default=["1p", "2i"])
    parser.add_argument("--questions", type=int, default=200, help="at most so many a type and seed")
    parser.add_argument("--model", default=default_method(), help="a shipped model, its folder, or a run")
    options = parser.parse_args()
    graph = load(*options.graph)
    start = time.perf_counter()
    about = {"graph": options.graph, "triples": graph.num_triples, "share": options.share, "seeds": options.seeds}
    numbers = measured(graph, options)
    asked = {"questions_per_type": options.questions, "device": "cuda" if torch.cuda.is_available() else "cpu"}
    seconds = round(time.perf_counter() - start, 1)
    print(json.dumps({"benchmark": "hidden facts", **about, **asked, **numbers, "seconds": seconds}))


if __name__ == "__main__":
    main()
