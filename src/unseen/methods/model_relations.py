"""The relations of a graph in the numbers of a model that learned some by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unseen.errors import GraphError, QueryRefused
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import directed_relation, undirected_relation

Ids = NDArray[np.int64]
ABSENT = -1


@dataclass(frozen=True, eq=False)
class ModelRelations:
    """What a model calls the directed relations of a graph."""

    numbers: Ids
    """The model's directed id for each directed id of the graph; -1 where it has none."""
    name: Callable[[int], str]
    """What the graph calls a relation."""

    @classmethod
    def of(cls, graph: KnowledgeGraph, relation_names: tuple[str, ...]) -> ModelRelations:
        """Match relations by any name that the graph accepts; a graph of which no edge is known is an error."""
        found = cls(numbers_by_name(graph, relation_names), graph.vocabulary.relations.name)
        if graph.num_triples and (found.forwards[graph.relations] < 0).all():
            raise GraphError(
                "the model knows none of this graph's relations; it was trained on a graph with other names"
            )
        return found

    @classmethod
    def every(cls, graph: KnowledgeGraph) -> ModelRelations:
        """The graph's own numbers, for a model that knows no relation by name and therefore any."""
        return cls(np.arange(graph.vocabulary.num_directed_relations), graph.vocabulary.relations.name)

    @property
    def forwards(self) -> Ids:
        """The model's directed id of each relation of the graph read forwards; -1 where it has none."""
        return self.numbers[[directed_relation(relation) for relation in range(len(self.numbers) // 2)]]

    @property
    def backwards(self) -> Ids:
        """The same, read backwards."""
        return self.numbers[[directed_relation(relation, True) for relation in range(len(self.numbers) // 2)]]

    def known(self, directed: Ids) -> Ids:
        """The model's ids of directed relations of the graph; one that it never saw is an error."""
        numbers: Ids = self.numbers[directed]
        if (numbers < 0).any():
            name = self.name(undirected_relation(int(directed[numbers < 0][0])))
            raise QueryRefused(f"the model was trained without the relation {name!r}; train one on a graph that has it")
        return numbers


def numbers_by_name(graph: KnowledgeGraph, relation_names: tuple[str, ...]) -> Ids:
    """For each directed relation of a graph, its directed id among relations of these names; -1 where it has none."""
    found = graph.vocabulary.relations.find_all(relation_names)
    column = np.full(2 * graph.num_relations, ABSENT, np.int64)
    for number in np.flatnonzero(found >= 0).tolist():
        for inverse in (False, True):
            column[directed_relation(int(found[number]), inverse)] = directed_relation(number, inverse)
    return column
