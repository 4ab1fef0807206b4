"""InductiveQE archives: the paper's own benchmark files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import SPLITS, Dataset
from unseen.datasets.published.graphs import forward_edges, read_stats, read_triples, written_triples
from unseen.datasets.published.name_files import original_vocabulary
from unseen.datasets.published.queries import QueryLimits, read_tables
from unseen.datasets.published.structures import Numbering
from unseen.datasets.published.writing import (
    answer_file,
    answer_list_file,
    mapping_file,
    query_file,
)
from unseen.datasets.split import HEAD, TAIL, InductiveSplit
from unseen.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from unseen.datasets.published.archive import Archive
    from unseen.graph import KnowledgeGraph

    Triples = NDArray[np.int64]

GRAPH_FILES = ("train_graph", "val_inference", "val_predict", "test_inference", "test_predict")
NEW_ENTITIES = {"entities in train": "train", "entities in validation": "valid", "entities in test": "test"}


def is_inductive(archive: Archive) -> bool:
    """Whether these are the files of an InductiveQE dataset."""
    return archive.first("train_graph.txt", "train_graph.pt") is not None


def read_inductive(archive: Archive, name: str, named: KnowledgeGraph | None) -> Dataset:
    """The dataset of an InductiveQE archive."""
    files = [archive.first(f"{file}.txt", f"{file}.pt") or f"{file}.txt" for file in GRAPH_FILES]
    triples = [read_triples(archive, file) for file in files]
    limits = _limits(archive, triples)
    edges = [
        forward_edges(rows, limits.numbering, limits.num_entities, archive.path(file))
        for rows, file in zip(triples, files, strict=True)
    ]
    vocabulary = original_vocabulary(archive, limits.num_entities, limits.numbering.count // 2, named, edges)
    split = InductiveSplit(vocabulary, *edges)
    _check_stats(archive, split)
    dataset = Dataset(name, split, manifest={"kind": "inductive", "answers": "published"})
    notes: list[str] = []
    found = {side: read_tables(archive, side, limits, dataset, notes) for side in SPLITS}
    tables = {side: tables for side, (tables, _) in found.items()}
    return dataset.with_queries(tables, found["train"][1], **({"notes": notes} if notes else {}))


def _limits(archive: Archive, triples: list[Triples]) -> QueryLimits:
    """Numbers of entities and directed relations: what `stats.txt` says, else what the ids ask for."""
    stats = read_stats(archive)
    largest = np.array([rows.max(axis=0) for rows in triples if len(rows)] or [[-1, -1, -1]]).max(axis=0)
    entities = stats.get("numentity", int(largest[[HEAD, TAIL]].max()) + 1)
    directed = stats.get("numrelations", 2 * (int(largest[1]) // 2 + 1))
    if directed % 2 or directed == 0:
        raise DatasetError(f"has {directed} directed relations, not an even number", path=archive.where)
    return QueryLimits(entities, Numbering(directed, in_blocks=True))


def _check_stats(archive: Archive, split: InductiveSplit) -> None:
    """The counts of entities in `stats.txt` must be those of the graphs."""
    found = _new_entities(split)
    for key, count in read_stats(archive).items():
        side = NEW_ENTITIES.get(key)
        if side is not None and found[side] != count:
            problem = f'"{key}: {count}", but the graphs have {found[side]:,}'
            raise DatasetError(problem, path=archive.path("stats.txt"))


def _new_entities(split: InductiveSplit) -> dict[str, int]:
    """How many entities of each split are in no graph before it."""
    old = np.unique(split.train_graph[:, [HEAD, TAIL]])
    sides = {"valid": split.valid_inference, "test": split.test_inference}
    new = {side: len(np.setdiff1d(edges[:, [HEAD, TAIL]], old)) for side, edges in sides.items()}
    return {"train": len(old), **new}


def inductive_files(dataset: Dataset) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Every file of the archive, and its content in pieces."""
    numbering = Numbering(dataset.vocabulary.num_directed_relations, in_blocks=True)
    split = dataset.split
    parts = (split.train_graph, split.valid_inference, split.valid_predict, split.test_inference, split.test_predict)
    for name, edges in zip(GRAPH_FILES, parts, strict=True):
        yield f"{name}.txt", [written_triples(edges, numbering)]
    yield "stats.txt", [_stats(dataset)]
    yield "og_mappings.pkl", mapping_file(dataset.vocabulary)
    for side, tables in dataset.tables.items():
        yield f"{side}_queries.pkl", query_file(tables, numbering)
        if side == "train":
            yield f"{side}_answers_hard.pkl", answer_file(tables, "easy", numbering, nested=True)
            continue
        for kind in ("easy", "hard"):
            yield f"{side}_answers_{kind}.pkl", answer_file(tables, kind, numbering, nested=True)
    yield from _answer_lists(dataset, numbering)


def _answer_lists(dataset: Dataset, numbering: Numbering) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The answers of the training queries on larger graphs; the one for validation under both names in use."""
    for side, names in {"valid": ("val", "valid"), "test": ("test",)}.items():
        answers = dataset.training_answers.get(side, {})
        for name in names if answers else ():
            yield f"train_answers_{name}.pkl", answer_list_file(dataset.tables["train"], answers, numbering)


def _stats(dataset: Dataset) -> bytes:
    new = _new_entities(dataset.split)
    lines = [
        f"numentity: {dataset.vocabulary.num_entities}",
        f"numrelations: {dataset.vocabulary.num_directed_relations}",
        *(f"{key}: {new[side]}" for key, side in NEW_ENTITIES.items()),
    ]
    return ("\n".join(lines) + "\n").encode()
