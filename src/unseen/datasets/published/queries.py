"""Queries and answers in the files of InductiveQE and BetaE.

Both have a dict from structures to sets of queries. Answers are a dict from queries to sets of ids (BetaE), or one such
dict for each structure (InductiveQE); both are understood under either name.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unseen.datasets.pickles.restricted import NotIds, Pickled
from unseen.datasets.published.structures import Numbering, Structure, shape_of_structure, slots_in_place
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.rows import difference, first_shared
from unseen.errors import DatasetError, QueryError
from unseen.logic.traverse import answers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.datasets.dataset import Dataset
    from unseen.datasets.published.archive import Archive
    from unseen.logic.shapes import Shape

    Words = NDArray[np.int64]
    MayLack = Callable[[int, int], bool]

NAMES = {
    "queries": ("{}_queries.pkl", "{}-queries.pkl"),
    "easy": ("{}_answers_easy.pkl", "{}-easy-answers.pkl", "{}-tp-answers.pkl"),
    "hard": ("{}_answers_hard.pkl", "{}-hard-answers.pkl", "{}-fn-answers.pkl"),
    "train": ("{}_answers_hard.pkl", "{}-answers.pkl", "{}_answers.pkl", "{}-hard-answers.pkl"),
    "valid_list": ("train_answers_valid.pkl", "train_answers_val.pkl"),
    "test_list": ("train_answers_test.pkl",),
}


class QueryLimits(NamedTuple):
    """How many entities there are, and how relations are numbered."""

    num_entities: int
    numbering: Numbering


class Listed(NamedTuple):
    """The queries of one structure as they stand in a file: a word and a row of published ids for each."""

    structure: Structure
    shape: Shape
    ids: NDArray[np.int64]
    in_set: bool


def has_queries(archive: Archive) -> bool:
    """Whether there is a file of queries."""
    return any(_name(archive, "queries", split) for split in ("train", "valid", "test"))


def read_tables(
    archive: Archive, split: str, limits: QueryLimits, dataset: Dataset, notes: list[str]
) -> tuple[dict[str, QueryTable], dict[str, dict[str, Ragged]]]:
    """The tables of one split by shape, none if it has no file of queries; and for "train" the answer lists.

    A query may be absent from the easy answers only if it has none on the observed graph. Answers without a file are
    computed on the graphs of `dataset`, and `notes` says so.
    """
    file = _name(archive, "queries", split)
    if file is None:
        return {}, {}
    listed, observed = _listed(archive.pickled(file)), dataset.observed(split)
    slots = [published_to_slots(queries, limits, archive.path(file)) for queries in listed]

    def has_none(place: int, row: int) -> bool:
        query = listed[place].shape.fill(slots[place][row].tolist())
        return observed.num_triples > 0 and len(answers(observed, query)) == 0

    if split == "train":
        easy = _answers(archive, "train", split, listed, limits, _never)
        hard: list[Ragged] | None = [Ragged.empty(len(rows)) for rows in slots]
        lists = {side: _lists(archive, side, listed, limits) for side in ("valid", "test")}
    else:
        easy = _answers(archive, "easy", split, listed, limits, has_none)
        hard, lists = _answers(archive, "hard", split, listed, limits, _never), {}
    if easy is None or hard is None:
        _check_computable(archive, file, split, easy is None, dataset)
        kinds = " and ".join(kind for kind, found in (("easy", easy), ("hard", hard)) if found is None)
        notes.append(f"the {kinds} answers of the {split} queries have no file; they were computed on the graph")
        easy, hard = _computed(dataset, split, listed, slots, easy, hard)
    return _tables(listed, slots, easy, hard, archive.path(file)), lists


def _check_computable(archive: Archive, file: str, split: str, lacks_easy: bool, dataset: Dataset) -> None:
    """Refuse to compute answers on a graph that is not there; the missing file is called as its neighbours are."""
    if dataset.complete(split).num_triples:
        return
    kind = "train" if split == "train" else "easy" if lacks_easy else "hard"
    sign = "-" if "-" in file else "_"
    missing = next(name for name in NAMES[kind] if sign in name).format(split)
    problem = f"{missing} is missing, and without a graph the answers cannot be computed"
    raise DatasetError(f"{problem}: give training, validation and test triples with --graph", path=archive.where)


def _computed(
    dataset: Dataset,
    split: str,
    listed: list[Listed],
    slots: list[NDArray[np.int32]],
    easy: list[Ragged] | None,
    hard: list[Ragged] | None,
) -> tuple[list[Ragged], list[Ragged]]:
    """Easy and hard answers by traversal if a file is missing; answers from files stay unchanged."""
    from unseen.datasets.answering import answer_table, easy_and_hard_answers

    observed, complete = dataset.observed(split), dataset.complete(split)
    found: list[tuple[Ragged, Ragged]] = []
    for place, (queries, rows) in enumerate(zip(listed, slots, strict=True)):
        if split == "train":
            found.append((answer_table(observed, queries.shape, rows), Ragged.empty(len(rows))))
            continue
        known, missed = easy_and_hard_answers(complete, observed, queries.shape, rows, compatible=True)
        if easy is not None:
            known = easy[place]
        elif hard is not None:
            known = difference(known, hard[place])
        found.append((known, difference(missed, known) if hard is None else hard[place]))
    return [first for first, _ in found], [second for _, second in found]


def _never(_place: int, _row: int) -> bool:
    return False


def _tables(
    listed: list[Listed], slots: list[NDArray[np.int32]], easy: list[Ragged], hard: list[Ragged], path: Path
) -> dict[str, QueryTable]:
    tables = {}
    for queries, ids, known, missing in zip(listed, slots, easy, hard, strict=True):
        _check_disjoint(queries, known, missing, path)
        tables[queries.shape.name] = QueryTable(queries.shape, ids, known, missing)
    return tables


def _check_disjoint(queries: Listed, easy: Ragged, hard: Ragged, path: Path) -> None:
    row = first_shared(easy, hard)
    if row is not None:
        query = slots_in_place(queries.structure, queries.ids[row].tolist())
        raise DatasetError(f"the query {query} has an answer that is both easy and hard", path=path)


def _name(archive: Archive, kind: str, split: str) -> str | None:
    return archive.first(*(name.format(split) for name in NAMES[kind]))


def _listed(pickled: Pickled) -> list[Listed]:
    """The queries of a file by structure."""
    listed = []
    for key, value in zip(*map(np.ndarray.tolist, pickled.items(pickled.root)), strict=True):
        structure, words = pickled.plain(key, 1000), pickled.members(value)
        shape = _shape(structure, pickled)
        positions, ids = pickled.matching(words, structure)
        if len(positions) < len(words):
            wrong = np.setdiff1d(np.arange(len(words)), positions)[0]
            raise DatasetError(
                f"has {pickled.shown(int(words[wrong]))} among the queries of {structure}", path=pickled.path
            )
        listed.append(Listed(structure, shape, _without_repeats(ids), pickled.is_set(value)))
    return listed


def _without_repeats(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows in order, each once: a set has no repeats, however it is written."""
    return ids[np.sort(np.unique(ids, axis=0, return_index=True)[1])]


