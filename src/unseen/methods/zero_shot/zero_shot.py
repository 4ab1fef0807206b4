"""Zero-shot answers: one model for any graph, its entities and its relations never seen (Galkin et al., 2024).

A projection by relation r is sigmoid(ConditionedNBFNet(m, z_r)) over the whole graph, where z_r are vectors of all
relations as r sees them, from a network on the graph of relations (`nn.relation_graph`, `nn.relation_network`). The
rest is GNN-QE's: product logic, traversal dropout, known facts (`methods.fuzzy_gnn.neural_projector`). Nothing that is
learned belongs to a name or a number, unless a model that is fine-tuned is given a memory of relations
(`relation_memory`).

Cost of a projection: `num_layers` passes over all edges, and once for each distinct relation of a batch
`relation_layers` passes over the graph of relations, all `dim` wide. To answer, what the layers read of a relation is
kept as long as the graph and the weights are, so a further question asks for the first part only.

With `relation_states` vectors of relations also learn from states of entities (`nn.relation_states`). By relation,
these states begin at the ends of the query relation: a relation costs `state_rounds` passes over all edges more, once.
By source, they begin at the set that is asked about: every projection costs them, and only what precedes them is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Project, Query, walk
from unseen.logic.execute import Execution
from unseen.methods.fuzzy_gnn.captured import Input, Recordings
from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.methods.fuzzy_gnn.neural_projector import Answering, FuzzyObjective, NeuralProjector, Size
from unseen.methods.fuzzy_gnn.training_pass import execute_plan, visible_edges
from unseen.methods.zero_shot.conditioned_batch import ConditionedBatch
from unseen.methods.zero_shot.footprint import check_memory
from unseen.methods.zero_shot.related_graph import Reading, RelatedGraph
from unseen.methods.zero_shot.relation_memory import RelationMemory
from unseen.nn.conditioned_nbfnet import ConditionedNBFNet, Readings
from unseen.nn.kernels.definitions import Message
from unseen.nn.relation_network import RelationNetwork
from unseen.nn.relation_states import RelationStates, RelationStatesKind
from unseen.nn.weights_version import weights_version


@dataclass(frozen=True)
class ZeroShotShape:
    """The shape of both networks; defaults are the published one's."""

    dim: int = 64
    num_layers: int = 6
    relation_layers: int = 6
    hidden_dim: int = 64
    message: Message = "distmult"
    statistics: bool = False
    """Whether vectors of relations also come from `nn.relation_statistics`."""
    relation_dropout: float = 0.0
    """Share of the numbers of the mapped relation vectors that is left out, at random, while learning."""
    relation_states: RelationStatesKind = "none"
    """Whether relations learn from states of entities, see `nn.relation_states`."""
    state_rounds: int = 2
    """Rounds in which they do."""


