"""The graph: an immutable set of (head, relation, tail) edges over a vocabulary."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import GraphError, TooLarge
from unseen.graph.arrow_arrays import text_array
from unseen.graph.attributes.columns import NO_ATTRIBUTES, Attributes, ValueRows
from unseen.graph.attributes.plain_values import named_rows
from unseen.graph.names import Names
from unseen.graph.sorted_edges import SortedEdges, first_occurrences
from unseen.graph.vocabulary import Vocabulary, inverse_relation, is_inverse, undirected_relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import networkx as nx
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from unseen.graph.files.writers import Spelling

    Ids = NDArray[np.int32]

LARGEST_ID = np.iinfo(np.int32).max


class KnowledgeGraph:
    """An immutable set of edges.

    `heads`, `relations` and `tails` are int32 columns in order of first appearance, without repeats; `relations` holds
    relation ids as in `vocabulary`, always read forwards. Sorted views are built when first asked for, once.
    `attributes` holds what is recorded of entities beside edges: numbers, dates, strings.
    """

    def __init__(
        self,
        heads: Ids,
        relations: Ids,
        tails: Ids,
        vocabulary: Vocabulary,
        attributes: Attributes = NO_ATTRIBUTES,
    ) -> None:
        given = (np.asarray(heads), np.asarray(relations), np.asarray(tails))
        if len({len(column) for column in given}) != 1:
            raise GraphError("the columns head, relation and tail differ in length")
        limits = (vocabulary.num_entities, vocabulary.num_relations, vocabulary.num_entities)
        for column, limit in zip(given, limits, strict=True):
            _check_range(column, limit)
        columns = (np.asarray(given[0], np.int32), np.asarray(given[1], np.int32), np.asarray(given[2], np.int32))
        kept = first_occurrences(columns, vocabulary.num_entities, vocabulary.num_relations)
        self.heads, self.relations, self.tails = (
            _frozen(column if kept is None else column[kept]) for column in columns
        )
        self.vocabulary = vocabulary
        self.attributes = attributes

    @classmethod
    def of_checked(
        cls,
        columns: tuple[Ids, Ids, Ids],
        vocabulary: Vocabulary,
        views: Mapping[str, SortedEdges],
        attributes: Attributes = NO_ATTRIBUTES,
    ) -> KnowledgeGraph:
        """The graph of columns that are known not to repeat an edge, with the sorted views by name that are known too.

        Columns may lie in a file: they are not copied.
        """
        graph = cls.__new__(cls)
        limits = (vocabulary.num_entities, vocabulary.num_relations, vocabulary.num_entities)
        for column, limit in zip(columns, limits, strict=True):
            _check_range(column, limit)
        graph.heads, graph.relations, graph.tails = columns
        graph.vocabulary, graph.attributes = vocabulary, attributes
        graph.__dict__ |= views
        return graph

    @classmethod
    def from_triples(cls, triples: Iterable[tuple[str, str, str]]) -> KnowledgeGraph:
        """The graph of named triples; ids follow first appearance, head before tail."""
        return _EMPTY.extended_with(triples)

    @property
    def num_entities(self) -> int:
        """Entities in the vocabulary, with or without edges."""
        return self.vocabulary.num_entities

    @property
    def num_relations(self) -> int:
        """Relations in the vocabulary; inverses are not counted."""
        return self.vocabulary.num_relations

    @property
    def num_triples(self) -> int:
        """Distinct edges."""
        return len(self.heads)

    def __repr__(self) -> str:
        counts = f"{self.num_entities:,} entities, {self.num_relations:,} relations, {self.num_triples:,} triples"
        return f"KnowledgeGraph({counts})"

    def _repr_html_(self) -> str:
        from unseen.graph.graph_display import graph_html

        return graph_html(self)

    @cached_property
    def by_head(self) -> SortedEdges:
        """The edges by relation, then head, then tail."""
        return SortedEdges.of(self.relations, self.heads, self.tails, self.num_relations, self.num_entities)

    @cached_property
    def by_tail(self) -> SortedEdges:
        """The edges by relation, then tail, then head."""
        return SortedEdges.of(self.relations, self.tails, self.heads, self.num_relations, self.num_entities)

    def edges_from(self, directed: int) -> tuple[Ids, Ids]:
        """Sources and targets of every edge of one directed relation, sorted by source, then target."""
        view = self.by_tail if is_inverse(directed) else self.by_head
        return view.of_relation(undirected_relation(directed))

    def range_of(self, directed: int) -> tuple[Ids, Ids]:
        """Sorted ids of the entities that a directed relation leads to, and how many edges lead to each."""
        found = self._ranges.get(directed)
        if found is None:
            entities, counts = np.unique(self.edges_from(inverse_relation(directed))[0], return_counts=True)
            found = self._ranges[directed] = (_frozen(entities), _frozen(counts.astype(np.int32)))
        return found

    @cached_property
    def _ranges(self) -> dict[int, tuple[Ids, Ids]]:
        return {}

    @cached_property
    def connected_entities(self) -> Ids:
        """Sorted ids of the entities that have at least one edge: the candidates of every question."""
        seen = np.zeros(self.num_entities, bool)
        seen[self.heads] = True
        seen[self.tails] = True
        return _frozen(np.flatnonzero(seen).astype(np.int32))

    @cached_property
    def candidates(self) -> Ids:
        """Sorted ids of the entities that have at least one edge or value: all that can be answers."""
        if not len(self.attributes):
            return self.connected_entities
        return _frozen(np.union1d(self.connected_entities, self.attributes.valued_entities).astype(np.int32))

    def with_attributes(self, attributes: Attributes) -> KnowledgeGraph:
        """The same edges with other values."""
        return KnowledgeGraph(self.heads, self.relations, self.tails, self.vocabulary, attributes)

    def triples(self) -> Iterable[tuple[str, str, str]]:
        """The edges by readable name, in order."""
        name, relation_name = self.vocabulary.entities.name, self.vocabulary.relations.name
        for head, relation, tail in zip(self.heads, self.relations, self.tails, strict=True):
            yield name(int(head)), relation_name(int(relation)), name(int(tail))

    def to_arrow(self, names: Spelling = "readable") -> pa.Table:
        """The edges as an Arrow table: head, relation, tail, by readable names or by unique `"keys"`."""
        from unseen.graph.conversions import arrow_of

        return arrow_of(self, names)

    def to_pandas(self, names: Spelling = "readable") -> pd.DataFrame:
        """The table of `to_arrow` as a pandas data frame."""
        from unseen.graph.conversions import arrow_of, pandas_of

        return pandas_of(arrow_of(self, names))

    def to_networkx(self) -> nx.MultiDiGraph:
        """A networkx graph of the same edges; the relation is the key and the attribute `relation` of an edge."""
        from unseen.graph.conversions import networkx_of

        return networkx_of(self)

    def extended_with(
        self, triples: Iterable[tuple[str, str, str]] = (), *, values: Iterable[tuple[str, str, object]] = ()
    ) -> KnowledgeGraph:
        """A new graph with more named triples; old ids stay the same, new names get the next ids.

        `values` are (entity, attribute, value): a number, a date, a boolean or a text, which is read as in a table.
        """
        columns = _columns(list(triples))
        entities, ends = _numbered(self.vocabulary.entities, _interleaved(columns[0], columns[2]))
        relations, relation_ids = _numbered(self.vocabulary.relations, columns[1])
        grown = KnowledgeGraph(
            np.concatenate([self.heads, ends[0::2]]),
            np.concatenate([self.relations, relation_ids]),
            np.concatenate([self.tails, ends[1::2]]),
            Vocabulary(entities, relations),
            self.attributes,
        )
        rows = named_rows(values)
        return grown.with_values(rows) if len(rows) else grown

    def with_values(self, rows: ValueRows) -> KnowledgeGraph:
        """The graph with more values; subjects and attributes may be named in any way, unknown ones are new."""
        entities, ids = _numbered(self.vocabulary.entities, rows.subjects.to_pylist())
        names = self.attributes.names if len(self.attributes.names) else _with_prefixes_of(self.vocabulary)
        attributes, attribute_ids = _numbered(names, rows.attributes.to_pylist())
        return KnowledgeGraph(
            self.heads,
            self.relations,
            self.tails,
            Vocabulary(entities, self.vocabulary.relations),
            self.attributes.joined_with(rows, attributes, ids, attribute_ids),
        )

    def restricted_to(self, kept: NDArray[np.bool_]) -> KnowledgeGraph:
        """The graph of some of the edges over the same vocabulary; all ids stay, even of entities without edges."""
        columns = (self.heads[kept], self.relations[kept], self.tails[kept])
        return KnowledgeGraph(*columns, self.vocabulary, self.attributes)


def _with_prefixes_of(vocabulary: Vocabulary) -> Names:
    """No attribute yet, but the prefixes of a vocabulary."""
    return Names("attribute", text_array([]), prefixes=vocabulary.relations.prefixes)


def _columns(triples: list[tuple[str, str, str]]) -> list[list[str]]:
    """Heads, relations and tails."""
    if any(isinstance(triple, str) for triple in triples):
        raise GraphError("a list of triples is needed, not the parts of one: [(head, relation, tail)]")
    if any(len(triple) != 3 for triple in triples):
        raise GraphError("a triple has three parts: head, relation, tail")
    return [list(column) for column in zip(*triples, strict=True)] or [[], [], []]


def _numbered(names: Names, texts: list[str]) -> tuple[Names, Ids]:
    """`names` extended to all of `texts`, and the id of each text.

    A text may be any way of naming something the graph has (readable name, key, short form); what cannot be found
    becomes a new key, an IRI in full.
    """
    distinct = list(dict.fromkeys(texts))
    _check_texts(distinct)
    known = dict(zip(distinct, names.find_all(distinct).tolist(), strict=True))
    new: dict[str, int] = {}
    for text in (text for text in distinct if known[text] < 0):
        known[text] = new.setdefault(names.prefixes.key_of_name(text), len(names) + len(new))
    if len(names) + len(new) > LARGEST_ID:
        raise TooLarge(f"more than {LARGEST_ID:,} distinct {names.kind} names")
    ids = np.fromiter((known[text] for text in texts), np.int32, len(texts))
    return names.extended_with(text_array(list(new))), ids


def _interleaved(left: list[str], right: list[str]) -> list[str]:
    both = [""] * (2 * len(left))
    both[0::2], both[1::2] = left, right
    return both


def _check_texts(texts: list[str]) -> None:
    for text in texts:
        if not isinstance(text, str) or not text:
            raise GraphError(f"a name must be a non-empty text, not {text!r}")


def _check_range(column: Ids, limit: int) -> None:
    if len(column) and (int(column.min()) < 0 or int(column.max()) >= limit):
        raise GraphError(f"an id lies outside 0 … {limit - 1}")


def _frozen(column: Ids) -> Ids:
    """The column read-only; a copy if it was writable, so that nobody else can change it."""
    if column.flags.writeable:
        column = column.copy()
        column.flags.writeable = False
    return column


_NOTHING = np.empty(0, np.int32)
_EMPTY = KnowledgeGraph(_NOTHING, _NOTHING, _NOTHING, Vocabulary.of([], []))
