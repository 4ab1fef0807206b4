"""Writes docs/grid.md and its figures from experiments/results, so that no number of a cell is copied by hand.

Run: .venv/bin/python -m experiments.grid_document
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from experiments.grid_report import write_grid_report

ROOT = Path(__file__).parents[1]
RESULTS, TARGET = ROOT / "experiments" / "results", ROOT / "docs" / "grid.md"
SHOWN = (
    "test_queries_by_ratio",
    "test_queries_by_type",
    "test_queries_alone_by_ratio",
    "training_queries_by_ratio",
    "strata",
    "reliability",
)
HEADER = """# The grid

All cells of the paper's experiments, written by `python -m experiments.grid_document` from
[the result files](../experiments/results/README.md). What they say, and how they were made:
[results](results.md#the-papers-experiments)."""


def main() -> None:
    """Write the page and the figures that it shows."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        TARGET.write_text(page(Path(folder)), "utf-8")
        for name in SHOWN:
            with Image.open(Path(folder) / f"{name}.png") as picture:
                picture.convert("RGB").quantize(64).save(TARGET.parent / _figure(name), optimize=True)


def page(report: Path, *, figures: bool = True) -> str:
    """The report, made in a folder, as a page of the documents."""
    large = RESULTS / "large-graph.jsonl"
    write_grid_report(RESULTS, report, large_graph=large if large.exists() else None, figures=figures)
    text = (report / "report.md").read_text("utf-8")
    for name in SHOWN:
        text = text.replace(f"({name}.png)", f"({_figure(name)})")
    _, *paragraphs = text.strip().split("\n\n")
    kept = [part for part in paragraphs if not part.startswith("*") and not _is_left_out(part)]
    return "\n\n".join([HEADER, *kept]) + "\n"


def _figure(name: str) -> str:
    return f"figures/grid-{name.replace('_', '-')}.png"


def _is_left_out(part: str) -> bool:
    return part.startswith("![") and "(figures/" not in part


if __name__ == "__main__":
    main()