def _shape(structure: Any, pickled: Pickled) -> Shape:
    try:
        return shape_of_structure(structure)
    except QueryError as error:
        raise DatasetError(f"has a key that is not a structure of queries: {error}", path=pickled.path) from None


def published_to_slots(queries: Listed, limits: QueryLimits, path: Path) -> NDArray[np.int32]:
    """The ids of queries in our numbering; one that is out of range is refused."""
    slots = queries.ids.copy()
    for column, kind in enumerate(queries.shape.slots):
        limit = limits.num_entities if kind == "e" else limits.numbering.count
        wrong = np.flatnonzero(slots[:, column] >= limit)
        if len(wrong):
            query = slots_in_place(queries.structure, queries.ids[wrong[0]].tolist())
            noun = "entity" if kind == "e" else "relation"
            raise DatasetError(f"the query {query} has a {noun} id beyond {limit - 1}", path=path)
        if kind == "r":
            slots[:, column] = limits.numbering.to_ours(slots[:, column])
    return slots.astype(np.int32)


def _answers(
    archive: Archive, kind: str, split: str, listed: list[Listed], limits: QueryLimits, may_lack: MayLack
) -> list[Ragged] | None:
    """The answers of the queries of each structure, row by row; None without a file of them."""
    file = _name(archive, kind, split)
    if file is None:
        return None
    pickled = archive.pickled(file)
    keys, values = pickled.items(pickled.root)
    nested = len(values) > 0 and pickled.is_dict(int(values[0]))
    rows = []
    for place, queries in enumerate(listed):
        found = _of_structure(pickled, keys, values, queries.structure) if nested else (keys, values)
        rows.append(joined_answers(pickled, found, queries, limits.num_entities, partial(may_lack, place)))
    return rows


