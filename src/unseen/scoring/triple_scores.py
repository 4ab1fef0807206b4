"""Scores many statements at once: one step of the method for each head and relation that triples share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unseen.errors import shorten
from unseen.graph.conversions import triple_table
from unseen.graph.vocabulary import directed_relation
from unseen.logic.algebra import Anchor, Project
from unseen.logic.stopping import check_stop
from unseen.scoring.scores import TRIPLE, Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names
    from unseen.logic.method import Method

    Ids = NDArray[np.int32]
    Guesses = Callable[[KnowledgeGraph, list[int]], tuple[str, ...]]

MOST_TOGETHER = 64
"""Steps of one call of a method."""
MOST_CELLS = 1 << 24
"""Memberships of one call."""
MOST_LOCAL = 1000
"""Distinct names without an exact match that are looked for among local names."""
MOST_JUDGED = 8
"""Relations of a table, those with most rows, of which it is found out whether they can be predicted."""


@dataclass(frozen=True)
class NumberedTriples:
    """Triples by the ids of a graph; -1 stands for a name that the graph does not have."""

    heads: Ids
    relations: Ids
    tails: Ids

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """For each triple whether all its names are known."""
        return (self.heads >= 0) & (self.relations >= 0) & (self.tails >= 0)


class NamesFound:
    """The ids of names, with those kept that were looked up before."""

    def __init__(self, names: Names) -> None:
        self._names, self._known = names, dict[str, int]()
        self._tried = 0

    def ids(self, column: pa.ChunkedArray | pa.Array) -> Ids:
        """The id of each name of a column, -1 where there is none."""
        chunk = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = chunk.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        self._look_up([text for text in texts if text not in self._known])
        found = np.array([self._known[text] for text in texts], np.int32)
        places: Ids = found[encoded.indices.to_numpy(zero_copy_only=False)] if len(texts) else found
        return places

    def _look_up(self, texts: list[str]) -> None:
        if not texts:
            return
        for text, place in zip(texts, self._names.find_all(texts).tolist(), strict=True):
            if place < 0 and self._tried < MOST_LOCAL:
                self._tried += 1
                place = self._names.find_local(text)  # noqa: PLW2901
            self._known[text] = place


class TripleNames:
    """The ids of triples of names, for one graph."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._entities, self._relations = NamesFound(graph.vocabulary.entities), NamesFound(graph.vocabulary.relations)

    def numbered(self, table: pa.Table | pa.RecordBatch) -> NumberedTriples:
        """The ids of a table with the columns head, relation and tail."""
        heads, relations, tails = (table.column(name) for name in TRIPLE)
        return NumberedTriples(self._entities.ids(heads), self._relations.ids(relations), self._entities.ids(tails))


def scored_table(
    graph: KnowledgeGraph, source: Any, method: Method | None, name: str, guesses: Guesses | None = None
) -> Scores:
    """The scores of a table of triples; `guesses` warns about relations, by default as for any graph."""
    table = triple_table(source)
    triples = TripleNames(graph).numbered(table)
    probabilities = chances_of_triples(graph, triples, method)
    known = known_triples(graph, triples)
    columns = pa.table([*table.columns, *result_columns(table, triples, probabilities, known)], _names_of(table))
    return Scores(columns, name, warnings_about(graph, triples, known, (method, name), guesses))


def _names_of(table: pa.Table) -> list[str]:
    return [*table.column_names, "probability", "known", "error"]


def result_columns(
    table: pa.Table | pa.RecordBatch,
    triples: NumberedTriples,
    probabilities: NDArray[np.floating],
    known: NDArray[np.bool_],
) -> list[pa.Array]:
    """The columns probability, known and error."""
    is_complete = triples.is_complete
    errors = pa.array([None] * len(triples), pa.large_string())
    if not is_complete.all():
        errors = pa.array(list(_errors(table, triples)), pa.large_string())
    values = pa.array(probabilities.astype(np.float64), mask=~is_complete)
    return [values, pa.array(known), errors]


