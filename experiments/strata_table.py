"""Print the share of hard answers in each stratum of hardness, as Markdown tables.

    python -m experiments.strata_table 122.npz 175.npz 550.npz

Arguments are dataset folders, or published datasets of any format that `unseen dataset import` reads.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.program import positive_links
from unseen.datasets.published import import_dataset
from unseen.datasets.table_hardness import table_hardness

if TYPE_CHECKING:
    from unseen.datasets.query_table import QueryTable


def opened(path: str) -> Dataset:
    """The dataset of a folder with a manifest, or of a published file."""
    return Dataset.open(path) if (Path(path) / "manifest.json").is_file() else import_dataset(path)


def row(dataset: Dataset, table: QueryTable) -> str:
    """One line: counts, the share of each stratum, the share of queries with an answer that needs every link."""
    links = positive_links(table.shape.skeleton)
    graphs = dataset.complete("test"), dataset.observed("test")
    needed = table_hardness(*graphs, table.shape, table.slots, table.hard)
    counts = np.bincount(needed, minlength=links + 1)[1:]
    queries = np.repeat(np.arange(len(table)), table.hard.lengths)
    one = np.bincount(queries, weights=needed == 1, minlength=len(table)) / np.maximum(table.hard.lengths, 1)
    shares = [f"{100 * count / max(counts.sum(), 1):.1f}" for count in counts]
    shares += [""] * (3 - links)
    full = len(np.unique(queries[needed == links])) / max(len(table), 1)
    cells = [f"{len(table):,}", f"{len(needed):,}", *shares, shares[links - 1], f"{100 * full:.1f}"]
    return " | ".join(["", table.shape.name, str(links), *cells, f"{100 * one.mean():.1f}", ""]).strip()


def main() -> None:
    """Print one table for each dataset."""
    header = ["type", "links", "queries", "hard answers", "1 missing %", "2 missing %", "3 missing %", "all missing %"]
    header += ["queries with an answer that needs all %", "1 missing %, mean over queries"]
    for path in sys.argv[1:]:
        dataset = opened(path)
        print(f"## {dataset.name} %\n")
        print("| " + " | ".join(header) + " |")
        print("| --- |" + " ---: |" * (len(header) - 1))
        for table in dataset.tables["test"].values():
            print(row(dataset, table))
        print()


if __name__ == "__main__":
    main()
