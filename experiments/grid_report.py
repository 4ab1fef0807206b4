"""A folder of tables and figures made of the result files of a grid, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.cell_files import GridFolder
from experiments.comparison import GridResults
from experiments.large_graph.wikikg_table import large_graph_table, read_lines
from experiments.paper_tables import grid_tables
from unseen.graph.files.atomic_file import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from unseen.evaluation.report_tables import Table

WARNING = "> Results of the tiny preset: they show that everything fits together, and mean nothing.\n\n"
HEADINGS = {
    "mean_over_ratios": "Mean over ratios",
    "against_the_paper": "Against the paper",
    "test_hits_at_10": "Test queries, Hits@10",
    "test_hits_at_3": "Test queries, Hits@3",
    "training_queries": "Training queries on both graphs",
    "easy_first": "Easy before hard answers",
    "large_graph": "The large graph",
    "strata": "Hardness",
    "probabilities": "Probabilities and numbers of answers",
    "time": "Time",
    "coverage": "Cells",
    "origins": "Origins",
}
CAPTIONS = {
    "test_queries_by_ratio": "Test queries over ratios (section 5.2); grey and hollow: the paper.",
    "test_queries_by_type": "Test queries by type; grey and hollow: the paper.",
    "test_queries_alone_by_ratio": "Test queries over ratios without known facts, as the paper's models are.",
    "test_queries_alone_by_type": "Test queries by type without known facts, as the paper's models are.",
    "training_queries_by_ratio": "Training queries on the training graph (solid) and on the test graph (dashed), "
    "without known facts (section 5.3); grey and hollow: the paper.",
    "training_queries_by_type": "Training queries by type, on both graphs, without known facts.",
    "strata": "How much harder answers are that need more missing links.",
    "reliability": "What probabilities are worth.",
}


def write_grid_report(grid: Path, target: Path, *, large_graph: Path | None = None, figures: bool = True) -> list[Path]:
    """Write tables and figures of all cells that are there; the files written, `report.md` first, none for no cell.

    `grid` is the folder of a grid or of its results alone; `large_graph` has lines of its benchmark.
    """
    found = GridResults.of(GridFolder(grid))
    tables = grid_tables(found)
    if large_graph is not None:
        tables.append(large_graph_table(read_lines(large_graph)))
    if not tables:
        return []
    target.mkdir(parents=True, exist_ok=True)
    pictures = _figures(found, target) if figures else []
    texts = {"report.md": (WARNING if found.is_made_up else "") + _document(tables, pictures)}
    for table in tables:
        texts |= {f"{table.name}.md": f"{table.title}\n\n{table.to_markdown()}", f"{table.name}.csv": table.to_csv()}
        texts[f"{table.name}.tex"] = table.to_latex()
    for name, text in texts.items():
        with replacing(target / name) as stream:
            stream.write(text.encode())
    return [target / name for name in texts] + pictures


def _figures(found: GridResults, folder: Path) -> list[Path]:
    from experiments.grid_figures import draw_grid  # matplotlib is optional

    return draw_grid(found, folder)


def _document(tables: Sequence[Table], pictures: Sequence[Path]) -> str:
    """One page with everything on it, in the order of the headings."""
    by_name = {table.name: table for table in tables}
    parts = ["# The paper's experiments\n"]
    shown = [picture for picture in pictures if picture.suffix == ".png"]
    parts += [f"![{CAPTIONS.get(one.stem, one.stem)}]({one.name})\n\n*{CAPTIONS.get(one.stem, '')}*\n" for one in shown]
    for name, heading in HEADINGS.items():
        if name in by_name:
            parts.append(f"## {heading}\n\n{by_name[name].title}\n\n{by_name[name].to_markdown()}")
    return "\n".join(parts)
