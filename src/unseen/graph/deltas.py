"""A graph after some facts came and went: old ids stay, so everything computed from them stays right.

Cost: one pass over all names and one copy of all edges, however few have changed: edges that are sorted stay so, and
what was computed of them is brought up to date (`derived`). Entities that lose their last edge keep their name and id;
they are not candidates for answers any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import TooLarge
from unseen.graph.arrow_arrays import text_array
from unseen.graph.attributes.columns import ValueRows
from unseen.graph.derived import inherit
from unseen.graph.edge_changes import EdgeChange, edge_rows, spliced
from unseen.graph.knowledge_graph import LARGEST_ID, KnowledgeGraph
from unseen.graph.names import Names
from unseen.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.graph.attributes import Attributes
    from unseen.graph.sorted_edges import SortedEdges

    Ids = NDArray[np.int32]

KeyTriple = tuple[str, str, str]


@dataclass(frozen=True)
class Delta:
    """What changed, by unique keys: edges that are there now, edges that are not, and labels that are different."""

    added: Sequence[KeyTriple] = ()
    removed: Sequence[KeyTriple] = ()
    labels: Mapping[str, str | None] = field(default_factory=dict)
    """The new label of a key, None if it has none any more; keys that the graph does not have are passed over."""
    values_added: ValueRows | None = None
    values_removed: ValueRows | None = None


def changed(graph: KnowledgeGraph, delta: Delta) -> KnowledgeGraph:
    """The graph after a change; adding what is there and removing what is not changes nothing."""
    heads, relations, tails = (
        (list(column) for column in zip(*delta.added, strict=True)) if delta.added else ([], [], [])
    )
    entities, ends = _numbered(graph.vocabulary.entities, [*heads, *tails])
    relation_names, relation_ids = _numbered(graph.vocabulary.relations, relations)
    entities, attributes = _with_values(graph, delta, entities)
    named = Vocabulary(_relabelled(entities, delta.labels), _relabelled(relation_names, delta.labels))
    rows = np.stack([ends[: len(heads)], relation_ids, ends[len(heads) :]], axis=1)
    return _with_edges(graph, _edge_change(graph, delta.removed, rows), named, attributes)


def _edge_change(graph: KnowledgeGraph, removed: Sequence[KeyTriple], added: Ids) -> EdgeChange:
    """What really changes: edges that were there go, and edges that are not there then come, each once."""
    gone = _ids_of(graph, removed)
    gone = gone[graph.by_head.places_of(gone[:, 1], gone[:, 0], gone[:, 2])[1]]
    is_new = ~graph.by_head.places_of(added[:, 1], added[:, 0], added[:, 2])[1]
    missing = set(map(tuple, gone.tolist()))
    wanted = dict.fromkeys(map(tuple, added.tolist()))
    new = set(map(tuple, added[is_new].tolist()))
    return EdgeChange(gone, edge_rows([edge for edge in wanted if edge in new or edge in missing]))


def _ids_of(graph: KnowledgeGraph, edges: Sequence[KeyTriple]) -> Ids:
    """The edges by ids, each once, without those of which the graph lacks a name."""
    if not edges:
        return edge_rows([])
    heads, relations, tails = (list(column) for column in zip(*edges, strict=True))
    ends = graph.vocabulary.entities.find_keys([*heads, *tails]).tolist()
    middle = graph.vocabulary.relations.find_keys(relations).tolist()
    found = dict.fromkeys(zip(ends[: len(heads)], middle, ends[len(heads) :], strict=True))
    return edge_rows([edge for edge in found if min(edge) >= 0])


def _with_edges(
    graph: KnowledgeGraph, change: EdgeChange, vocabulary: Vocabulary, attributes: Attributes
) -> KnowledgeGraph:
    """The graph after a change of its edges, with the sorted views that it had, and what is derived of it."""
    columns: list[Ids] = [graph.heads, graph.relations, graph.tails]
    views: dict[str, SortedEdges] = {
        name: graph.__dict__[name] for name in ("by_head", "by_tail") if name in graph.__dict__
    }
    if len(change):
        gone = _places_of(graph, change.removed)
        nothing = np.full(len(change.added), graph.num_triples)
        columns = [spliced(old, gone, nothing, new) for old, new in zip(columns, change.added.T, strict=True)]
        for column in columns:
            column.flags.writeable = False
    if len(change) or vocabulary.num_relations > graph.num_relations:
        views = {
            name: view.after(change, vocabulary.num_relations, turned=name == "by_tail") for name, view in views.items()
        }
    after = KnowledgeGraph.of_checked((columns[0], columns[1], columns[2]), vocabulary, views, attributes)
    inherit(graph, after, change)
    return after


def _places_of(graph: KnowledgeGraph, edges: Ids) -> NDArray[np.int64]:
    """Where edges of the graph stand in its columns, ascending. Cost: a look at both ends of every edge."""
    if not len(edges):
        return np.empty(0, np.int64)
    is_head, is_tail = np.zeros((2, graph.num_entities), bool)
    is_head[edges[:, 0]] = is_tail[edges[:, 2]] = True
    near = np.flatnonzero(is_head[graph.heads])
    near = near[is_tail[graph.tails[near]]]
    gone = set(map(tuple, edges.tolist()))
    found = zip(graph.heads[near].tolist(), graph.relations[near].tolist(), graph.tails[near].tolist(), strict=True)
    return near[[edge in gone for edge in found]]


def _with_values(graph: KnowledgeGraph, delta: Delta, entities: Names) -> tuple[Names, Attributes]:
    """The values after a change, and the names of entities with new subjects among them."""
    attributes, added, removed = graph.attributes, delta.values_added, delta.values_removed
    if removed is not None and len(removed):
        attributes = attributes.without(removed, entities.find_keys(removed.subjects))
    if added is None or not len(added):
        return entities, attributes
    entities, ids = _numbered(entities, added.subjects.to_pylist())
    known = (
        attributes.names if len(attributes.names) else Names("attribute", text_array([]), prefixes=entities.prefixes)
    )
    names, attribute_ids = _numbered(known, added.attributes.to_pylist())
    return entities, attributes.joined_with(added, names, ids, attribute_ids)


def joined(graph: KnowledgeGraph, other: KnowledgeGraph) -> KnowledgeGraph:
    """The edges of both; ids of the first stay, and so do its labels."""
    entities, entity_ids = _joined_names(graph.vocabulary.entities, other.vocabulary.entities)
    relations, relation_ids = _joined_names(graph.vocabulary.relations, other.vocabulary.relations)
    return KnowledgeGraph(
        np.concatenate([graph.heads, entity_ids[other.heads]]),
        np.concatenate([graph.relations, relation_ids[other.relations]]),
        np.concatenate([graph.tails, entity_ids[other.tails]]),
        Vocabulary(entities, relations),
        _joined_values(graph.attributes, other.attributes, entity_ids),
    )


def _joined_values(attributes: Attributes, other: Attributes, entity_ids: Ids) -> Attributes:
    """The values of both; `entity_ids` are the new ids of the other's entities."""
    if not len(other):
        return attributes
    names, attribute_ids = _joined_names(attributes.names, other.names)
    rows = ValueRows(other.names.keys, other.names.keys, other.literals, other.entities, other.attributes, other.values)
    return attributes.joined_with(rows, names, entity_ids, attribute_ids)


