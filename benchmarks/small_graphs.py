"""Graphs of 20 to 300 triples: how often the hidden fact comes first, and what first predictions say, as JSON lines.

Run: .venv/bin/python benchmarks/small_graphs.py --method default --entities 12 40 --seeds 2

The worlds are those of the tests (tests/rules/worlds.py), each of one rule, with a tenth of its conclusions hidden.
Every head with a hidden fact is asked about, and as many heads of the same relation with none. `says` is the mean
probability of first predictions, `true` how many of them were hidden. `UNSEEN_FIT=0` measures shipped weights.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.rules.worlds import KINDS, RuleWorld, rule_world
from unseen.api import open_method
from unseen.logic.algebra import Anchor, Project
from unseen.logic.traverse import step

if TYPE_CHECKING:
    from unseen.logic.method import Method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="default", help="as for `unseen ask`")
    parser.add_argument("--entities", nargs="+", type=int, default=[12, 40])
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0])
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    every, start = [], time.process_time()
    for kind in options.kinds:
        found = []
        for entities in options.entities:
            for noise in options.noise:
                worlds = [rule_world(kind, entities=entities, noise=noise, seed=seed) for seed in range(options.seeds)]
                found += [row for world in worlds for row in first_predictions(open_method(options.method), world)]
        report(kind, found)
        every += found
    report("all", every)
    print(json.dumps({"cpu": round(time.process_time() - start, 1)}))


def first_predictions(method: Method, world: RuleWorld) -> list[tuple[bool, bool, float]]:
    """For some heads whether something is hidden there, whether it comes first, and how probable the first is."""
    if not world.hidden:
        return []
    names, relation = world.graph.vocabulary, world.graph.vocabulary.relation_id(world.hidden[0][1])
    hidden: dict[int, set[int]] = {}
    for head, _, tail in world.hidden:
        hidden.setdefault(names.entity_id(head), set()).add(names.entity_id(tail))
    others = np.setdiff1d(world.graph.range_of(relation ^ 1)[0], list(hidden))
    asked = [*hidden, *np.random.default_rng(0).permutation(others)[: len(hidden)].tolist()]
    found = []
    for head in asked:
        query = Project(relation, Anchor(head))
        row = method.estimate(world.graph, [query]).stacked([query])[0].cpu().numpy().copy()
        row[step(world.graph, relation, np.array([head], np.int32)).astype(np.int64)] = -1
        best = int(row.argmax())
        found.append((head in hidden, best in hidden.get(head, ()), float(row[best])))
    return found


def report(kind: str, rows: list[tuple[bool, bool, float]]) -> None:
    line: dict[str, object] = {"benchmark": "small_graphs", "kind": kind}
    for name, chosen in (("hidden", [r for r in rows if r[0]]), ("nothing_hidden", [r for r in rows if not r[0]])):
        says = round(float(np.mean([row[2] for row in chosen])), 3) if chosen else None
        line |= {name: len(chosen), f"{name}_says": says}
        if name == "hidden" and chosen:
            line["hidden_true"] = round(float(np.mean([row[1] for row in chosen])), 3)
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
