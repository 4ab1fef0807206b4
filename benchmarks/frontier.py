"""The network on a part of a graph against the network on all of it, on facts that the graph lacks, as JSON lines.

Run: .venv/bin/python benchmarks/frontier.py train.tsv valid.tsv --questions 80 --nodes 1450 4000
     .venv/bin/python benchmarks/frontier.py train.tsv valid.tsv --questions 2000 --nodes 1450 --inside-only
     .venv/bin/python benchmarks/frontier.py inductiveqe/175.npz val --nodes 1000     `val` or `test` of a set

Each fact is asked for from one of its ends; other known answers are left out. `inside` is the share of answers that the
part contains without candidates of rules: what no network could find on it.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

import numpy as np

import unseen
from unseen.api import open_method
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import Vocabulary
from unseen.logic.algebra import Anchor, Project
from unseen.logic.traverse import step
from unseen.methods.zero_shot import effort
from unseen.methods.zero_shot.effort import Budget
from unseen.methods.zero_shot.frontier import chosen_part
from unseen.rules.adjacency import adjacency_of

NOTHING = np.empty(0, np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", help="the file that is asked, or the arrays of a published set")
    parser.add_argument("facts", help="a file of facts that it lacks, or the part of the set")
    parser.add_argument("--questions", type=int, default=80)
    parser.add_argument("--nodes", nargs="+", type=int, default=[1450])
    parser.add_argument("--inside-only", action="store_true", help="only the share of answers inside; asks no network")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    is_published = options.graph.endswith(".npz")
    graph, facts = opened(options.graph, options.facts) if is_published else read(options.graph, options.facts)
    questions = drawn(facts, options)
    budgets = [replace(effort.BUDGETS["normal"], triples=0, nodes=nodes) for nodes in options.nodes]
    if not options.inside_only:
        whole = ranks(graph, questions, None)
        say({"nodes": len(graph.connected_entities), **quality(whole)})
    for budget in budgets:
        line: dict[str, object] = {"nodes": budget.nodes, "inside": round(inside(graph, questions, budget), 3)}
        if not options.inside_only:
            found = ranks(graph, questions, budget)
            same = int(((found[0] <= 10) == (whole[0] <= 10)).sum())
            line |= {**quality(found), "same first ten": f"{same} of {len(questions)}"}
        say(line)


def opened(path: str, part: str) -> tuple[KnowledgeGraph, np.ndarray]:
    """A graph of a published set, and the facts that belong to it."""
    with np.load(path) as file:
        seen, facts = (file[f"graph/{part}_{name}"].astype(np.int32) for name in ("inference", "predict"))
    count, relations = 1 + int(max(seen[:, [0, 2]].max(), facts[:, [0, 2]].max())), 1 + int(seen[:, 1].max())
    names = Vocabulary.of([str(number) for number in range(count)], [f"r{number}" for number in range(relations)])
    met = np.bincount(seen[:, [0, 2]].ravel(), minlength=count) > 0
    return KnowledgeGraph(*seen.T, names), facts[met[facts[:, 0]] & met[facts[:, 2]] & (facts[:, 1] < relations)]


def read(graph_file: str, facts_file: str) -> tuple[KnowledgeGraph, np.ndarray]:
    """A graph, and the facts of another file whose names it has."""
    graph, facts = unseen.load(graph_file), unseen.load(facts_file)
    entities = graph.vocabulary.entities.find_keys(facts.vocabulary.entities.keys)
    relations = graph.vocabulary.relations.find_keys(facts.vocabulary.relations.keys)
    columns = np.stack([entities[facts.heads], relations[facts.relations], entities[facts.tails]], axis=1)
    return graph, columns[(columns >= 0).all(axis=1)]


def drawn(facts: np.ndarray, options: argparse.Namespace) -> list[tuple[int, int, int]]:
    """Source, directed relation and answer of some facts, asked for from one end and the other in turn."""
    chosen = facts[np.random.default_rng(options.seed).permutation(len(facts))[: options.questions]].tolist()
    ends = enumerate(chosen)
    return [(h, 2 * r, t) if number % 2 else (t, 2 * r + 1, h) for number, (h, r, t) in ends]


def inside(graph: KnowledgeGraph, questions: list[tuple[int, int, int]], budget: Budget) -> float:
    """The share of answers that lie in the part around their source."""
    adjacency, one = adjacency_of(graph), np.ones(1, np.float32)
    parts = (chosen_part(adjacency, np.array([source]), one, NOTHING, budget) for source, _, _ in questions)
    return float(np.mean([answer in part.entities for part, (_, _, answer) in zip(parts, questions, strict=True)]))


def ranks(
    graph: KnowledgeGraph, questions: list[tuple[int, int, int]], budget: Budget | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Rank and probability of each answer, and seconds of processor time a question."""
    effort.BUDGETS["fast"] = budget or effort.BUDGETS["fast"]
    method, found = open_method("default", "cpu", effort="fast" if budget else "full"), []
    clock = time.process_time()
    for source, relation, answer in questions:
        row = method.answer(graph, [Project(relation, Anchor(source))])[0].clone()
        wanted = float(row[answer])
        row[step(graph, relation, np.array([source], np.int32)).astype(np.int64)] = -1
        found.append((1 + int((row > wanted).sum()) + (int((row == wanted).sum()) - 1) / 2, wanted))
    spent = (time.process_time() - clock) / len(questions)
    return np.array([rank for rank, _ in found]), np.array([value for _, value in found]), spent


def quality(found: tuple[np.ndarray, np.ndarray, float]) -> dict[str, object]:
    rank, probability, spent = found
    numbers = {"mrr": (1 / rank).mean(), "hits@10": (rank <= 10).mean(), "mean probability": probability.mean()}
    return {name: round(float(value), 3) for name, value in (numbers | {"cpu": spent}).items()}


def say(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