def _errors(table: pa.Table | pa.RecordBatch, triples: NumberedTriples) -> Iterator[str | None]:
    kinds = (("entity", triples.heads), ("relation", triples.relations), ("entity", triples.tails))
    for place, is_complete in enumerate(triples.is_complete.tolist()):
        if is_complete:
            yield None
            continue
        role, kind = next((role, kind) for role, (kind, ids) in zip(TRIPLE, kinds, strict=True) if ids[place] < 0)
        yield f"unknown {kind} {shorten(str(table.column(role)[place].as_py()))!r}"


def known_triples(graph: KnowledgeGraph, triples: NumberedTriples) -> NDArray[np.bool_]:
    """For each triple whether the graph has it."""
    known = np.zeros(len(triples), bool)
    complete = triples.is_complete
    for relation in np.unique(triples.relations[complete]).tolist():
        rows = np.flatnonzero(complete & (triples.relations == relation))
        sources, targets = graph.edges_from(directed_relation(relation))
        edges = sources.astype(np.int64) * graph.num_entities + targets
        wanted = triples.heads[rows].astype(np.int64) * graph.num_entities + triples.tails[rows]
        places = np.minimum(np.searchsorted(edges, wanted), max(0, len(edges) - 1))
        known[rows] = edges[places] == wanted if len(edges) else False
    return known


def chances_of_triples(
    graph: KnowledgeGraph,
    triples: NumberedTriples,
    method: Method | None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> NDArray[np.float32]:
    """The probability of each triple; 0 for those with an unknown name."""
    if method is None:
        return known_triples(graph, triples).astype(np.float32)
    found = np.zeros(len(triples), np.float32)
    steps = Steps(triples)
    size = together(graph)
    for start in range(0, len(steps), size):
        check_stop()
        found[steps.rows(start, start + size)] = steps.chances(graph, method, start, start + size)
        progress(min(start + size, len(steps)), len(steps))
    return found


def together(graph: KnowledgeGraph) -> int:
    """How many steps one call of a method takes."""
    return max(1, min(MOST_TOGETHER, MOST_CELLS // max(1, graph.num_entities)))


class Steps:
    """The distinct heads and relations of triples, those of one relation together, and which triples each serves."""

    def __init__(self, triples: NumberedTriples) -> None:
        complete = np.flatnonzero(triples.is_complete)
        heads, relations = triples.heads[complete], triples.relations[complete]
        order = np.lexsort((heads, relations))
        self._rows, self._tails = complete[order], triples.tails[complete[order]]
        heads, relations = heads[order], relations[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (heads[1:] != heads[:-1]) | (relations[1:] != relations[:-1])
        firsts = np.flatnonzero(is_new)
        self._heads, self._relations = heads[firsts], relations[firsts]
        self._bounds = np.append(firsts, len(order))

    def __len__(self) -> int:
        return len(self._heads)

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The places of the triples that some steps serve."""
        stop = min(stop, len(self))
        return self._rows[self._bounds[start] : self._bounds[stop]]

    def chances(self, graph: KnowledgeGraph, method: Method, start: int, stop: int) -> NDArray[np.float32]:
        """The probabilities of the triples that some steps serve, in the order of `rows`, by one call of the method."""
        chosen = range(start, min(stop, len(self)))
        queries = [
            Project(directed_relation(int(self._relations[place])), Anchor(int(self._heads[place]))) for place in chosen
        ]
        estimates = method.estimate(graph, queries)
        values = [np.empty(0, np.float32)]
        for place, query in zip(chosen, queries, strict=True):
            tails = self._tails[self._bounds[place] : self._bounds[place + 1]]
            values.append(estimates.memberships(query).float().cpu().numpy()[tails])
        return np.concatenate(values)


def warnings_about(
    graph: KnowledgeGraph,
    triples: NumberedTriples,
    known: NDArray[np.bool_],
    method: tuple[Method | None, str],
    guesses: Guesses | None = None,
) -> tuple[str, ...]:
    """Warnings about relations with many rows that cannot be predicted in the graph."""
    predicted = triples.is_complete & ~known
    opened, name = method
    if opened is None or not predicted.any():
        return ()
    if guesses is None:
        from unseen.asking.cautions import cautions_for

        guesses = cautions_for(graph, opened, name).guesses
    relations, counts = np.unique(triples.relations[predicted], return_counts=True)
    frequent = relations[np.argsort(-counts, kind="stable")][:MOST_JUDGED].tolist()
    return tuple(text for one in frequent for text in guesses(graph, [directed_relation(one)]))
