"""The memory that a first question takes beside what is estimated before it, as JSON lines.

Run: .venv/bin/python benchmarks/footprint.py GRAPH --efforts normal full
     .venv/bin/python benchmarks/footprint.py GRAPH --first 300000        its first triples
     .venv/bin/python benchmarks/footprint.py GRAPH --efforts full --network

GRAPH is a file or a database. Each effort has a process of its own. `used_gib` is the peak of what the process holds
for itself while it answers, without what it held when the graph was open; pages of mapped files are not counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import unseen
from unseen.api import ask_all, open_method
from unseen.asking.answers import Question
from unseen.logic.algebra import Anchor, Project
from unseen.methods.zero_shot.footprint import bytes_needed

EVERY = 0.01
"""Seconds between two looks at the memory."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", help="a file or a database")
    parser.add_argument("--first", type=int, help="only so many triples")
    parser.add_argument("--efforts", nargs="+", default=["normal", "full"])
    parser.add_argument("--network", action="store_true", help="the network on the whole graph, without rules")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        answer(options)
        return
    for effort in options.efforts:
        first = ["--first", str(options.first)] if options.first else []
        first += ["--network"] if options.network else []
        watch([sys.executable, __file__, options.graph, *first, "--efforts", effort, "--alone"])


def watch(command: list[str]) -> None:
    """Run a program that says when it begins to answer, and look at its memory from then on."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        about = json.loads(process.stdout.readline())
        before = most = held(process.pid)
        while process.poll() is None:
            most = max(most, held(process.pid))
            time.sleep(EVERY)
    if process.returncode:
        sys.exit(process.returncode)
    estimate, used = about.pop("estimate"), most - before
    numbers = {"open_gib": before / 2**30, "estimate_gib": estimate / 2**30, "used_gib": used / 2**30}
    print(json.dumps(about | {name: round(number, 2) for name, number in numbers.items()}), flush=True)


def answer(options: argparse.Namespace) -> None:
    graph = unseen.load(options.graph)
    if options.first:
        graph = graph.restricted_to(np.arange(graph.num_triples) < options.first)
    method = open_method("default", effort=options.efforts[0])
    effort = options.efforts[0]
    estimate = method.bytes_needed(graph)  # type: ignore[attr-defined]
    if options.network:
        network = method.beside_rules  # type: ignore[attr-defined]
        method, effort, estimate = network, "network", bytes_needed(graph, network.architecture)
    about = {"triples": graph.num_triples, "entities": len(graph.connected_entities), "effort": effort}
    print(json.dumps(about | {"estimate": estimate}), flush=True)
    ask_all(graph, [Question("", Project(2 * int(graph.relations[0]), Anchor(int(graph.heads[0]))))], method, "default")


def held(process: int) -> int:
    """Bytes that a process has for itself; 0 after its end."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


if __name__ == "__main__":
    main()
