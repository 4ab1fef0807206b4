"""A graph as one model reads it: connected entities only, relations numbered as the model numbers them.

Entities without an edge can neither send nor receive a message, so a network runs on *nodes*: the connected entities
in order. A benchmark's vocabulary names the entities of all its graphs, of which the training graph has a third; nodes
are what keeps the other two thirds from being computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.methods.model_relations import ABSENT, ModelRelations
from unseen.nn.kernels import EdgeViews

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CompactGraph:
    """Nodes and edges of one graph on one device, in the relations of one model."""

    edges: EdgeViews
    entity_of_node: Int[Tensor, " node"]
    node_of_entity: Ids
    relations: ModelRelations

    @classmethod
    def of(cls, graph: KnowledgeGraph, relation_names: tuple[str, ...], device: torch.device) -> CompactGraph:
        """Match relations by name (any name the graph accepts), then number what is connected."""
        return cls(*cls.parts_of(graph, ModelRelations.of(graph, relation_names), 2 * len(relation_names), device))

    @staticmethod
    def parts_of(
        graph: KnowledgeGraph, relations: ModelRelations, num_relations: int, device: torch.device
    ) -> tuple[EdgeViews, Int[Tensor, " node"], Ids, ModelRelations]:
        """The fields of a compact graph for a model with so many directed relations."""
        connected = graph.connected_entities.astype(np.int64)
        node_of_entity = np.full(graph.num_entities, ABSENT, np.int64)
        node_of_entity[connected] = np.arange(len(connected))
        directed = np.array([relations.forwards, relations.backwards])
        edges = _edge_views(graph, node_of_entity, directed, (len(connected), num_relations), device)
        entities = torch.from_numpy(connected).to(device)
        return edges, entities, node_of_entity, relations

    @property
    def num_nodes(self) -> int:
        """How many entities are connected."""
        return self.edges.num_nodes

    @property
    def num_entities(self) -> int:
        """Entities of the graph's vocabulary."""
        return len(self.node_of_entity)

    def relations_of(self, directed: Ids) -> Ids:
        """The model's ids of directed relations of the graph; one that it never saw is an error."""
        return self.relations.known(directed)

    def gather(self, sets: Float[Tensor, "batch entity"]) -> Float[Tensor, "batch node"]:
        """Memberships of the nodes."""
        return sets if self.num_nodes == self.num_entities else sets[:, self.entity_of_node]

    def scatter(self, sets: Float[Tensor, "batch node"]) -> Float[Tensor, "batch entity"]:
        """Memberships of all entities: those that are no nodes are in no set."""
        if self.num_nodes == self.num_entities:
            return sets
        return sets.new_zeros(len(sets), self.num_entities).index_copy(1, self.entity_of_node, sets)

    @cached_property
    def relation_offsets(self) -> Ids:
        """On the host: where the edges of each directed relation begin in `edges.by_relation`."""
        return self.edges.by_relation.offsets.cpu().numpy().astype(np.int64)

    @cached_property
    def ends_by_relation(self) -> tuple[Int[Tensor, " edge"], Int[Tensor, " edge"]]:
        """Sources and targets of the edges, those of one relation together."""
        return self.edges.by_relation.source.long(), self.edges.by_relation.target.long()

    @cached_property
    def partner(self) -> Int[Tensor, " edge"]:
        """The position of each edge read backwards; its own where there is none."""
        own = torch.arange(self.edges.num_edges, device=self.edges.device)
        reverse = self.edges.reverse.long()
        return torch.where(reverse < 0, own, reverse)

    @cached_property
    def canonical_ends(self) -> tuple[Tensor, Tensor, Tensor]:
        """Source, relation and target of every edge in canonical order, as indices."""
        view = self.edges.by_target
        return view.source.long(), view.relation.long(), view.target.long()


def _edge_views(
    graph: KnowledgeGraph, node_of_entity: Ids, directed: Ids, size: tuple[int, int], device: torch.device
) -> EdgeViews:
    """Both directions of every edge whose relation the model knows."""
    kept = directed[0][graph.relations] >= 0
    heads, tails = node_of_entity[graph.heads[kept]], node_of_entity[graph.tails[kept]]
    relations = directed[:, graph.relations[kept]].ravel()
    columns = (np.concatenate([heads, tails]), relations, np.concatenate([tails, heads]))
    return EdgeViews.from_edges(*(torch.from_numpy(column) for column in columns), size=size, device=device)
