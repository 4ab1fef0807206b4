"""How far probabilities of whole questions can be believed: error by type, and the expected number of answers.

Run: .venv/bin/python benchmarks/question_reliability.py --graph countries --questions 12
     .venv/bin/python benchmarks/question_reliability.py --dataset 175.npz --split valid --questions 12

With --graph, facts are hidden from a graph: a tenth of them (`--hide facts`), or all but two facts of each tenth
entity, so that these are new (`--hide entities`). Questions of fourteen types are then drawn from the whole graph. With
--dataset, questions and truth are those of an inductive split. One JSON line for each method and type, and one over
all.

`ece` and `brier` are over predictions above 0.01 that the graph does not know; a prediction that is not among the
hidden facts counts as false, though it may be true. `ece_all` is over all candidates. `count_error` is the mean of
|expected - true| / true numbers of answers, known ones included, `median_error` the same for the median; `covered` is
how often the interval holds the true number. `share` gives every candidate the share of all pairs that are facts.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import unseen
from unseen.api import check_memory, open_dataset, open_method
from unseen.evaluation.query_sets import sample
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import Traversal
from unseen.probability.answer_counts import ExpectedNumber, expected_number
from unseen.rules.mining import mine
from unseen.rules.opening import use_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query

LEAST, BATCH, BINS, SEED, TRIES = 0.01, 4, 10, 5, 400


@dataclass
class Tally:
    """What was said and what was true."""

    said: list[np.ndarray] = field(default_factory=list)
    true: list[np.ndarray] = field(default_factory=list)
    gaps: list[tuple[float, int]] = field(default_factory=list)
    counts: list[tuple[float, float, float, bool]] = field(default_factory=list)

    def add(self, probability: np.ndarray, is_true: np.ndarray, is_known: np.ndarray, number: ExpectedNumber) -> None:
        """Take one question's candidates."""
        shown = ~is_known & (probability > LEAST)
        self.said.append(probability[shown])
        self.true.append(is_true[shown].astype(float))
        actual = int(is_true.sum())
        self.counts.append((number.mean, number.median, actual, number.low <= actual <= number.high))
        self.gaps.append((binned(probability, is_true.astype(float)), len(probability)))

    def figures(self) -> dict[str, float]:
        """The errors."""
        p, y = np.concatenate([np.empty(0), *self.said]), np.concatenate([np.empty(0), *self.true])
        expected, median, actual, covered = np.array(self.counts)[[one[2] > 0 for one in self.counts]].T
        found = {
            "questions": len(self.counts),
            "predictions": len(p),
            "ece": binned(p, y),
            "brier": float(((p - y) ** 2).mean()) if len(p) else 0.0,
            "ece_all": sum(gap * count for gap, count in self.gaps) / sum(count for _, count in self.gaps),
            "expected": expected.mean(),
            "true": actual.mean(),
            "count_error": (np.abs(expected - actual) / actual).mean(),
            "median_error": (np.abs(median - actual) / actual).mean(),
            "covered": covered.mean(),
        }
        return {name: round(float(value), 4) for name, value in found.items()}

    def joined(self, other: Tally) -> Tally:
        """Both together."""
        pairs = ("said", "true", "gaps", "counts")
        return Tally(*(getattr(self, name) + getattr(other, name) for name in pairs))


def binned(p: np.ndarray, y: np.ndarray) -> float:
    """The expected calibration error in ten bins."""
    if not len(p):
        return 0.0
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    parts = (bins == each for each in np.unique(bins))
    return float(sum(abs(p[part].mean() - y[part].mean()) * part.mean() for part in parts))


@dataclass(frozen=True)
class Asked:
    """Questions of one type on an incomplete graph, and the graph that has the truth."""

    graph: KnowledgeGraph
    whole: KnowledgeGraph
    queries: Sequence[Query]


def questions_of_split(options: argparse.Namespace) -> Iterator[tuple[str, Asked]]:
    """Those of an inductive split."""
    dataset = open_dataset(Path(options.dataset))
    graph, whole = dataset.observed(options.split), dataset.complete(options.split)
    for name in options.types:
        table = dataset.tables[options.split][name]
        rows = sample(len(table), options.questions, SEED, name)
        slots = table.slots[rows].tolist()
        yield name, Asked(graph, whole, [SHAPES[name].fill(row) for row in slots])


def questions_of_graph(options: argparse.Namespace) -> Iterator[tuple[str, Asked]]:
    """Drawn from a graph from which facts are hidden; a question has a few answers in the whole graph."""
    whole, random = unseen.load(*options.graph), np.random.default_rng(SEED)
    graph = whole.restricted_to(kept(whole, options.hide, random))
    use_rules(graph, mine(graph, samples=options.samples))
    for name in options.types:
        yield name, Asked(graph, whole, list(drawn(whole, graph, name, options.questions, random)))


def kept(whole: KnowledgeGraph, hide: str, random: np.random.Generator) -> np.ndarray:
    """Which facts stay: nine of ten, or of each tenth entity only two."""
    if hide == "facts":
        return random.random(whole.num_triples) > 0.1
    is_new = random.random(whole.num_entities) < 0.1
    order, left, stays = random.permutation(whole.num_triples), np.full(whole.num_entities, 2), None
    stays = ~(is_new[whole.heads] | is_new[whole.tails])
    for place in order[~stays[order]].tolist():
        ends = [end for end in (whole.heads[place], whole.tails[place]) if is_new[end]]
        if all(left[end] > 0 for end in ends):
            stays[place] = True
            left[ends] -= 1
    return stays


