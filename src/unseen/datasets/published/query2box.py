"""Query2Box folders: for each type a list of queries, a dict of all answers and a dict of hard ones.

The types are called 1c 2c 3c 2i 3i ic ci 2u uc there, and queries are flatter than the nested tuples of later formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.datasets.dataset import SPLITS, Dataset
from unseen.datasets.pickles.pickle_writer import dictionary, encoded, id_sets, list_of, pickle_file
from unseen.datasets.published.betae import graph_and_name_files, read_transductive
from unseen.datasets.published.queries import Listed, QueryLimits, joined_answers, published_to_slots
from unseen.datasets.published.structures import Numbering, slots_in_place
from unseen.datasets.published.writing import published_slots
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.rows import difference, union
from unseen.errors import DatasetError
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from unseen.datasets.published.archive import Archive

_LINK: tuple[Any, ...] = ("e", ("r",))
TYPES: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "1c": ("1p", "1-chain", (_LINK,)),
    "2c": ("2p", "2-chain", (("e", ("r", "r")),)),
    "3c": ("3p", "3-chain", (("e", ("r", "r", "r")),)),
    "2i": ("2i", "2-inter", (_LINK, _LINK)),
    "3i": ("3i", "3-inter", (_LINK, _LINK, _LINK)),
    "ic": ("ip", "inter-chain", (_LINK, _LINK, "r")),
    "ci": ("pi", "chain-inter", (("e", ("r", "r")), _LINK)),
    "2u": ("2u", "2-union", (_LINK, _LINK)),
    "uc": ("up", "union-chain", (_LINK, _LINK, "r")),
}
"""For each type: our shape, what the files call it in full, and the form of a query as a key of the answers."""


def is_query2box(archive: Archive) -> bool:
    """Whether these are the files of a Query2Box dataset."""
    return any(f"{split}_triples_{kind}.pkl" in archive for split in SPLITS for kind in TYPES)


def read_query2box(archive: Archive, name: str, graph_files: Sequence[Path]) -> Dataset:
    """The dataset of a Query2Box folder.

    With a graph, easy answers are computed on it, because some of the published files lack a few; hard answers are
    always those of the files.
    """
    split, limits, notes = read_transductive(archive, graph_files)
    dataset = Dataset(name, split, manifest={"kind": "transductive", "answers": "published"})
    tables: dict[str, dict[str, QueryTable]] = {side: {} for side in SPLITS}
    for side in SPLITS:
        for kind, (shape, _, _) in TYPES.items():
            if f"{side}_triples_{kind}.pkl" in archive:
                tables[side][shape] = _table(archive, side, kind, limits, dataset, notes)
    return dataset.with_queries(tables, {}, **({"notes": notes} if notes else {}))


def _table(
    archive: Archive, side: str, kind: str, limits: QueryLimits, dataset: Dataset, notes: list[str]
) -> QueryTable:
    """The queries of one type; what the graph does not confirm is noted."""
    listed = _listed(archive, side, kind)
    slots = published_to_slots(listed, limits, archive.path(f"{side}_triples_{kind}.pkl"))
    everything = _answers(archive, f"{side}_ans_{kind}.pkl", listed, limits)
    hard = (
        Ragged.empty(len(slots))
        if side == "train"
        else _answers(archive, f"{side}_ans_{kind}_hard.pkl", listed, limits)
    )
    if hard is None:
        table = QueryTable(listed.shape, slots, Ragged.empty(len(slots)), Ragged.empty(len(slots)))
        hard = _computed_hard(archive.path(f"{side}_ans_{kind}_hard.pkl"), table, side, dataset, notes)
    if dataset.observed(side).num_triples:
        return _checked_on_graph(QueryTable(listed.shape, slots, Ragged.empty(len(slots)), hard), side, dataset, notes)
    if everything is None:
        notes.append(f"{side}_ans_{kind}.pkl is missing: easy answers of the {listed.shape.name} queries are unknown")
        everything = hard
    return QueryTable(listed.shape, slots, difference(everything, hard), hard)


def _computed_hard(path: Path, table: QueryTable, side: str, dataset: Dataset, notes: list[str]) -> Ragged:
    """Hard answers by traversal, where there is a graph; `path` is the file that they would stand in."""
    from unseen.datasets.answering import easy_and_hard_answers

    if not dataset.observed(side).num_triples:
        problem = "is missing, and without a graph the answers cannot be computed"
        raise DatasetError(f"{problem}: give training, validation and test triples with --graph", path=path)
    notes.append(f"{path.name} is missing: hard answers of the {table.shape.name} queries were computed on the graph")
    graphs = dataset.complete(side), dataset.observed(side)
    return easy_and_hard_answers(*graphs, table.shape, table.slots, compatible=True)[1]


def _checked_on_graph(table: QueryTable, side: str, dataset: Dataset, notes: list[str]) -> QueryTable:
    from unseen.datasets.answering import easy_and_hard_answers

    graphs = dataset.complete(side), dataset.observed(side)
    easy, hard = easy_and_hard_answers(*graphs, table.shape, table.slots, compatible=True)
    if side != "train":
        differing = sum(not np.array_equal(hard.row(row), table.hard.row(row)) for row in range(len(table)))
        if differing:
            notes.append(f"{side} {table.shape.name}: hard answers of {differing:,} queries are not those of the graph")
    return QueryTable(table.shape, table.slots, difference(easy, table.hard), table.hard)


def _listed(archive: Archive, side: str, kind: str) -> Listed:
    """The queries of a list, each written with its type and a target that nobody reads."""
    shape, _, form = TYPES[kind]
    pickled = archive.pickled(f"{side}_triples_{kind}.pkl")
    words = pickled.members(pickled.root)
    pattern = ((*form[0], "*"), "*") if len(form) == 1 else (*form, "*", "*")
    positions, ids = pickled.matching(words, pattern)
    if len(positions) < len(words):
        wrong = np.setdiff1d(np.arange(len(words)), positions)[0]
        raise DatasetError(f"{pickled.shown(int(words[wrong]))} is not a query of type {kind}", path=pickled.path)
    return Listed(form, SHAPES[shape], ids, in_set=False)


def _answers(archive: Archive, file: str, listed: Listed, limits: QueryLimits) -> Ragged | None:
    if file not in archive:
        return None
    pickled = archive.pickled(file)
    return joined_answers(pickled, pickled.items(pickled.root), listed, limits.num_entities, lambda _: False)


def query2box_files(dataset: Dataset) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Every file of the folder, and its content in pieces; shapes with negation have no place in it."""
    numbering = Numbering(dataset.vocabulary.num_directed_relations, in_blocks=False)
    names = dataset.vocabulary.relations.keys.to_pylist()
    directed = [name + ending for name in names for ending in ("", "_reverse")]
    if len(set(directed)) < len(directed):
        problem = "this format calls the inverse of a relation x x_reverse, and here another relation is called so"
        raise DatasetError(f"{problem}; use --format betae", path=dataset.name)
    yield from graph_and_name_files(dataset, numbering, directed, ("ind2ent", "ent2ind", "ind2rel", "rel2ind"))
    for side, tables in dataset.tables.items():
        for kind, (shape, _, _) in TYPES.items():
            if shape in tables:
                yield from _files_of(tables[shape], side, kind, numbering)


def _files_of(table: QueryTable, side: str, kind: str, numbering: Numbering) -> Iterator[tuple[str, Iterable[bytes]]]:
    _, title, form = TYPES[kind]
    keys = [slots_in_place(form, row) for row in published_slots(table, numbering).tolist()]
    triples = ((((*key[0], 0), title) if len(form) == 1 else (*key, 0, title)) for key in keys)
    yield f"{side}_triples_{kind}.pkl", pickle_file(list_of(encoded(triple) for triple in triples))
    for name, rows in {"": union(table.easy, table.hard), "_hard": table.hard}.items():
        if side != "train" or not name:
            pairs = ((encoded(key), [answers]) for key, answers in zip(keys, id_sets(rows), strict=True))
            yield f"{side}_ans_{kind}{name}.pkl", pickle_file(dictionary(pairs, of_sets=True))