def _of_structure(pickled: Pickled, keys: Words, values: Words, structure: Structure) -> tuple[Words, Words]:
    """Keys and values of the inner dict of one structure."""
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        if pickled.plain(key, 1000) == structure:
            return pickled.items(value)
    return keys[:0], values[:0]


def joined_answers(
    pickled: Pickled,
    entries: tuple[Words, Words],
    queries: Listed,
    num_entities: int,
    may_lack: Callable[[int], bool],
) -> Ragged:
    """The answers of each query; one without an entry is refused, unless it may lack one."""
    keys, values = entries
    positions, ids = pickled.matching(keys, queries.structure)
    place = {row.tobytes(): position for row, position in zip(ids, positions.tolist(), strict=True)}
    chosen = np.array([place.get(row.tobytes(), -1) for row in queries.ids], np.int64)
    for row in np.flatnonzero(chosen < 0).tolist():
        if not may_lack(row):
            query = slots_in_place(queries.structure, queries.ids[row].tolist())
            raise DatasetError(f"has no answers for the query {query}", path=pickled.path)
    present = chosen >= 0
    found = id_rows(pickled, values[chosen[present]], num_entities, queries._replace(ids=queries.ids[present]))
    lengths = np.zeros(len(chosen), np.int64)
    lengths[present] = found.lengths
    return Ragged.from_lengths(lengths, found.values)


def id_rows(pickled: Pickled, words: Words, num_entities: int, queries: Listed) -> Ragged:
    """Sets of entity ids; anything else is refused with its query."""
    try:
        return pickled.id_rows(words, num_entities)
    except NotIds as error:
        query = slots_in_place(queries.structure, queries.ids[error.row].tolist())
        problem = f"an answer of the query {query} is not an entity id (0 … {num_entities - 1})"
        raise DatasetError(problem, path=pickled.path) from None


def _lists(archive: Archive, side: str, listed: list[Listed], limits: QueryLimits) -> dict[str, Ragged]:
    """The answers of the training queries on a larger graph.

    They are lists, in the order in which a reader's Python runs through the set of queries: since 3.8 that order
    follows from the order of the file, because ids hash to themselves and tuples of them without a seed.
    """
    file = archive.first(*NAMES[f"{side}_list"])
    if file is None:
        return {}
    pickled = archive.pickled(file)
    keys, values = pickled.items(pickled.root)
    structures = {pickled.plain(key, 1000): value for key, value in zip(keys.tolist(), values.tolist(), strict=True)}
    lists = {}
    for queries in listed:
        if queries.structure in structures:
            words = pickled.members(structures[queries.structure])
            lists[queries.shape.name] = _in_order(pickled, words, queries, limits.num_entities)
    return lists


def _in_order(pickled: Pickled, words: Words, queries: Listed, num_entities: int) -> Ragged:
    order = reading_order(queries.structure, queries.ids) if queries.in_set else np.arange(len(queries.ids))
    if len(words) != len(order):
        problem = f"has {len(words):,} answer sets for {len(order):,} queries of {queries.structure}"
        raise DatasetError(problem, path=pickled.path)
    by_query = np.empty(len(order), np.int64)
    by_query[order] = words
    return id_rows(pickled, by_query, num_entities, queries)


def reading_order(structure: Structure, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the queries in the order in which Python runs through a set into which they are put one by one."""
    tuples = [slots_in_place(structure, row) for row in ids.tolist()]
    position = {query: place for place, query in enumerate(tuples)}
    return np.array([position[query] for query in set(tuples)], np.int64)
