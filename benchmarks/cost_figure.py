"""Seconds a question and memory against the size of a graph, drawn from the lines that `large_graph.py` prints.

Run: .venv/bin/python benchmarks/large_graph.py core.tsv --first 100000 >> lines.jsonl     once for each size
     .venv/bin/python benchmarks/cost_figure.py lines.jsonl docs/figures/large-graphs-cost.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from matplotlib import rc_context

from unseen.evaluation.figure_style import SETTINGS, SPARE, new_figure, save_as

TYPES = ("1p", "2p", "2i", "pin")
APART = 1.06
"""Between the marks of two types at one size, so that none hides another."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    found = [json.loads(line) for line in options.lines.read_text(encoding="utf-8").splitlines() if line[:1] == "{"]
    with rc_context(SETTINGS):
        save_as(drawn([line for line in found if line["part"] in TYPES]), options.picture)


def drawn(lines: list[dict[str, Any]]) -> Any:
    figure = new_figure(7.2, 3.1)
    times, memory = figure.subplots(1, 2)
    for number, (kind, look) in enumerate(zip(TYPES, SPARE[::4], strict=True)):
        points = sorted((line for line in lines if line["part"] == kind), key=lambda line: int(line["triples"]))
        sizes, medians = ([line[name] for line in points] for name in ("triples", "cpu_median"))
        places = [size * APART ** (number - 1.5) for size in sizes]
        slow = [line["cpu_p95"] - line["cpu_median"] for line in points]
        style = {"color": look.colour, "marker": look.marker, "markersize": 4.2, "linewidth": 1.5, "label": kind}
        times.errorbar(places, medians, yerr=[[0] * len(slow), slow], capsize=2, elinewidth=0.8, **style)
    most: dict[int, float] = {}
    for line in lines:
        most[line["triples"]] = max(most.get(line["triples"], 0.0), line["peak_gib"])
    memory.plot(*zip(*sorted(most.items()), strict=True), color="#333333", marker="o", markersize=4.2, clip_on=False)
    times.legend(ncols=2)
    times.set(title="One question: median, and 95th percentile", ylabel="seconds of processor time")
    memory.set(title="Peak memory of the process", ylabel="GiB")
    for axes in (times, memory):
        axes.set(xscale="log", xlabel="triples", ylim=(0, axes.get_ylim()[1]))
    return figure


if __name__ == "__main__":
    main()