def _joined_names(names: Names, others: Names) -> tuple[Names, Ids]:
    """The names followed by the new ones among `others`, and the id of each of `others`."""
    if len(names) == 0:
        return others, np.arange(len(others), dtype=np.int32)
    ids = names.find_keys(others.keys)
    new = np.flatnonzero(ids < 0)
    ids[new] = np.arange(len(names), len(names) + len(new), dtype=np.int32)
    extended = names.extended_with(others.keys.take(pa.array(new)))
    if others.labels is None:
        return extended, ids
    labelled = np.flatnonzero(others.labels.is_valid().to_numpy(zero_copy_only=False))
    texts = dict(zip(ids[labelled].tolist(), others.labels.take(pa.array(labelled)).to_pylist(), strict=True))
    kept = set() if names.labels is None else set(pc.indices_nonzero(names.labels.is_valid()).to_pylist())
    return extended.relabelled({index: text for index, text in texts.items() if index not in kept}), ids


def _numbered(names: Names, keys: list[str]) -> tuple[Names, Ids]:
    """The names extended to all keys, and the id of each key."""
    distinct = list(dict.fromkeys(keys))
    known = dict(zip(distinct, names.find_keys(distinct).tolist(), strict=True))
    new = [key for key in distinct if known[key] < 0]
    known |= {key: len(names) + number for number, key in enumerate(new)}
    if len(names) + len(new) > LARGEST_ID:
        raise TooLarge(f"more than {LARGEST_ID:,} distinct {names.kind} names")
    return names.extended_with(text_array(new)), np.fromiter((known[key] for key in keys), np.int32, len(keys))


def _relabelled(names: Names, labels: Mapping[str, str | None]) -> Names:
    keys = list(labels)
    ids = names.find_keys(keys).tolist() if keys else []
    return names.relabelled({index: labels[key] for key, index in zip(keys, ids, strict=True) if index >= 0})
