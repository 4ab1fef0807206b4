"""Processor time of a further 2p question, network and rules together, on a graph of one's own.

Run: .venv/bin/python benchmarks/further_question.py train.tsv [--model default] [--questions 14]

Paths are drawn from the graph. Each question is asked alone, twice: relations are new to the model, then known.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import unseen
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project, Query
from unseen.logic.protocols import Answerer
from unseen.models.model_folder import open_model


def main() -> None:
    """Ask, and say the median."""
    parser = argparse.ArgumentParser(description="Processor time of a further 2p question.")
    parser.add_argument("graph", type=Path)
    parser.add_argument("--model", default="default")
    parser.add_argument("--questions", type=int, default=14)
    options = parser.parse_args()
    graph, method = unseen.load(options.graph), open_model(options.model)
    first, *questions = drawn(graph, options.questions + 1)
    sys.stdout.write(f"{graph.num_triples:,} triples; the first question took {seconds(method, graph, first):.2f} s\n")
    for name in ("new relations", "known relations"):
        taken = [1000 * seconds(method, graph, question) for question in questions]
        sys.stdout.write(f"{name}: median {np.median(taken):.0f} ms, {min(taken):.0f} to {max(taken):.0f}\n")


def seconds(method: Answerer, graph: KnowledgeGraph, question: Query) -> float:
    """Processor time of one question asked alone."""
    begin = time.process_time()
    method.answer(graph, [question])
    return time.process_time() - begin


def drawn(graph: KnowledgeGraph, count: int) -> list[Query]:
    """Two edges in a row, from random places."""
    random = np.random.default_rng(0)
    found: list[Query] = []
    while len(found) < count:
        edge = int(random.integers(graph.num_triples))
        onwards = np.flatnonzero(graph.heads == graph.tails[edge])
        if len(onwards):
            inner = Project(2 * int(graph.relations[edge]), Anchor(int(graph.heads[edge])))
            found.append(Project(2 * int(graph.relations[random.choice(onwards)]), inner))
    return found


if __name__ == "__main__":
    main()
