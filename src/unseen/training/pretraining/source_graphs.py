"""The graphs to learn from, by path or name.

| what is given | what is learned from | with `whole`, what is true |
| --- | --- | --- |
| a graph file (TSV, CSV, Parquet, RDF), or `countries` | all of it | all of it |
| a folder with a `train` file (`train.tsv.gz`, `train.txt` …) | that file | `valid` and `test` files too |
| a dataset folder, or a published archive, folder or `.npz` | its training graph | every edge of every split |
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.errors import GraphError
from unseen.graph import KnowledgeGraph
from unseen.graph.files.formats import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.datasets.dataset import Dataset

FEWEST_TRIPLES = 100
"""Below that nothing can be held out and learned from."""


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A graph to learn from."""

    name: str
    graph: KnowledgeGraph

    def about(self) -> dict[str, Any]:
        """What a run folder says of it."""
        graph = self.graph
        return {
            "name": self.name,
            "entities": len(graph.connected_entities),
            "relations": graph.num_relations,
            "triples": graph.num_triples,
        }


def open_graphs(sources: Sequence[str | Path], *, whole: bool = False) -> list[NamedGraph]:
    """The graphs of all sources; two of one name, or one too small to learn from, are errors.

    With `whole`, each is all that its source says: not to learn from, but to know what is true.
    """
    found = [open_graph(source, whole=whole) for source in sources]
    names = [one.name for one in found]
    for one in found:
        if names.count(one.name) > 1:
            raise GraphError(f"two graphs are called {one.name!r}: give each file or folder a name of its own")
        if one.graph.num_triples < FEWEST_TRIPLES:
            raise GraphError(f"{one.name} has {one.graph.num_triples} triples; at least {FEWEST_TRIPLES} are needed")
    return found


def open_graph(source: str | Path, *, whole: bool = False) -> NamedGraph:
    """The graph that one source says."""
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.published import import_dataset
    from unseen.graph.files.readers import read_graph

    path = Path(source)
    name = path.name.split(".")[0]
    if str(source) == "countries" and not path.exists():
        path = Path(str(resources.files("unseen.data") / "countries.tsv"))
    if path.is_dir() and not (path / "manifest.json").exists() and _part_file(path, "train"):
        return NamedGraph(name, read_graph(*_part_files(path, whole=whole)).graph)
    if (path / "manifest.json").exists():
        return NamedGraph(name, _of_dataset(Dataset.open(path), whole=whole))
    if path.is_dir() or path.suffix in (".npz", ".zip"):
        return NamedGraph(name, _of_dataset(import_dataset(path), whole=whole))
    return NamedGraph(name, read_graph(path).graph)


def _of_dataset(dataset: Dataset, *, whole: bool) -> KnowledgeGraph:
    """The training graph; with `whole` what is true in any split: all of them number entities and relations alike."""
    if not whole:
        return dataset.observed("train")
    from unseen.datasets.dataset import SPLITS

    graphs = [dataset.complete(split) for split in SPLITS]
    heads, relations, tails = (
        np.concatenate([getattr(graph, column) for graph in graphs]) for column in ("heads", "relations", "tails")
    )
    return KnowledgeGraph(heads, relations, tails, dataset.vocabulary)


def _part_files(folder: Path, *, whole: bool) -> list[Path]:
    """The train file of a folder; with `whole` also what was kept apart from it."""
    parts = ("train", "valid", "test") if whole else ("train",)
    return [path for part in parts if (path := _part_file(folder, part))]


def _part_file(folder: Path, part: str) -> Path | None:
    """The file of a folder that is called so and is a graph."""
    for path in sorted(folder.glob(f"{part}.*")):
        bare = path.with_suffix("") if path.suffix == ".gz" else path
        if bare.suffix in SUFFIXES and bare.stem == part:
            return path
    return None
