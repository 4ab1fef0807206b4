"""Writes experiments/grid.md, its figures and the tables of the results page, so that no number is copied by hand.

Run: .venv/bin/python -m experiments.grid_document
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cell_files import GridFolder
from experiments.comparison import DIFFERENCE, GridResults
from experiments.grid_report import write_grid_report
from experiments.large_graph.wikikg_table import large_graph_table, read_lines
from experiments.mean_tables import by_ratio
from experiments.own_tables import probability_averages
from experiments.paper_tables import MARKED, grid_tables, noted

if TYPE_CHECKING:
    from unseen.evaluation.report_tables import Table

ROOT = Path(__file__).parents[1]
RESULTS, DOCUMENTS = ROOT / "experiments" / "results", ROOT / "docs"
GRID, SUMMARY = ROOT / "experiments" / "grid.md", DOCUMENTS / "explanation" / "results.md"
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
[the result files](results/README.md). [Results](../docs/explanation/results.md) is a summary.
[History](history.md) says how the numbers came about."""
PLACE = re.compile(r"<!-- table: (\w+)(?: at (\d+) %)? -->\n.*?<!-- end -->", re.DOTALL)
"""Where a page has a table of the grid, or its lines of one ratio."""


def main() -> None:
    """Write the pages and the figures that they show."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        GRID.write_text(page(Path(folder)), "utf-8")
        for name in SHOWN:
            with Image.open(Path(folder) / f"{name}.png") as picture:
                picture.convert("RGB").quantize(64).save(DOCUMENTS / _figure(name), optimize=True)
    SUMMARY.write_text(with_tables(SUMMARY.read_text("utf-8")), "utf-8")


def page(report: Path, *, figures: bool = True) -> str:
    """The report, made in a folder, as a page of the documents."""
    large = RESULTS / "large-graph.jsonl"
    write_grid_report(RESULTS, report, large_graph=large if large.exists() else None, figures=figures)
    text = (report / "report.md").read_text("utf-8")
    for name in SHOWN:
        text = text.replace(f"({name}.png)", f"(../docs/{_figure(name)})")
    _, *paragraphs = text.strip().split("\n\n")
    kept = [part for part in paragraphs if not part.startswith("*") and not _is_left_out(part)]
    return "\n\n".join([HEADER, *kept]) + "\n"


def with_tables(text: str) -> str:
    """A page with the tables of the result files in their places."""
    found = GridResults.of(GridFolder(RESULTS))
    tables = [*grid_tables(found), by_ratio(found, known_facts=False), by_ratio(found, known_facts=True)]
    tables.append(noted(probability_averages(found), found))
    tables.append(large_graph_table(read_lines(RESULTS / "large-graph.jsonl")))
    by_name = {table.name: table for table in tables}

    def filled(match: re.Match[str]) -> str:
        table = by_name[match[1]] if match[2] is None else _at(by_name[match[1]], f"{match[2]} %")
        opening = match[0].split("\n", 1)[0]
        return f"{opening}\n{table.title}\n\n{table.to_markdown().strip()}\n<!-- end -->"

    return PLACE.sub(filled, text)


def _at(table: Table, ratio: str) -> Table:
    """The measured and published lines of one ratio, without the column that says it."""
    rows = tuple(row[1:] for row in table.rows if row[0] == ratio and DIFFERENCE not in row)
    title = table.title.replace(f" {MARKED}", "")
    return replace(table, header=table.header[1:], rows=rows, labels=table.labels - 1, title=f"At {ratio}: {title}")


def _figure(name: str) -> str:
    return f"figures/grid-{name.replace('_', '-')}.png"


def _is_left_out(part: str) -> bool:
    return part.startswith("![") and "/figures/" not in part


if __name__ == "__main__":
    main()
