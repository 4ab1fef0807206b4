"""Writes docs/grid.md and its figures from the result files in results/, so that no number is copied by hand.

Run: .venv/bin/python tools/grid_document.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image

from unseen.reproduction.report import write_grid_report

ROOT = Path(__file__).parents[1]
SHOWN = (
    "test_queries_by_ratio",
    "test_queries_by_type",
    "test_queries_alone_by_ratio",
    "training_queries_by_ratio",
    "strata",
    "reliability",
)
HEADER = """# The grid

All cells of the paper's experiments that have been measured, written by `tools/grid_document.py` from
[the result files](../results/README.md). What they say, and what is missing:
[results](results.md#the-papers-experiments)."""


def main() -> None:
    """Make the report and keep what the documents show of it."""
    large = ROOT / "results" / "large-graph.jsonl"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder)
        write_grid_report(ROOT / "results", report, large_graph=large if large.exists() else None)
        text = (report / "report.md").read_text("utf-8")
        for name in SHOWN:
            with Image.open(report / f"{name}.png") as picture:
                picture.convert("RGB").quantize(64).save(ROOT / "docs" / _figure(name), optimize=True)
            text = text.replace(f"({name}.png)", f"({_figure(name)})")
    _, *paragraphs = text.strip().split("\n\n")
    kept = [part for part in paragraphs if not part.startswith("*") and not _is_left_out(part)]
    (ROOT / "docs" / "grid.md").write_text("\n\n".join([HEADER, *kept]) + "\n", "utf-8")


def _figure(name: str) -> str:
    return f"figures/grid-{name.replace('_', '-')}.png"


def _is_left_out(part: str) -> bool:
    return part.startswith("![") and "(figures/" not in part


if __name__ == "__main__":
    main()
