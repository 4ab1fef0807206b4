"""A graph as the zero-shot model reads it: connected entities, and the graph of its relations beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.methods.gnn_qe.compact_graph import CompactGraph
from unseen.methods.model_relations import ModelRelations
from unseen.nn.kernels import EdgeViews
from unseen.nn.relation_graph import RelationGraph

MOST_BYTES = 1 << 28
"""Of relation vectors that are kept for later questions."""


class KnownVectors:
    """Relation vectors by query relation, as long as the weights that made them stay."""

    def __init__(self) -> None:
        self._version: object = None
        self._vectors: dict[int, Float[Tensor, "relation dim"]] = {}

    def of_version(self, version: object) -> dict[int, Float[Tensor, "relation dim"]]:
        """The vectors that weights of this version made; those of another version are forgotten."""
        if version != self._version:
            self._version = version
            self._vectors = {}
        return self._vectors

    def keep(self, queries: list[int], vectors: Float[Tensor, "relation query dim"]) -> None:
        """Remember the vectors of some query relations; when they become too many, only these."""
        size = vectors.shape[0] * vectors.shape[2] * vectors.element_size()
        if (len(self._vectors) + len(queries)) * size > MOST_BYTES:
            self._vectors.clear()
        if len(queries) * size <= MOST_BYTES:
            self._vectors.update(zip(queries, vectors.transpose(0, 1).contiguous(), strict=True))


@dataclass(frozen=True, eq=False)
class RelatedGraph(CompactGraph):
    """Nodes, edges and relations of one graph on one device; relations have the graph's own numbers."""

    relation_edges: EdgeViews
    known_vectors: KnownVectors = field(default_factory=KnownVectors)

    @classmethod
    def of_graph(cls, graph: KnowledgeGraph, device: torch.device) -> RelatedGraph:
        """Both graphs, for a model that knows no relation by name."""
        parts = cls.parts_of(graph, ModelRelations.every(graph), graph.vocabulary.num_directed_relations, device)
        return cls(*parts, RelationGraph.of(graph).edges(device))
