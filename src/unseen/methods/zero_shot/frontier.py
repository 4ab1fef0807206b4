"""The network on the part of a graph that matters for a source set.

A frontier is a bounded part around the set: the entities where a walk from it ends most often (`rules.pushing`), and
candidates that come from elsewhere. Its nodes are scaled by the degrees that they have in the whole graph; the means of
messages are of those that come. What lies outside gets `floor`, a membership as small as those at the rim.

Cost of a projection: that of the part, whatever the size of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import torch

from unseen.logic.choose import largest
from unseen.methods.model_relations import ModelRelations
from unseen.methods.zero_shot.related_graph import RelatedGraph
from unseen.nn.kernels import EdgeViews
from unseen.nn.kernels.edge_views import WholeDegrees
from unseen.nn.relation_graph import RelationGraph
from unseen.nn.relation_statistics import relation_statistics
from unseen.rules.adjacency import adjacency_of
from unseen.rules.part_of_graph import part_around
from unseen.rules.pushing import PushLimits, pushed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.methods.zero_shot.effort import Budget
    from unseen.methods.zero_shot.zero_shot import ZeroShot
    from unseen.rules.adjacency import Adjacency
    from unseen.rules.part_of_graph import GraphPart

    Ids = NDArray[np.int64]
    Values = NDArray[np.float32]

STRONGEST = 4096
"""Members of a source set that mass is pushed from."""
LEAST_SHARE = 1e-4
"""Of the strongest member, that a member needs for it."""
FLOOR_QUANTILE = 0.1
"""Where in the memberships of a frontier the floor lies."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The part for one source set, and the membership of every entity of it; all others have `floor`."""

    entities: Ids
    memberships: Values
    floor: float


def frontier_of(
    network: ZeroShot,
    graph: KnowledgeGraph,
    source: tuple[Ids, Values],
    relation: int,
    wanted: Ids,
    budget: Budget,
) -> Frontier:
    """What the network says around a source set, given by entities and memberships; `wanted` are further candidates."""
    adjacency, (members, degrees) = adjacency_of(graph), source
    part = chosen_part(adjacency, members, degrees, wanted, budget)
    compact = _compact(network, graph, adjacency, part)
    sets = torch.zeros(1, len(part.entities))
    order = np.argsort(part.entities)
    place = np.searchsorted(part.entities[order], members).clip(max=max(len(order) - 1, 0))
    is_in = part.entities[order[place]] == members
    sets[0, torch.from_numpy(order[place[is_in]])] = torch.from_numpy(degrees[is_in]).float()
    with torch.no_grad():
        found = network.project_nodes(compact, sets, torch.tensor([relation]))[0].cpu().numpy()
    return Frontier(part.entities.astype(np.int64), found, float(np.quantile(found, FLOOR_QUANTILE)))


def chosen_part(adjacency: Adjacency, members: Ids, degrees: Values, wanted: Ids, budget: Budget) -> GraphPart:
    """The part for a source set: the strongest members, then what is wanted, then where walks end most often."""
    strong = np.flatnonzero(degrees > LEAST_SHARE * degrees.max(initial=0.0))
    strong = strong[largest(degrees[strong], STRONGEST)]
    limits = PushLimits(budget.touched, budget.looks)
    met, masses = pushed(adjacency, members[strong].astype(np.int32), degrees[strong].astype(np.float64), limits)
    nearest = met[np.argsort(-masses, kind="stable")]
    ranked = np.concatenate([members[strong][: budget.nodes // 4], wanted[: budget.nodes // 2], nearest])
    return part_around(adjacency, ranked.astype(np.int32), budget.nodes, budget.edges)


def relations_alone(network: ZeroShot, graph: KnowledgeGraph) -> RelatedGraph:
    """The relations of a graph as the network reads them, without nodes; made once for each graph."""
    known = _ALONE.setdefault(graph, {})
    if network.device not in known:
        known[network.device] = _without_nodes(network, graph)
    return known[network.device]


_ALONE: WeakKeyDictionary[KnowledgeGraph, dict[torch.device, RelatedGraph]] = WeakKeyDictionary()


def _without_nodes(network: ZeroShot, graph: KnowledgeGraph) -> RelatedGraph:
    count, device = graph.vocabulary.num_directed_relations, network.device
    nothing = torch.empty(0, dtype=torch.int64)
    edges = EdgeViews.from_edges(nothing, nothing, nothing, size=(0, count), device=device)
    statistics = None
    if network.architecture.statistics:
        adjacency = adjacency_of(graph)
        starts = adjacency.row_edges[adjacency.entity_rows]
        statistics = torch.from_numpy(relation_statistics(graph, (starts, adjacency.near, adjacency.near_relation)))
        statistics = statistics.to(device)
    memory = network.relation_memory
    places = None if memory is None else memory.rows(graph).to(device)
    parts = (edges, nothing.to(device), np.empty(0, np.int64), ModelRelations.every(graph))
    return RelatedGraph(*parts, RelationGraph.of(graph).edges(device), statistics, places)


def _compact(network: ZeroShot, graph: KnowledgeGraph, adjacency: Adjacency, part: GraphPart) -> RelatedGraph:
    """The part as the network reads it, with the relations of the whole graph."""
    whole = relations_alone(network, graph)
    degrees = WholeDegrees(torch.from_numpy(part.degrees), mean_logarithm(graph, adjacency))
    offsets, sources, relations = (torch.from_numpy(column) for column in (part.offsets, part.sources, part.relations))
    edges = EdgeViews.of_part(offsets, sources, relations, whole.edges.num_relations, degrees).to(network.device)
    entities = torch.from_numpy(part.entities.astype(np.int64))
    shared = (whole.relations, whole.relation_edges, whole.statistics, whole.remembered, whole.known_readings)
    return RelatedGraph(edges, entities.to(network.device), np.empty(0, np.int64), *shared)


def mean_logarithm(graph: KnowledgeGraph, adjacency: Adjacency) -> float:
    """The mean of log(1 + 1 + degree) over all connected entities, the boundary counted as one more message."""
    found = _MEANS.get(graph)
    if found is None:
        degrees = np.diff(adjacency.row_edges[adjacency.entity_rows])
        found = _MEANS[graph] = float(np.log1p(degrees[degrees > 0]).mean()) if degrees.any() else 1.0
    return found


_MEANS: WeakKeyDictionary[KnowledgeGraph, float] = WeakKeyDictionary()
