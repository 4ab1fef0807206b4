"""Facts of single relations hidden from a graph of one's own: how many come back among the first ten, as JSON lines.

Run: .venv/bin/python benchmarks/hidden_by_relation.py facts.tsv --hide depends=80 maintainer=40 --methods default rules

A fact is hidden only where both of its ends keep an edge. Its tail is asked for; other known tails are left out. Of
`--reversed` sources with known edges towards them the line also says how often the first prediction is such an edge
turned round.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product

import numpy as np

import unseen
from unseen.api import open_method
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project
from unseen.logic.traverse import step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", help="a file of triples")
    parser.add_argument("--hide", nargs="+", required=True, help="RELATION=COUNT")
    parser.add_argument("--methods", nargs="+", default=["default", "rules"])
    parser.add_argument("--efforts", nargs="+", default=["normal"])
    parser.add_argument("--reversed", type=int, default=0, help="sources of the first relation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=4)
    options = parser.parse_args()
    whole = unseen.load(options.graph)
    wanted = {name: int(count) for name, count in (part.split("=") for part in options.hide)}
    places = hidden_places(whole, wanted, np.random.default_rng(options.seed))
    kept = np.ones(whole.num_triples, bool)
    kept[places] = False
    graph = whole.restricted_to(kept)
    facts = np.stack([whole.heads, whole.relations, whole.tails], axis=1)[places].astype(np.int64)
    for name, effort in product(options.methods, options.efforts):
        measure(name, effort, graph, facts, options)


def hidden_places(graph: KnowledgeGraph, wanted: dict[str, int], random: np.random.Generator) -> np.ndarray:
    """Places of the facts to hide."""
    degree = np.bincount(np.concatenate([graph.heads, graph.tails]), minlength=graph.num_entities)
    found: list[int] = []
    for name, count in wanted.items():
        places, taken = np.flatnonzero(graph.relations == graph.vocabulary.relation_id(name) // 2), 0
        for place in random.permutation(places):
            ends = [graph.heads[place], graph.tails[place]]
            if (degree[ends] > 1).all() and taken < count:
                degree[ends] -= 1
                found.append(int(place))
                taken += 1
    return np.array(found)


def measure(name: str, effort: str, graph: KnowledgeGraph, facts: np.ndarray, options: argparse.Namespace) -> None:
    method, start, processor = open_method(name, effort=effort), time.perf_counter(), time.process_time()
    counts: dict[str, list[bool]] = {}
    for low in range(0, len(facts), options.batch):
        part = facts[low : low + options.batch]
        scores = method.answer(graph, [Project(int(2 * r), Anchor(int(h))) for h, r, _ in part])
        for row, (head, relation, tail) in zip(scores, part, strict=True):
            row[step(graph, int(2 * relation), np.array([head], np.int32)).astype(np.int64)] = -1
            rank = 1 + int((row > row[tail]).sum()) + int((row == row[tail]).sum() - 1) / 2
            counts.setdefault(graph.vocabulary.relations.name(int(relation)), []).append(rank <= 10)
    line: dict[str, object] = {key: f"{sum(found)} of {len(found)}" for key, found in counts.items()}
    line["first ten"] = f"{sum(sum(found) for found in counts.values())} of {len(facts)}"
    if options.reversed:
        line["reversed"] = reversed_first(method, graph, int(2 * facts[0, 1]), options)
    spent = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - processor}
    rounded = {key: round(value, 1) for key, value in spent.items()}
    print(json.dumps({"method": name, "effort": effort, **line, **rounded}), flush=True)


def reversed_first(method: object, graph: KnowledgeGraph, relation: int, options: argparse.Namespace) -> str:
    """How many first predictions are known edges of the relation turned round."""
    random = np.random.default_rng(options.seed)
    both = np.intersect1d(graph.range_of(relation)[0], graph.range_of(relation ^ 1)[0])
    sources, wrong = random.permutation(both)[: options.reversed], 0
    for low in range(0, len(sources), options.batch):
        part = sources[low : low + options.batch]
        scores = method.answer(graph, [Project(relation, Anchor(int(source))) for source in part])  # type: ignore[attr-defined]
        for row, source in zip(scores, part, strict=True):
            row[step(graph, relation, np.array([source], np.int32)).astype(np.int64)] = -1
            row[source] = -1
            back = step(graph, relation ^ 1, np.array([source], np.int32))
            wrong += int(row.argmax()) in set(back.tolist())
    return f"{wrong} of {len(sources)}"


if __name__ == "__main__":
    main()
