"""A graph as NodePiece reads it: the tokens of every entity, reused or updated when the graph has grown.

Tokens are numbered: directed relations of the model first, then its anchors, then padding. The slots of an entity are
its relation tokens, then its nearest anchors. Nothing here refers to the graph itself, so that a cache of these tables
by graph does not keep graphs alive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unseen.graph import KnowledgeGraph
from unseen.methods.model_relations import ModelRelations
from unseen.nn.tokens import NearestAnchors, Neighbours, RelationTokens

Ids = NDArray[np.int64]
Tokens = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TokenisedGraph:
    """The tokens [entity, slot] of a graph, and what is needed to update them."""

    columns: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
    """Heads, relations and tails of the graph."""
    relations: ModelRelations
    anchor_entities: Ids
    """The entity that each anchor is here; -1 for an anchor that the graph does not know."""
    tokens: Tokens
    nearest: NearestAnchors | None

    @property
    def num_entities(self) -> int:
        """Entities of the graph's vocabulary."""
        return len(self.tokens)

    def is_part_of(self, other: TokenisedGraph | KnowledgeGraph) -> bool:
        """Whether the other has all these edges first, in the same order and with the same numbers."""
        if isinstance(other, KnowledgeGraph):
            columns, size = (other.heads, other.relations, other.tails), other.num_entities
        else:
            columns, size = other.columns, other.num_entities
        fits = self.num_entities <= size and len(self.columns[0]) <= len(columns[0])
        return fits and all(
            np.array_equal(own, theirs[: len(own)]) for own, theirs in zip(self.columns, columns, strict=True)
        )


@dataclass(frozen=True)
class Tokeniser:
    """Makes the tokens of graphs for one model."""

    relation_names: tuple[str, ...]
    anchor_names: tuple[str, ...]
    relation_tokens: RelationTokens
    anchors_per_node: int

    @property
    def padding(self) -> int:
        """The token of an empty slot: one past the last anchor."""
        return 2 * len(self.relation_names) + len(self.anchor_names)

    @property
    def slots(self) -> int:
        """Tokens of an entity, padding included."""
        return self.relation_tokens.slots + self.anchors_per_node

    def of(self, graph: KnowledgeGraph) -> TokenisedGraph:
        """The tokens of every entity of a graph."""
        relations, anchor_entities = self._matched(graph)
        columns = (graph.heads, graph.relations, graph.tails)
        nearest = None
        if self.anchors_per_node:
            neighbours = Neighbours.along(graph.heads, graph.tails, graph.num_entities)
            nearest = NearestAnchors.of(neighbours, anchor_entities, self.anchors_per_node)
        everyone = np.arange(graph.num_entities)
        tokens = self._rows(graph, relations, nearest, everyone)
        return TokenisedGraph(columns, relations, anchor_entities, tokens, nearest)

    def after(self, old: TokenisedGraph, graph: KnowledgeGraph) -> tuple[TokenisedGraph, Ids] | None:
        """The tokens of a graph that has all edges of `old` and more, and whose entities changed; None if it has not.

        Only entities at new edges are tokenised again, and those that new edges bring nearer to an anchor.
        """
        relations, anchor_entities = self._matched(graph)
        known, then = relations.numbers[: len(old.relations.numbers)], old.anchor_entities
        same_names = np.array_equal(known, old.relations.numbers)
        if not (same_names and np.array_equal(anchor_entities[then >= 0], then[then >= 0]) and old.is_part_of(graph)):
            return None
        count = len(old.columns[0])
        changed = np.zeros(graph.num_entities, bool)
        changed[old.num_entities :] = True
        added = (graph.heads[count:], graph.tails[count:])
        changed[np.concatenate(added)] = True
        nearest = old.nearest
        if nearest is not None:
            neighbours = Neighbours.along(graph.heads, graph.tails, graph.num_entities)
            nearest, nearer = nearest.after(neighbours, anchor_entities, *added)
            changed[nearer] = True
        rows = np.flatnonzero(changed)
        tokens = np.empty((graph.num_entities, self.slots), np.int32)
        tokens[: old.num_entities] = old.tokens
        tokens[rows] = self._rows(graph, relations, nearest, rows)
        columns = (graph.heads, graph.relations, graph.tails)
        return TokenisedGraph(columns, relations, anchor_entities, tokens, nearest), rows

    def _matched(self, graph: KnowledgeGraph) -> tuple[ModelRelations, Ids]:
        """The model's relations and anchors in a graph."""
        anchors = graph.vocabulary.entities.find_all(self.anchor_names)
        return ModelRelations.of(graph, self.relation_names), anchors.astype(np.int64)

    def _rows(
        self, graph: KnowledgeGraph, relations: ModelRelations, nearest: NearestAnchors | None, entities: Ids
    ) -> Tokens:
        """The tokens of some entities."""
        sources, directed = _edges_at(graph, relations, entities)
        found = self.relation_tokens.of(sources, directed, len(entities))
        tokens = np.where(found == self.relation_tokens.padding, self.padding, found)
        if nearest is None:
            return tokens.astype(np.int32)
        anchors = nearest.anchors[entities]
        numbered = np.where(anchors < 0, self.padding, anchors + 2 * len(self.relation_names))
        return np.concatenate([tokens, numbered], axis=1).astype(np.int32)


def _edges_at(graph: KnowledgeGraph, relations: ModelRelations, entities: Ids) -> tuple[Tokens, Tokens]:
    """Both directions of the edges that leave some entities: places among `entities`, and the model's relations."""
    place = np.full(graph.num_entities, -1, np.int32)
    place[entities] = np.arange(len(entities), dtype=np.int32)
    sources, directed = [], []
    for ends, numbers in ((graph.heads, relations.forwards), (graph.tails, relations.backwards)):
        at, number = place[ends], numbers.astype(np.int32)[graph.relations]
        kept = np.flatnonzero((at >= 0) & (number >= 0))
        sources.append(at[kept])
        directed.append(number[kept])
    return np.concatenate(sources), np.concatenate(directed)
