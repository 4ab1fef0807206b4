"""Facts that follow from a rule: how many a method finds first, in worlds of 100 to 10,000 entities, as JSON lines.

Run: .venv/bin/python benchmarks/rule_worlds.py --method rules --entities 100 1000 10000 --noise 0 0.05 0.1

The worlds are those of the tests (tests/rules/worlds.py): composition, inverse, symmetry, asymmetry, sub-relation,
attribute implies class, chain of three. `turned_above` counts known edges, turned around, that are scored as high as a
hidden fact of the same head; in the world of symmetry they are right and not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.rules.worlds import KINDS, hits_at_one, rule_world, turned_above_hidden
from unseen.api import open_method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="rules", help="as for `unseen ask`")
    parser.add_argument("--entities", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.1])
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for entities in options.entities:
        for noise in options.noise:
            for kind in options.kinds:
                measure(kind, entities, noise, options)


def measure(kind: str, entities: int, noise: float, options: argparse.Namespace) -> None:
    world = rule_world(kind, entities=entities, noise=noise, seed=options.seed)
    method, start = open_method(options.method), time.perf_counter()
    about = {"benchmark": "rule_worlds", "method": options.method, "kind": kind, "entities": entities, "noise": noise}
    found = {"hidden": len(world.hidden), "hits_at_1": round(hits_at_one(method, world), 4)}
    if kind != "symmetry":
        found |= {"turned": len(world.turned), "turned_above": turned_above_hidden(method, world)}
    print(json.dumps({**about, **found, "seconds": round(time.perf_counter() - start, 1)}), flush=True)


if __name__ == "__main__":
    main()