def drawn(
    whole: KnowledgeGraph, graph: KnowledgeGraph, name: str, count: int, random: np.random.Generator
) -> Iterator[Query]:
    """Random questions of a type with one to a tenth of all entities as answers, some of them hidden."""
    truth, observed, found = Traversal(whole), Traversal(graph), 0
    kinds = SHAPES[name].slots
    for _ in range(TRIES * count):
        places = random.integers(whole.num_triples, size=len(kinds))
        slots = [
            int(whole.heads[place]) if kind == "e" else 2 * int(whole.relations[place]) + int(random.integers(2))
            for kind, place in zip(kinds, places, strict=True)
        ]
        query = SHAPES[name].fill(slots)
        answers = truth.members(query)
        if 0 < len(answers) <= whole.num_entities / 10 and not np.isin(answers, observed.members(query)).all():
            yield query
            found += 1
        if found == count:
            return


def share_of_relations(asked: Asked, queries: Sequence[Query]) -> np.ndarray:
    """The same for every candidate: as many missing answers as there are facts of a relation for each pair."""
    density = asked.graph.num_triples / asked.graph.num_relations / max(1, asked.graph.num_entities) ** 2
    return np.full((len(queries), asked.graph.num_entities), density)


def measured(name: str, asked: Asked, shared: float | None) -> Tally:
    """The tally of one method on some questions."""
    tally, truth, known = Tally(), Traversal(asked.whole), Traversal(asked.graph)
    candidates = asked.graph.connected_entities
    method = None if name == "share" else open_named(name, asked.graph)
    for low in range(0, len(asked.queries), BATCH):
        part = asked.queries[low : low + BATCH]
        if method is None:
            values = share_of_relations(asked, part)
        else:
            execution = method.estimate(asked.graph, part)
            values = execution.stacked(part).float().cpu().numpy()
        for row, query in zip(values, part, strict=True):
            is_true, is_known = np.zeros(len(row), bool), np.zeros(len(row), bool)
            is_true[truth.members(query)[truth.members(query) < len(row)]] = True
            is_known[known.members(query)] = True
            if method is None:
                row = np.where(is_known, 1.0, row)  # noqa: PLW2901
            carried = None if method is None else execution.carried(query)
            tied = None if carried is None else carried.float().cpu().numpy()[candidates]
            number = expected_number(row[candidates], tied, shared=shared)
            tally.add(row[candidates], is_true[candidates], is_known[candidates], number)
    return tally


def open_named(name: str, graph: KnowledgeGraph):
    """A method by its name; `NAME:network` is the network of a combined model alone."""
    model, _, part = name.partition(":")
    method = open_method(model)
    if part == "network":
        method = method.beside_rules
    check_memory(method, graph)
    return method


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--graph", nargs="+", help="files that make one graph")
    source.add_argument("--dataset", help="an inductive split: a dataset folder, or a published file")
    parser.add_argument("--split", default="valid")
    parser.add_argument("--hide", choices=["facts", "entities"], default="facts")
    parser.add_argument("--types", nargs="+", default=list(SHAPES))
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--samples", type=int, default=50, help="how thoroughly rules are mined")
    parser.add_argument("--methods", nargs="+", default=["default"], help="a name, NAME:network, or share")
    parser.add_argument("--shared", type=float, help="the deviation that all log-odds share")
    parser.add_argument("--figure", help="write a reliability diagram (.png or .svg)")
    options = parser.parse_args()
    totals = {name: Tally() for name in options.methods}
    for kind, asked in questions_of_graph(options) if options.graph else questions_of_split(options):
        for name in options.methods if asked.queries else ():
            tally = measured(name, asked, options.shared)
            totals[name] = totals[name].joined(tally)
            print(json.dumps({"method": name, "type": kind, **tally.figures()}), flush=True)
    for name, tally in totals.items():
        print(json.dumps({"benchmark": "question reliability", "method": name, "type": "all", **tally.figures()}))
    if options.figure:
        draw(totals, options.figure)


def draw(totals: dict[str, Tally], path: str) -> None:
    """The share of true predictions by probability, one line a method; a dot is as large as its bin."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(5, 5))
    axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for name, tally in totals.items():
        p, y = np.concatenate(tally.said), np.concatenate(tally.true)
        if not len(p):
            continue
        bins = np.minimum((p * BINS).astype(int), BINS - 1)
        points = [(p[bins == each].mean(), y[bins == each].mean(), (bins == each).sum()) for each in np.unique(bins)]
        x, frequency, counts = np.array(points).T
        (line,) = axis.plot(x, frequency, label=name)
        axis.scatter(x, frequency, s=8 + 12 * np.sqrt(counts), color=line.get_color(), alpha=0.6)
    axis.set(xlabel="probability", ylabel="share that is true", xlim=(0, 1), ylim=(0, 1))
    axis.legend(frameon=False)
    figure.savefig(path, dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
