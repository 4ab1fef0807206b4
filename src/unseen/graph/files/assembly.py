"""The parts that files hold, put together into one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.graph.arrow_arrays import numbers_of, text_array
from unseen.graph.attributes.assembling import attribute_keys, attributes_of_parts, with_subjects
from unseen.graph.knowledge_graph import KnowledgeGraph
from unseen.graph.names import Names, unique_labels
from unseen.graph.prefixes import Prefixes
from unseen.graph.sorted_edges import first_occurrences
from unseen.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.graph.files.parts import Label, Part

    Ids = NDArray[np.int32]


def assembled(parts: Sequence[Part]) -> tuple[KnowledgeGraph, list[int]]:
    """The graph of all parts, and how many triples of each had been met before.

    Ids follow first appearance, part after part. Blank nodes of different parts stay different.
    """
    parts = _with_blank_nodes_apart(parts)
    entity_keys, entity_ids = _joined([part.entities for part in parts])
    relation_keys, relation_ids = _joined([part.relations for part in parts])
    columns = (
        _column(entity_ids, [part.heads for part in parts]),
        _column(relation_ids, [part.relation_ids for part in parts]),
        _column(entity_ids, [part.tails for part in parts]),
    )
    rows = [part.values for part in parts if part.values is not None]
    entity_keys = with_subjects(entity_keys, rows)
    vocabulary, attribute_names = _names(parts, entity_keys, relation_keys, attribute_keys(rows))
    graph = KnowledgeGraph(*columns, vocabulary)
    duplicates = _duplicates(parts, columns, graph)
    return (
        graph.with_attributes(attributes_of_parts(rows, attribute_names, entity_keys)) if rows else graph
    ), duplicates


def _joined(names: Sequence[pa.Array]) -> tuple[pa.Array, list[Ids]]:
    """The distinct names in order of appearance, and the ids of each part's own, unless there is only one part."""
    if len(names) == 1:
        return names[0], []
    encoded = pa.concat_arrays(names).dictionary_encode()
    ends = np.cumsum([len(part) for part in names])
    return encoded.dictionary, np.split(numbers_of(encoded.indices), ends[:-1])


def _column(ids: Sequence[Ids], positions: Sequence[Ids]) -> Ids:
    """The positions of all parts as ids, in one column that nobody will change, so that the graph need not copy it."""
    single = len(positions) == 1
    column = positions[0] if single else np.concatenate([new[old] for new, old in zip(ids, positions, strict=True)])
    column.flags.writeable = False
    return column


def _names(
    parts: Sequence[Part], entity_keys: pa.Array, relation_keys: pa.Array, attribute_keys: pa.Array
) -> tuple[Vocabulary, Names]:
    """The names with their labels, and those of attributes; one set of prefixes serves all of them."""
    declared: dict[str, str] = {}
    labels: dict[str, Label] = {}
    for part in parts:
        declared = dict(part.prefixes) | declared
        for key, label in part.labels.items():
            labels[key] = min(labels.get(key, label), label, key=lambda one: one.rank)
    prefixes = Prefixes()
    for keys in (relation_keys, entity_keys, attribute_keys):
        prefixes = prefixes.extended_to(keys, declared)

    def named(kind: str, keys: pa.Array) -> Names:
        return Names(kind, keys, _label_column(keys, labels, prefixes), prefixes)

    vocabulary = Vocabulary(named("entity", entity_keys), named("relation", relation_keys))
    return vocabulary, named("attribute", attribute_keys)


def _label_column(keys: pa.Array, labels: Mapping[str, Label], prefixes: Prefixes) -> pa.Array | None:
    """The label of each key, null where it has none."""
    if not labels:
        return None
    texts = keys.to_pylist()
    found = [labels[text].text if text in labels else None for text in texts]
    return text_array(unique_labels(found, texts, prefixes))


def _duplicates(parts: Sequence[Part], columns: tuple[Ids, Ids, Ids], graph: KnowledgeGraph) -> list[int]:
    """How many triples of each part repeat one of its own or of an earlier part."""
    if len(parts) == 1:
        return [len(columns[0]) - graph.num_triples]
    kept = first_occurrences(columns, graph.num_entities, graph.num_relations)
    if kept is None:
        return [0] * len(parts)
    ends = np.cumsum([part.num_triples for part in parts])
    new = np.diff(np.searchsorted(kept, ends), prepend=0)
    return [part.num_triples - int(count) for part, count in zip(parts, new, strict=True)]


def _with_blank_nodes_apart(parts: Sequence[Part]) -> list[Part]:
    """The parts, with a number added to every blank node whose label an earlier part has used."""
    taken: set[str] = set()
    apart = []
    for number, part in enumerate(parts, 1):
        own = _blank_nodes(part) if len(parts) > 1 else []
        clashing = [name for name in own if name in taken] if part.has_blank_nodes else []
        taken.update(own)
        renames = {name: _unused(name, number, taken) for name in clashing}
        apart.append(part.renamed(renames))
    return apart


def _blank_nodes(part: Part) -> list[str]:
    """The blank nodes among the entities and subjects of values, each once."""
    columns = [part.entities] if part.values is None else [part.entities, part.values.subjects]
    return list(
        dict.fromkeys(name for column in columns for name in column.filter(pc.starts_with(column, "_:")).to_pylist())
    )


def _unused(name: str, number: int, taken: set[str]) -> str:
    """The name with the number of its file, as often as it takes to be new; from then on it is taken."""
    while name in taken:
        name = f"{name}_{number}"
    taken.add(name)
    return name
