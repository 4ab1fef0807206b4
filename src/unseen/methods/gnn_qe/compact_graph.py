"""A graph as one model reads it: connected entities only, relations numbered as the model numbers them.

Entities without an edge can neither send nor receive a message, so a network runs on *nodes*: the connected entities
in order. A benchmark's vocabulary names the entities of all its graphs, of which the training graph has a third; nodes
are what keeps the other two thirds from being computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.errors import GraphError, QueryRefused
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import directed_relation, undirected_relation
from unseen.nn.kernels import EdgeViews

Ids = NDArray[np.int64]
ABSENT = -1


@dataclass(frozen=True, eq=False)
class CompactGraph:
    """Nodes and edges of one graph on one device, for a model that knows some relations by name."""

    edges: EdgeViews
    entity_of_node: Int[Tensor, " node"]
    node_of_entity: Ids
    model_relation: Ids
    """The model's id of each directed relation of the graph; -1 where it has none."""
    relation_name: Callable[[int], str]
    """What the graph calls a relation."""

    @classmethod
    def of(cls, graph: KnowledgeGraph, relation_names: tuple[str, ...], device: torch.device) -> CompactGraph:
        """Match relations by name (any name the graph accepts), then number what is connected."""
        numbers = _model_numbers(graph, relation_names)
        connected = graph.connected_entities.astype(np.int64)
        node_of_entity = np.full(graph.num_entities, ABSENT, np.int64)
        node_of_entity[connected] = np.arange(len(connected))
        directed = np.array([_directed(numbers, way) for way in (False, True)])
        edges = _edge_views(graph, node_of_entity, directed, (len(connected), 2 * len(relation_names)), device)
        entities = torch.from_numpy(connected).to(device)
        return cls(edges, entities, node_of_entity, _by_directed_id(directed), graph.vocabulary.relations.name)

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
        numbers = self.model_relation[directed]
        if (numbers < 0).any():
            name = self.relation_name(undirected_relation(int(directed[numbers < 0][0])))
            raise QueryRefused(f"the model was trained without the relation {name!r}; train one on a graph that has it")
        return numbers

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


def _model_numbers(graph: KnowledgeGraph, relation_names: tuple[str, ...]) -> Ids:
    """For each relation of the graph the model's number of the same name, or -1."""
    found = graph.vocabulary.relations.find_all(relation_names)
    numbers = np.full(graph.num_relations, ABSENT, np.int64)
    numbers[found[found >= 0]] = np.flatnonzero(found >= 0)
    if graph.num_triples and (numbers[graph.relations] < 0).all():
        raise GraphError("the model knows none of this graph's relations; it was trained on a graph with other names")
    return numbers


def _directed(numbers: Ids, inverse: bool) -> Ids:
    """Directed ids in one direction, -1 staying -1."""
    ids = [directed_relation(int(number), inverse) if number >= 0 else ABSENT for number in numbers]
    return np.array(ids, np.int64)


def _by_directed_id(numbers: Ids) -> Ids:
    """The model's ids [direction, relation] as one column over the graph's directed ids."""
    column = np.empty(numbers.size, np.int64)
    for inverse in (False, True):
        places = [directed_relation(relation, inverse) for relation in range(numbers.shape[1])]
        column[places] = numbers[int(inverse)]
    return column


def _edge_views(
    graph: KnowledgeGraph, node_of_entity: Ids, directed: Ids, size: tuple[int, int], device: torch.device
) -> EdgeViews:
    """Both directions of every edge whose relation the model knows."""
    kept = directed[0][graph.relations] >= 0
    heads, tails = node_of_entity[graph.heads[kept]], node_of_entity[graph.tails[kept]]
    relations = directed[:, graph.relations[kept]].ravel()
    columns = (np.concatenate([heads, tails]), relations, np.concatenate([tails, heads]))
    return EdgeViews.from_edges(*(torch.from_numpy(column) for column in columns), size=size, device=device)
