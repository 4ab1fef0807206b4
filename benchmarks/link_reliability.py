"""How far probabilities of single links can be believed: 10 % of a graph's facts are hidden, one JSON line a method.

Run: .venv/bin/python benchmarks/link_reliability.py [GRAPH...] --questions 160

Questions are facts drawn from the whole graph, from either end. Predictions above 0.01 that are not known count. A
prediction that is not among the hidden facts counts as false, though it may be true. The baseline is `rules`.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

import unseen
from unseen.api import open_method
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project
from unseen.logic.traverse import step
from unseen.rules.mining import mine
from unseen.rules.opening import use_rules

HIDDEN, LEAST, BATCH, BINS, SURE = 0.1, 0.01, 8, 10, 1e-7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", nargs="*", default=["countries"], help="files that make one graph")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=["default", "rules"])
    options = parser.parse_args()
    whole, random = unseen.load(*options.graph), np.random.default_rng(options.seed)
    graph = whole.restricted_to(random.random(whole.num_triples) > HIDDEN)
    use_rules(graph, mine(graph, samples=50))
    questions = []
    for place in random.permutation(whole.num_triples)[: options.questions]:
        head, relation, tail = (int(column[place]) for column in (whole.heads, whole.relations, whole.tails))
        questions.append((head, 2 * relation) if random.random() < 0.5 else (tail, 2 * relation + 1))
    for name in options.methods:
        print(json.dumps({"benchmark": "link reliability", "method": name, **measured(name, whole, graph, questions)}))


def measured(
    name: str, whole: KnowledgeGraph, graph: KnowledgeGraph, questions: list[tuple[int, int]]
) -> dict[str, float]:
    """Errors, the log loss a question over all candidates, and the mean number of missing answers: expected, true."""
    method, said, true, counts, losses = open_method(name), [], [], [], []
    for low in range(0, len(questions), BATCH):
        part = questions[low : low + BATCH]
        queries = [Project(relation, Anchor(source)) for source, relation in part]
        execution = method.estimate(graph, queries)
        for (source, relation), query in zip(part, queries, strict=True):
            start = np.array([source], np.int32)
            probability = execution.memberships(query).double().cpu().numpy()
            is_answer = np.isin(np.arange(len(probability)), step(whole, relation, start))
            others = np.setdiff1d(graph.connected_entities, step(graph, relation, start))
            counts.append((probability[others].sum(), is_answer[others].sum()))
            chance = np.where(is_answer, probability, 1 - probability)[others]
            losses.append(-np.log(chance.clip(SURE)).sum())
            shown = others[probability[others] > LEAST]
            said.append(probability[shown])
            true.append(is_answer[shown])
    p, y = np.concatenate(said), np.concatenate(true).astype(float)
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    error = sum(
        abs(p[bins == each].mean() - y[bins == each].mean()) * (bins == each).mean() for each in np.unique(bins)
    )
    expected, missing = np.array(counts).mean(axis=0)
    figures = {
        "ece": error,
        "brier": ((p - y) ** 2).mean(),
        "log_loss": np.mean(losses),
        "expected": expected,
        "true": missing,
        "predictions": len(p),
    }
    return {key: round(float(value), 4) for key, value in figures.items()}


if __name__ == "__main__":
    main()
