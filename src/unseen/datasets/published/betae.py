"""BetaE folders: one graph in three growing parts, queries and flat answers, relations numbered 2k and 2k + 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import SPLITS, Dataset
from unseen.datasets.published.graphs import all_edges, parsed_triples, read_stats, written_triples
from unseen.datasets.published.name_files import edges_by_name, known_edges, num_named, paired_vocabulary
from unseen.datasets.published.queries import QueryLimits, has_queries, read_tables
from unseen.datasets.published.structures import Numbering
from unseen.datasets.published.writing import answer_file, id_file, name_file, query_file
from unseen.datasets.split import InductiveSplit
from unseen.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.datasets.published.archive import Archive
    from unseen.graph import Vocabulary

    Edges = NDArray[np.int32]

NO_GRAPH = "has no train.txt, valid.txt and test.txt; the graphs are empty (give the three files with --graph)"


def is_betae(archive: Archive) -> bool:
    """Whether these are the files of a BetaE dataset."""
    return has_queries(archive)


def read_betae(archive: Archive, name: str, graph_files: Sequence[Path]) -> Dataset:
    """The dataset of a BetaE folder; `graph_files` are its training, validation and test edges where it has none."""
    split, limits, notes = read_transductive(archive, graph_files)
    dataset = Dataset(name, split, manifest={"kind": "transductive", "answers": "published"})
    tables = {side: read_tables(archive, side, limits, dataset, notes)[0] for side in SPLITS}
    return dataset.with_queries(tables, {}, **({"notes": notes} if notes else {}))


def read_transductive(archive: Archive, graph_files: Sequence[Path]) -> tuple[InductiveSplit, QueryLimits, list[str]]:
    """Three growing graphs over one set of entities; numbers of ids; and what there is to say about them."""
    limits = _limits(archive)
    vocabulary = paired_vocabulary(archive, limits.num_entities, limits.numbering.count)
    notes: list[str] = []
    if graph_files:
        if len(graph_files) != 3:
            raise DatasetError("give three graph files: training, validation and test edges", path=archive.where)
        parts = [edges_by_name(file, vocabulary, notes) for file in graph_files]
    elif "train.txt" in archive:
        parts = [_edges(archive, f"{side}.txt", vocabulary, limits, notes) for side in SPLITS]
    else:
        parts = [np.empty((0, 3), np.int32)] * 3
        notes.append(NO_GRAPH)
    return transductive_split(vocabulary, parts), limits, notes


def transductive_split(vocabulary: Vocabulary, parts: Sequence[Edges]) -> InductiveSplit:
    """Validation edges are to be predicted from the training ones, test edges from both."""
    train, valid, test = parts
    return InductiveSplit(vocabulary, train, train[:0], valid, valid, test)


def transductive_parts(dataset: Dataset) -> list[Edges]:
    """Training, validation and test edges; a dataset with new entities has no such form."""
    split = dataset.split
    if len(split.valid_inference) or not np.array_equal(split.test_inference, split.valid_predict):
        problem = "this format has one growing graph, and here validation and test differ; use --format inductiveqe"
        raise DatasetError(problem, path=dataset.name)
    return [split.train_graph, split.valid_predict, split.test_predict]


def _limits(archive: Archive) -> QueryLimits:
    """Numbers of entities and directed relations, from `stats.txt` or the files of names."""
    stats = read_stats(archive)
    entities = stats.get("numentity") or num_named(archive, "entity")
    directed = stats.get("numrelations") or num_named(archive, "relation")
    if not entities or not directed or directed % 2:
        raise DatasetError("neither stats.txt nor files of names say how many ids there are", path=archive.where)
    return QueryLimits(entities, Numbering(directed, in_blocks=False))


def _edges(archive: Archive, file: str, vocabulary: Vocabulary, limits: QueryLimits, notes: list[str]) -> Edges:
    """The edges of one file, which has numbers in both directions, or names in one."""
    content = archive.read(file) if file in archive else b""
    first = content[: content.find(b"\n")].split() if content else []
    if all(word.isdigit() for word in first):
        triples = parsed_triples(content, archive.path(file))
        edges, remark = all_edges(triples, limits.numbering, limits.num_entities, archive.path(file))
        notes.extend([remark] if remark else [])
        return edges
    return _named_edges(content, vocabulary, archive.path(file), notes)


def _named_edges(content: bytes, vocabulary: Vocabulary, path: Path, notes: list[str]) -> Edges:
    rows = [line.split("\t") for line in content.decode("utf-8", "replace").splitlines()]
    if any(len(row) != 3 for row in rows):
        raise DatasetError("has a line that is not three names", path=path)
    heads, relations, tails = zip(*rows, strict=True)
    columns = [
        vocabulary.entities.find_all(heads),
        vocabulary.relations.find_all([relation.removeprefix("+") for relation in relations]),
        vocabulary.entities.find_all(tails),
    ]
    return known_edges(np.stack(columns, axis=1), (heads, relations, tails), path, notes)


def betae_files(dataset: Dataset) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Every file of the folder, and its content in pieces."""
    numbering = Numbering(dataset.vocabulary.num_directed_relations, in_blocks=False)
    names = dataset.vocabulary.relations.keys.to_pylist()
    directed = [sign + name for name in names for sign in "+-"]
    yield from graph_and_name_files(dataset, numbering, directed, ("id2ent", "ent2id", "id2rel", "rel2id"))
    for side, tables in dataset.tables.items():
        yield f"{side}-queries.pkl", query_file(tables, numbering)
        if side == "train":
            yield "train-answers.pkl", answer_file(tables, "easy", numbering, nested=False)
            continue
        for kind in ("easy", "hard"):
            yield f"{side}-{kind}-answers.pkl", answer_file(tables, kind, numbering, nested=False)


def graph_and_name_files(
    dataset: Dataset, numbering: Numbering, relations: list[str], names: tuple[str, str, str, str]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The three parts of the graph, names of entities and directed relations, and counts."""
    for side, edges in zip(SPLITS, transductive_parts(dataset), strict=True):
        yield f"{side}.txt", [written_triples(edges, numbering)]
    entities = dataset.vocabulary.entities.keys.to_pylist()
    for column, (to_name, to_id) in ((entities, names[:2]), (relations, names[2:])):
        yield f"{to_name}.pkl", name_file(column)
        yield f"{to_id}.pkl", id_file(column)
    yield "stats.txt", [f"numentity: {len(entities)}\nnumrelations: {len(relations)}\n".encode()]