class ZeroShot(NeuralProjector):
    """The method: a `Projector`, an `Answerer`, an `Estimator`, and trainable on any graphs."""

    def __init__(
        self,
        architecture: ZeroShotShape | None = None,
        objective: FuzzyObjective | None = None,
        *,
        answering: Answering | None = None,
        memory: int | None = None,
        remembers: Sequence[str] = (),
        memory_width: int = 0,
    ) -> None:
        """With a memory of the relations that `remembers` names, if any, of that width in each layer."""
        shape = architecture or ZeroShotShape()
        super().__init__(Size(shape.dim, _layers_at_once(shape)), objective, answering, memory)
        self.architecture = shape
        self.relation_network = RelationNetwork(shape.dim, shape.relation_layers, statistics=shape.statistics)
        self.network = ConditionedNBFNet(
            shape.dim, shape.num_layers, shape.hidden_dim, shape.message, relation_dropout=shape.relation_dropout
        )
        self.relation_states = _states(shape)
        sizes = (shape.dim, shape.num_layers, memory_width)
        self.relation_memory = RelationMemory(remembers, *sizes) if remembers else None
        self._recordings = Recordings()
        self._graphs: WeakKeyDictionary[KnowledgeGraph, dict[torch.device, RelatedGraph]] = WeakKeyDictionary()

    @property
    def device(self) -> torch.device:
        """Where the weights are, and where everything is computed."""
        return self.relation_network.kinds.device

    def compact(self, graph: KnowledgeGraph) -> RelatedGraph:
        """The graph as this model reads it; made once for each graph and device, gone when the graph is."""
        known = self._graphs.setdefault(graph, {})
        if self.device not in known:
            places = None if self.relation_memory is None else self.relation_memory.rows(graph)
            known[self.device] = RelatedGraph.of_graph(
                graph, self.device, places, statistics=self.architecture.statistics
            )
        return known[self.device]

    def check_memory(self, graph: KnowledgeGraph) -> None:
        """Refuse a graph that is too large for this machine."""
        check_memory(graph, self.architecture, self.device)

    def prepare(
        self,
        graph: KnowledgeGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer[Any]]],
        whole_batch: Sequence[Query] | None = None,
    ) -> ConditionedBatch:
        """Everything about a batch that the host has to do; `whole_batch` if this is one process's share of it."""
        return ConditionedBatch.of_queries(self.compact(graph), queries, answers, whole_batch)

    def losses(self, batch: ConditionedBatch, generator: torch.Generator) -> Float[Tensor, " query"]:
        """The loss of each query; readings of relations are computed once for all projections of the batch."""
        masks = visible_edges(batch.compact, batch.walked, self.objective.traversal_dropout, generator)
        outer = self.readings(batch.relation_graph, batch.outer)
        with torch.no_grad():
            inner = self.readings(batch.relation_graph, batch.inner)
            every = [torch.cat([one.detach(), other], dim=1) for one, other in zip(outer, inner, strict=True)]

        def project(compact: CompactGraph, sets: Tensor, relations: Tensor, edge_mask: Tensor | None) -> Tensor:
            readings = outer if torch.is_grad_enabled() else every
            conditions = batch.condition_of_relation[relations]
            return self._conditioned(compact, sets, relations, readings, conditions, edge_mask)

        memberships = execute_plan(batch.compact, batch.plan, masks, project, self.inner_facts)
        return self.weighted_loss(batch, masks, memberships)

    def readings(self, graph: RelatedGraph, queries: Int[Tensor, " query"]) -> list[Tensor]:
        """What each layer reads of all relations for each query relation, in as many parts as memory asks for.

        Where relations learn from the states of a set, this is what they begin with, and what layers add to it.
        """
        memory, rows = self.relation_memory, graph.remembered
        vectors = self._vectors(graph, queries)
        if memory is None or rows is None:
            return [vectors] if self._by_source else self.network.readings(vectors)
        more = memory.by_layer(rows, queries)
        vectors = vectors + memory(rows, queries)
        if self._by_source:
            return [vectors, *(() if more is None else more)]
        return _with_more(self.network.readings(vectors), () if more is None else more)

    def _vectors(self, graph: RelatedGraph, queries: Int[Tensor, " query"]) -> Float[Tensor, "relation query dim"]:
        """The vectors of all relations for each query relation, before any set is known."""
        if len(queries) == 0:
            return self.relation_network.kinds.new_zeros(graph.edges.num_relations, 0, self.architecture.dim)
        by_relation = self.architecture.relation_states == "by_relation"

        def compute(part: slice) -> Tensor:
            vectors: Tensor = self.relation_network(graph.relation_edges, queries[part], graph.statistics)
            if by_relation and self.relation_states is not None:
                ends = self.relation_states.ends_of(graph.incidence, queries[part])
                vectors = self.relation_states(graph.edges, graph.incidence, vectors, ends)
            return vectors

        nodes = graph.edges.num_relations + by_relation * graph.num_nodes
        return torch.cat(self.in_parts(nodes, len(queries), compute), dim=1)

    @property
    def _by_source(self) -> bool:
        return self.architecture.relation_states == "by_source"

    def _with_states(
        self, compact: RelatedGraph, sets: Tensor, relations: Tensor, readings: Readings, edge_mask: Tensor | None
    ) -> list[Tensor]:
        """The readings of each row, whose relations learn from the states that begin at its set."""
        vectors, more = readings[0], readings[1:]
        if self.relation_states is None:
            return self.network.readings(vectors)
        asked = vectors[relations, torch.arange(len(relations), device=relations.device)]
        boundary = sets.unsqueeze(-1) * asked
        vectors = self.relation_states(compact.edges, compact.incidence, vectors, boundary, edge_mask)
        return _with_more(self.network.readings(vectors), more)

    def project_nodes(
        self,
        compact: CompactGraph,
        sets: Float[Tensor, "row node"],
        relations: Int[Tensor, " row"],
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "row node"]:
        """Memberships by the network; readings of relations that were asked for before are found again.

        With more distinct relations than can be kept, some rows after others.
        """
        if not isinstance(compact, RelatedGraph):
            raise TypeError("the graph must be read by this model")
        distinct, place = np.unique(relations.cpu().numpy(), return_inverse=True)
        on_device, most = (
            relations.to(self.device, non_blocking=True),
            compact.known_readings.most(self._reading_size(compact)),
        )
        if len(distinct) <= most:
            readings = self._found_readings(compact, distinct.tolist())
            return self._conditioned(compact, sets, on_device, readings, torch.from_numpy(place), edge_mask)
        reached = torch.empty_like(sets)
        for first in range(0, len(distinct), most):
            rows = torch.from_numpy(np.flatnonzero((place >= first) & (place < first + most))).to(self.device)
            reached[rows] = self.project_nodes(compact, sets[rows], on_device[rows], edge_mask)
        return reached

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """As ever; all relations that the queries ask for, at any depth, are read together before."""
        self.read_relations(graph, queries)
        return super().estimate(graph, queries)

    def read_relations(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> None:
        """Compute the readings of all relations that queries ask for together, as far as they can be kept."""
        asked = {node.relation for query in queries for node in walk(query) if isinstance(node, Project)}
        compact = self.compact(graph)
        numbers = compact.relations_of(np.array(sorted(asked), np.int64)).tolist()
        if 1 < len(numbers) <= compact.known_readings.most(self._reading_size(compact)):
            with torch.no_grad():
                self._readings_by_relation(compact, numbers)

    def _reading_size(self, graph: RelatedGraph) -> int:
        """Bytes of the readings of one relation."""
        cells = graph.edges.num_relations * self.architecture.dim
        layers = 0 if self._by_source and self.relation_memory is None else self.architecture.num_layers
        return (1 + layers) * cells * self.relation_network.kinds.element_size()

    def _found_readings(
        self, graph: RelatedGraph, distinct: list[int]
    ) -> Float[Tensor, "reading relation query dim"] | list[Tensor]:
        """The readings of distinct query relations."""
        if torch.is_grad_enabled() or not distinct:
            return self.readings(graph, torch.tensor(distinct, dtype=torch.int64, device=self.device))
        have = self._readings_by_relation(graph, distinct)
        if len(distinct) == 1:
            return have[distinct[0]].unsqueeze(2)
        return torch.stack([have[query] for query in distinct], dim=2)

    def _readings_by_relation(self, graph: RelatedGraph, distinct: list[int]) -> dict[int, Reading]:
        """The same one by one; those not known yet are computed together."""
        known = graph.known_readings.of_version(weights_version(self._reading_weights, self.training))
        missing = [query for query in distinct if query not in known]
        have = {query: known[query] for query in distinct if query in known}
        if missing:
            made = torch.stack(self.readings(graph, torch.tensor(missing, device=self.device)))
            have |= dict(zip(missing, made.permute(2, 0, 1, 3).contiguous(), strict=True))
            graph.known_readings.keep({query: have[query] for query in missing})
        return have

    @cached_property
    def _reading_weights(self) -> list[Tensor]:
        """The weights that make readings."""
        memory = () if self.relation_memory is None else self.relation_memory.parameters()
        states = () if self.relation_states is None else self.relation_states.parameters()
        return [*self.relation_network.parameters(), *self.network.relation_maps.parameters(), *states, *memory]

    def _conditioned(
        self,
        compact: CompactGraph,
        sets: Float[Tensor, "row node"],
        relations: Int[Tensor, " row"],
        readings: Readings,
        conditions: Int[Tensor, " row"],
        edge_mask: Tensor | None,
    ) -> Float[Tensor, "row node"]:
        """The projection of all rows; `conditions` say which column of the readings each of them sees."""
        if len(sets) == 0:
            return sets
        columns, seen = sets.detach().t(), conditions.to(self.device, non_blocking=True)

        def compute(part: slice) -> Tensor:
            inputs = (columns[:, part].contiguous(), relations[part], readings, seen[part])
            return self._projected(compact, *inputs, edge_mask)

        reached = self.in_parts(compact.num_nodes + 2 * compact.edges.num_relations, len(sets), compute)
        return torch.cat(reached, dim=1).t().contiguous()

    def _projected(
        self,
        compact: CompactGraph,
        sets: Tensor,
        relations: Tensor,
        readings: Readings,
        conditions: Tensor,
        edge_mask: Tensor | None,
    ) -> Float[Tensor, "node row"]:
        network = self.network
        if self._by_source:
            if not isinstance(compact, RelatedGraph):
                raise TypeError("the graph must be read by this model")
            own = [each.index_select(1, conditions) for each in readings]
            readings = self._with_states(compact, sets, relations, own, edge_mask)
            conditions = torch.arange(len(relations), device=relations.device)
        if edge_mask is None and not network.training and Recordings.pays_off(compact, sets.shape[1], network.dim):
            stacked = readings if isinstance(readings, Tensor) else torch.stack(list(readings))
            return self._replayed(compact, sets, relations, stacked.index_select(2, conditions))
        logits: Tensor = network(compact.edges, sets, relations, readings, conditions, edge_mask)
        return logits.sigmoid()

    def _replayed(self, compact: CompactGraph, sets: Tensor, relations: Tensor, readings: Tensor) -> Tensor:
        """The same by a recording, in which every row has its own column of the readings."""

        def recorded(sets: Tensor, relations: Tensor, readings: Tensor) -> Tensor:
            logits: Tensor = self.network(compact.edges, sets, relations, readings)
            return logits

        inputs = (Input(sets, 1), Input(relations, 0), Input(readings, 2))
        return self._recordings.project(compact, self.network.readout.output.weight, recorded, inputs)


def _layers_at_once(shape: ZeroShotShape) -> int:
    """The layers of one pass with gradients, on which memory depends."""
    rounds = {kind: shape.state_rounds * (shape.relation_states == kind) for kind in ("by_relation", "by_source")}
    return max(shape.num_layers + rounds["by_source"], shape.relation_layers + rounds["by_relation"])


def _states(shape: ZeroShotShape) -> RelationStates | None:
    if shape.relation_states == "none":
        return None
    has_ends = shape.relation_states == "by_relation"
    return RelationStates(shape.dim, shape.state_rounds, shape.message, has_ends=has_ends)


def _with_more(readings: list[Tensor], more: Iterable[Tensor]) -> list[Tensor]:
    """Readings with what a memory adds to those of the layers, if anything."""
    added = list(more)
    if not added:
        return readings
    first, *of_layers = readings
    return [first, *(reading + each for reading, each in zip(of_layers, added, strict=True))]
