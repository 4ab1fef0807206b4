"""Queries and answers as the pickles of the published formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.pickles.pickle_writer import dictionary, encoded, id_sets, list_of, pickle_file, set_of
from unseen.datasets.published.queries import reading_order
from unseen.datasets.published.structures import Numbering, Structure, slots_in_place, structure_of_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from unseen.datasets.query_table import QueryTable, Ragged
    from unseen.graph import Vocabulary

    Tables = Mapping[str, QueryTable]


def published_slots(table: QueryTable, numbering: Numbering) -> NDArray[np.int64]:
    """The ids of queries in reading order, relations as the format numbers them."""
    slots = table.slots.astype(np.int64)
    for column, kind in enumerate(table.shape.slots):
        if kind == "r":
            slots[:, column] = numbering.to_published(slots[:, column])
    return slots


def encoded_queries(structure: Structure, slots: NDArray[np.int64]) -> Iterator[bytes]:
    """Each query as nested tuples."""
    for row in slots.tolist():
        yield encoded(slots_in_place(structure, row))


def query_file(tables: Tables, numbering: Numbering) -> Iterator[bytes]:
    """From structures to sets of queries."""
    pairs = []
    for table in tables.values():
        structure = structure_of_shape(table.shape)
        pairs.append((encoded(structure), set_of(encoded_queries(structure, published_slots(table, numbering)))))
    return pickle_file(dictionary(pairs, of_sets=True))


def answer_file(tables: Tables, kind: str, numbering: Numbering, nested: bool) -> Iterator[bytes]:
    """From queries to sets of ids; `nested` has one such dict for each structure."""
    if nested:
        pairs = (
            (encoded(structure_of_shape(table.shape)), dictionary(_answers(table, kind, numbering), of_sets=True))
            for table in tables.values()
        )
        return pickle_file(dictionary(pairs, of_sets=True))
    flat = (pair for table in tables.values() for pair in _answers(table, kind, numbering))
    return pickle_file(dictionary(flat, of_sets=True))


def _answers(table: QueryTable, kind: str, numbering: Numbering) -> Iterator[tuple[bytes, list[bytes]]]:
    queries = encoded_queries(structure_of_shape(table.shape), published_slots(table, numbering))
    rows = table.easy if kind == "easy" else table.hard
    for query, answers in zip(queries, id_sets(rows), strict=True):
        yield query, [answers]


def answer_list_file(tables: Tables, answers: Mapping[str, Ragged], numbering: Numbering) -> Iterator[bytes]:
    """From structures to lists of sets, in the order in which a reader runs through its set of queries."""
    pairs = []
    for name, table in tables.items():
        if name in answers:
            structure = structure_of_shape(table.shape)
            order = reading_order(structure, published_slots(table, numbering))
            pairs.append((encoded(structure), list_of(id_sets(answers[name].take(order)))))
    return pickle_file(dictionary(pairs, of_sets=False))


def mapping_file(vocabulary: Vocabulary) -> Iterator[bytes]:
    """From names to ids; a name that is a number is written as one."""
    columns = {"e2id": vocabulary.entities.keys.to_pylist(), "r2id": vocabulary.relations.keys.to_pylist()}
    return pickle_file(dictionary([(encoded(key), _ids_of(names)) for key, names in columns.items()], of_sets=False))


def _ids_of(names: list[str]) -> Iterator[bytes]:
    plain = all(len(name) < 10 and name.isdecimal() and str(int(name)) == name for name in names)
    pairs = ((encoded(int(name) if plain else name), [encoded(number)]) for number, name in enumerate(names))
    return dictionary(pairs, of_sets=False)


def name_file(names: list[str]) -> Iterator[bytes]:
    """From ids to names."""
    return pickle_file(dictionary(((encoded(i), [encoded(name)]) for i, name in enumerate(names)), of_sets=False))


def id_file(names: list[str]) -> Iterator[bytes]:
    """From names to ids."""
    return pickle_file(dictionary(((encoded(name), [encoded(i)]) for i, name in enumerate(names)), of_sets=False))
