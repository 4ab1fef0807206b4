"""What is known of entities beside the value that is wanted: their relations, neighbours, other values.

Traits are marks (a role like *head of borders*, or a neighbour like *borders France*) and measures (the values of other
attributes, and the mean values of neighbours by relation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.attributes.value_kinds import IN_TIME, Kind
from unseen.graph.distinct import distinct
from unseen.logic.value_prediction.normal_scores import NormalScores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

LEAST_HOLDERS = 3
"""Entities with a value that a mark must have."""
LEAST_MEASURED = 20
"""Entities with a value that a measure must be known of."""
MOST_MEASURES = 64
NUMERIC = (Kind.NUMBER, *IN_TIME)


@dataclass(frozen=True)
class TraitMarks:
    """TraitMarks of entities: `rows` are places of entities, `marks` numbers of marks."""

    rows: Places
    marks: Places
    count: int


@dataclass(frozen=True)
class KnownNumbers:
    """The mean value of each entity for one attribute, as scores; the entities are sorted."""

    entities: Places
    values: Numbers


def numbers_of(graph: KnowledgeGraph, attribute: int) -> KnownNumbers:
    """The entities with numbers or dates of an attribute, each with its mean."""
    entities, values = graph.attributes.of_attribute(attribute)
    literals = graph.attributes.literals
    kept = np.isin(literals.kinds[values], NUMERIC) & np.isfinite(literals.numbers[values])
    owners, where = np.unique(entities[kept], return_inverse=True)
    sums = np.bincount(where, literals.numbers[values[kept]], len(owners))
    return KnownNumbers(owners.astype(np.int64), sums / np.maximum(1, np.bincount(where, minlength=len(owners))))


def roles(graph: KnowledgeGraph) -> tuple[Places, Places]:
    """Every entity beside every directed relation that starts from it, each pair once, by entity."""
    relations, num = 2 * graph.relations.astype(np.int64), 2 * graph.num_relations
    pairs = np.concatenate([graph.heads * np.int64(num) + relations, graph.tails * np.int64(num) + relations + 1])
    once = distinct(pairs)
    return once // num, once % num


def marks_of(graph: KnowledgeGraph, entities: Places, has_value: NDArray[np.bool_]) -> TraitMarks:
    """The marks of some sorted entities that enough of those with a value have."""
    place = np.full(graph.num_entities, -1, np.int64)
    place[entities] = np.arange(len(entities))
    num, relations = np.int64(graph.num_entities), graph.relations.astype(np.int64)
    sides = ((graph.heads, graph.tails, 2 * relations), (graph.tails, graph.heads, 2 * relations + 1))
    rows, keys = [], []
    for own, others, directed in sides:
        kept = place[own] >= 0
        rows += [place[own[kept]]] * 2
        keys += [directed[kept] * (num + 1), directed[kept] * (num + 1) + 1 + others[kept]]
    row, key = np.concatenate(rows), np.concatenate(keys)
    _, numbers = np.unique(key, return_inverse=True)
    pairs = distinct(row * (numbers.max(initial=0) + 1) + numbers)
    row, numbers = pairs // (numbers.max(initial=0) + 1), pairs % (numbers.max(initial=0) + 1)
    enough = np.bincount(numbers[has_value[row]], minlength=int(numbers.max(initial=0)) + 1) >= LEAST_HOLDERS
    renumbered = np.cumsum(enough) - 1
    kept = enough[numbers]
    return TraitMarks(row[kept], renumbered[numbers[kept]], int(enough.sum()))


class Measures:
    """Values of other attributes, and of neighbours, as columns for some sorted entities."""

    def __init__(self, graph: KnowledgeGraph, entities: Places, has_value: NDArray[np.bool_], wanted: int) -> None:
        self.graph, self.entities, self.wanted = graph, entities, wanted
        self._place = np.full(graph.num_entities, -1, np.int64)
        self._place[entities] = np.arange(len(entities))
        self._others: list[Numbers] = []
        self._columns: dict[tuple[int, int], Numbers] = {}
        self._chosen: list[tuple[int, int]] = []
        """Pairs of a directed relation and an attribute, whose mean over neighbours is a measure."""
        self._scored = {a: self._scores(numbers_of(graph, a)) for a in range(len(graph.attributes.names))}
        self._choose(has_value)

    def columns(self, own: Numbers) -> Numbers:
        """The measures, one a column, NaN where unknown; `own` are the known scores of the attribute by entity."""
        columns = list(self._others)
        for directed, attribute in self._chosen:
            if attribute == self.wanted:
                columns.append(self._of_neighbours(directed, own))
                continue
            if (directed, attribute) not in self._columns:
                self._columns[directed, attribute] = self._of_neighbours(directed, self._scored[attribute])
            columns.append(self._columns[directed, attribute])
        return np.stack(columns, axis=1) if columns else np.empty((len(self.entities), 0))

    def scored(self) -> Numbers:
        """The scores of the wanted attribute by entity, NaN where it is not recorded."""
        return self._scored[self.wanted]

    def _scores(self, measured: KnownNumbers) -> Numbers:
        found = np.full(self.graph.num_entities, np.nan)
        if len(measured.entities):
            found[measured.entities] = NormalScores.of(measured.values).score(measured.values)
        return found

    def _choose(self, has_value: NDArray[np.bool_]) -> None:
        """The measures that are known of most of the entities with a value."""
        found: list[tuple[int, int, int]] = []
        for attribute, scored in self._scored.items():
            column = scored[self.entities]
            if attribute != self.wanted and int((np.isfinite(column) & has_value).sum()) >= LEAST_MEASURED:
                self._others.append(column)
        is_own = np.zeros(self.graph.num_entities, bool)
        is_own[self.entities[has_value]] = True
        known = np.stack([np.isfinite(scored) for scored in self._scored.values()], axis=1)
        for directed in range(2 * self.graph.num_relations):
            sources, targets = self.graph.edges_from(directed)
            inside = is_own[sources]
            if int(inside.sum()) < LEAST_MEASURED:
                continue
            first = np.concatenate([[True], np.diff(sources[inside]) > 0]).nonzero()[0]
            counts = np.logical_or.reduceat(known[targets[inside]], first).sum(axis=0)
            found += [(int(counts[a]), directed, a) for a in np.flatnonzero(counts >= LEAST_MEASURED).tolist()]
        found.sort(key=lambda one: (-one[0], one[1], one[2]))
        self._chosen = [(directed, attribute) for _, directed, attribute in found[:MOST_MEASURES]]

    def _of_neighbours(self, directed: int, scored: Numbers) -> Numbers:
        """The mean score of the neighbours of each entity."""
        sources, targets = self.graph.edges_from(directed)
        rows, values = self._place[sources], scored[targets]
        kept = (rows >= 0) & np.isfinite(values)
        counts = np.bincount(rows[kept], minlength=len(self.entities))
        sums = np.bincount(rows[kept], values[kept], len(self.entities))
        with np.errstate(invalid="ignore"):
            means: Numbers = sums / counts
        return means
