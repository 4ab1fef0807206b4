"""How long reasons take: questions of one step with and without `explain`, ten predicted answers each.

Run: .venv/bin/python benchmarks/reasons.py countries GRAPH.tsv.gz --questions 20 --method default

One JSON line for each graph, with medians of processor seconds, so that other work on the machine counts little.
`first` includes mining the rules of a relation; `explained` is the same question again, where no facts were left out;
`with_trials` are the number of questions where some were, and their time. `ratio` is explained over plain.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

import unseen
from unseen.api import ask_all, open_method
from unseen.asking.answers import Answers, Question
from unseen.asking.preparing import prepare
from unseen.logic.algebra import Anchor, Project
from unseen.rules.adjacency import adjacency_of


def seconds(function: Callable[[], list[Answers]]) -> tuple[float, Answers]:
    """Processor seconds of a call, and its answers."""
    began = time.process_time()
    (answers,) = function()
    return time.process_time() - began, answers


def measured(source: str, method_name: str, count: int, seed: int) -> dict[str, object]:
    """The times of one graph."""
    graph, method = unseen.load(source), open_method(method_name)
    adjacency_of(graph)
    facts = np.random.default_rng(seed).permutation(graph.num_triples)[:count].tolist()
    plain, first, again, trials, kinds = [], [], [], [], []
    for fact in facts:
        query = Project(2 * int(graph.relations[fact]), Anchor(int(graph.heads[fact])))

        def ask(explain: bool, query: Project = query) -> list[Answers]:
            question: Question = prepare(graph, query, explain=explain, predicted_only=True)
            return ask_all(graph, [question], method, method_name)

        ask(False)
        plain.append(seconds(lambda: ask(False))[0])
        first.append(seconds(lambda: ask(True))[0])
        taken, answers = seconds(lambda: ask(True))
        found = [reason for answer in answers for reason in answer.reasons]
        (trials if any(reason.effects or "nearby" in reason.text for reason in found) else again).append(taken)
        kinds += [all(reason.kind == "rule" for reason in answer.reasons) for answer in answers]
    typical = median(again) if again else float("nan")
    return {
        "graph": source,
        "triples": graph.num_triples,
        "questions": len(facts),
        "plain": round(median(plain), 3),
        "explained": round(typical, 3),
        "ratio": round(typical / median(plain), 2),
        "first": round(median(first), 3),
        "with_trials": [len(trials), round(median(trials), 3) if trials else None],
        "answers_explained_by_rules": round(float(np.mean(kinds)), 3),
    }


def main() -> None:
    """Measure each graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--method", default="default")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for source in arguments.graphs:
        found = measured(source, arguments.method, arguments.questions, arguments.seed)
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
