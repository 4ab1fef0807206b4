"""Questions with cycles and several edges between two variables, sampled on a graph with facts missing.

Seven shapes of real EFO-1 (m: two edges between two variables, c: a cycle, n: negation). Each question is sampled from
the whole graph; its hard answers are those that the graph as observed does not give. One JSON line: filtered MRR and
Hits@10 of hard answers by shape, for the search as it is, for `k1` (only the best value of each variable in between),
and for `tree` (without the atoms that close a cycle). An answer that a search does not find has rank infinity.

    python benchmarks/efo1.py inductiveqe/175.npz --part val --questions 10 --method rules
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from unseen.api import ask_all, open_method
from unseen.asking.preparing import prepare
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import Vocabulary
from unseen.logic.joins import best_tuples
from unseen.logic.text import parse_question

SHAPES = {
    "2m": "r0(A, x) & r1(x, f) & r2(x, f)",
    "2nm": "r0(A, x) & r1(x, f) & !r2(x, f)",
    "3mp": "r0(A, x) & r1(x, y) & r2(x, y) & r3(y, f)",
    "3pm": "r0(A, x) & r1(x, y) & r2(y, f) & r3(y, f)",
    "im": "r0(A, x) & r1(x, f) & r2(x, f) & r3(B, f)",
    "3c": "r0(A, x) & r1(B, y) & r2(x, y) & r3(x, f) & r4(y, f)",
    "3cm": "r0(A, x) & r1(B, y) & r2(x, y) & r3(x, f) & r4(x, f) & r5(y, f)",
}
CLOSING = dict.fromkeys(SHAPES, ("r2",)) | {"3pm": ("r3",), "3cm": ("r2", "r4")}
"""Atoms without which a shape is a tree."""
MOST_ANSWERS, TRIES, TOP = 100, 4000, 1000


@dataclass
class Sampled:
    """A question with its answers in both graphs."""

    text: str
    tree: str
    easy: set[str]
    hard: set[str]


class Edges:
    """All edges of a graph in both directions, by their start."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        heads, tails, relations = graph.heads, graph.tails, graph.relations
        starts, ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        names = np.concatenate([2 * relations, 2 * relations + 1])
        order = np.argsort(starts, kind="stable")
        self.ends, self.names = ends[order], names[order]
        self.offsets = np.searchsorted(starts[order], np.arange(graph.num_entities + 1))

    def of(self, entity: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where edges of an entity lead, and by which directed relations."""
        part = slice(self.offsets[entity], self.offsets[entity + 1])
        return self.ends[part], self.names[part]


def atoms_of(template: str) -> list[tuple[str, str, str, bool]]:
    """Relation, start, end and whether it is negated, of each atom."""
    found = []
    for atom in template.split(" & "):
        name, ends = atom.lstrip("!").rstrip(")").split("(")
        start, end = ends.split(", ")
        found.append((name, start, end, atom.startswith("!")))
    return found


def grounded(template: str, edges: Edges, random: np.random.Generator, count: int) -> dict[str, int] | None:
    """Entities and relations with which a template holds, found by walking backwards from an answer."""
    values: dict[str, int] = {"f": int(random.integers(count))}
    used: set[tuple[int, int, int]] = set()
    for name, start, end, is_negated in reversed(atoms_of(template)):
        here = values[end]
        near, relations = edges.of(here)
        if is_negated:
            values[name] = int(random.choice(edges.names))
            values.setdefault(start, int(random.choice(near)) if len(near) else here)
            continue
        is_free = np.array([(here, int(r), int(n)) not in used for n, r in zip(near, relations, strict=True)], bool)
        if start in values:
            is_free &= near == values[start]
        places = np.flatnonzero(is_free)
        if not len(places):
            return None
        place = int(random.choice(places))
        values[start], values[name] = int(near[place]), int(relations[place]) ^ 1
        used.add((here, int(relations[place]), int(near[place])))
    return values


def written(template: str, values: dict[str, int], without: tuple[str, ...] = ()) -> str:
    """A grounded template as a question."""
    shown, inner = [], set()
    for name, start, end, is_negated in atoms_of(template):
        if name in without:
            continue
        ends = [str(values[one]) if one in "AB" else one for one in (start, end)]
        inner |= {one for one in (start, end) if one in "xy"}
        ends = ends[::-1] if values[name] % 2 else ends
        shown.append(f"{'!' * is_negated}r{values[name] // 2}({', '.join(ends)})")
    return f"?f : exists {', '.join(sorted(inner))} . {' & '.join(shown)}"


def known(graph: KnowledgeGraph, text: str) -> set[str]:
    """The answers that a graph gives."""
    (found,) = ask_all(graph, [prepare(graph, parse_question(text), top=1 << 20)], None, "exact")
    return {one.entity for one in found}


def sampled(shape: str, observed: KnowledgeGraph, whole: KnowledgeGraph, count: int, seed: int) -> list[Sampled]:
    """Questions with hard answers, not too many."""
    random, edges, found = np.random.default_rng(seed), Edges(whole), []
    template = SHAPES[shape]
    for _ in range(TRIES):
        values = grounded(template, edges, random, whole.num_entities)
        if values is None or len(found) == count:
            continue
        text, tree = written(template, values), written(template, values, CLOSING[shape])
        every = known(whole, text)
        easy = known(observed, text)
        if every - easy and len(every) <= MOST_ANSWERS:
            found.append(Sampled(text, tree, easy, every - easy))
    return found


def ranks(graph: KnowledgeGraph, question: Sampled, text: str, method: Any) -> list[float]:
    """Filtered ranks of the hard answers."""
    asked = prepare(graph, parse_question(text), top=TOP, predicted_only=False)
    (answers,) = ask_all(graph, [asked], method, "")
    every = question.easy | question.hard
    score = {one.entity: one.probability for one in answers}
    others = np.array([value for name, value in score.items() if name not in every])
    return [
        1 + float((others > score[name]).sum()) + float((others == score[name]).sum()) / 2 if name in score else np.inf
        for name in question.hard
    ]


def graphs_of(path: str, part: str) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """The observed graph of a part, and the whole one."""
    with np.load(path) as file:
        seen, hidden = (file[f"graph/{part}_{name}"] for name in ("inference", "predict"))
    both = np.concatenate([seen, hidden])
    count, relations = int(both[:, [0, 2]].max()) + 1, int(both[:, 1].max()) + 1
    vocabulary = Vocabulary.of([str(n) for n in range(count)], [f"r{n}" for n in range(relations)])
    return tuple(KnowledgeGraph(*one.T.astype(np.int32), vocabulary) for one in (seen, both))  # type: ignore[return-value]


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--part", choices=("val", "test"), default="val")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    parser.add_argument("--ways", nargs="+", choices=("search", "k1", "tree"), default=["search", "k1", "tree"])
    parser.add_argument("--method", default="rules")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    observed, whole = graphs_of(options.file, options.part)
    method = open_method(options.method)
    line: dict[str, Any] = {"method": options.method, "part": options.part}
    for shape in options.shapes:
        questions = sampled(shape, observed, whole, options.questions, options.seed)
        found: dict[str, list[list[float]]] = {way: [] for way in options.ways}
        for question in questions:
            for way, rows in found.items():
                text = question.tree if way == "tree" else question.text
                with patch.object(best_tuples, "WIDEST", 1 if way == "k1" else best_tuples.WIDEST):
                    rows.append(ranks(observed, question, text, method))
        line[shape] = {"questions": len(questions)} | {
            way: {
                "mrr": round(float(np.mean([np.mean(1 / np.array(one)) for one in rows])), 4),
                "hits@10": round(float(np.mean([np.mean(np.array(one) <= 10) for one in rows])), 4),
            }
            for way, rows in found.items()
            if rows
        }
        print(json.dumps({shape: line[shape]}), flush=True)
    print(json.dumps(line))


if __name__ == "__main__":
    main()
