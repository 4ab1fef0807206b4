"""The large graph of section 5.5: lines of `experiments.large_graph` with the paper's WikiKG-QE beside them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from experiments.grid_errors import ReproductionError
from unseen.evaluation.report_tables import Table
from unseen.evaluation.results import EPFO

BENCHMARK = "large_graph"
STAGES = {
    "heuristic": "Edge-type heuristic",
    "evaluate": "NodePiece-QE",
    "oracle": "CQD-Beam, true chances",
}
"""What a stage with ranks measures."""
MORE = {"queries_per_type": ("queries a type", ","), "seconds": ("seconds", ".0f"), "peak_mb": ("peak MB", ",")}
"""What a line may say beside its numbers: the column, and how it is printed."""
TITLE = (
    "The large graph, Hits@100 (%). The paper's is WikiKG-QE (2 M entities), ours is made up with the same counts: the "
    "rows say what a method adds to the heuristic, not who is better."
)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of the benchmark in a file of JSON lines; other lines are passed over."""
    try:
        texts = path.read_text("utf-8").splitlines()
        lines = [json.loads(text) for text in texts if text.strip().startswith("{")]
    except (OSError, ValueError) as error:
        raise ReproductionError(f"{path}: cannot be read as JSON lines: {error}") from None
    found = [line for line in lines if line.get("benchmark") == BENCHMARK]
    if not found:
        raise ReproductionError(f"{path}: has no line of `python -m experiments.large_graph`")
    return found


def large_graph_table(lines: list[dict[str, Any]]) -> Table:
    """One line for every stage with ranks, then the paper's; what lines have noted is in the title."""
    measured = [line for line in lines if "hits_at_100" in line]
    body = []
    for line in measured:
        name = STAGES.get(line["stage"], line["stage"])
        more = (f"{line[key]:{form}}" if line.get(key) is not None else "" for key, (_, form) in MORE.items())
        body.append((name, "unseen", *_cells(line["hits_at_100"]), *more))
    for row in paper_large_graph():
        values = {kind: float(row[kind]) for kind in EPFO}
        average = sum(values.values()) / len(values)
        body.append((row["method"], "paper", *_cells(values | {"avg_p": average}), *("" for _ in MORE)))
    header = ("Method", "", "avg_p", *EPFO, *(column for column, _ in MORE.values()))
    notes = dict.fromkeys(f" {line['note']}" for line in measured if "note" in line)
    return Table("large_graph", TITLE + "".join(notes), header, tuple(body), 2)


def paper_large_graph() -> list[dict[str, str]]:
    """The paper's table of WikiKG-QE."""
    text = Path(__file__).with_name("paper_wikikg.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def _cells(values: dict[str, float]) -> list[str]:
    return [f"{values[name]:.1f}" if name in values else "" for name in ("avg_p", *EPFO)]
