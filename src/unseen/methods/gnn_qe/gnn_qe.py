"""GNN-QE: every projection is a graph neural network, every operator is product logic (the paper, section 4.2).

A projection of the fuzzy set m by relation r is sigmoid(NBFNet(m, r)) over the whole graph, see `nn.nbfnet`; what is
done with it stands in `neural_projector`.

What is learned belongs to relation *names*: a model meets any graph that uses them, whatever its entities. A question
about a relation that the model never saw is refused; edges of such relations are not read.

Cost of a projection: `num_layers` passes over all edges, `dim` wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.methods.fuzzy_gnn.captured import Input, Recordings
from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.methods.fuzzy_gnn.neural_projector import Answering, FuzzyObjective, KnownEdges, NeuralProjector, Size
from unseen.methods.fuzzy_gnn.training_batch import TrainingBatch
from unseen.methods.fuzzy_gnn.training_pass import execute_plan, visible_edges
from unseen.nn.kernels.definitions import Message
from unseen.nn.nbfnet import NBFNet

__all__ = ["Answering", "FuzzyObjective", "GnnQe", "GnnQeShape", "KnownEdges"]


@dataclass(frozen=True)
class GnnQeShape:
    """The shape of the network; defaults are the paper's."""

    dim: int = 32
    num_layers: int = 4
    hidden_dim: int = 64
    message: Message = "distmult"
    relation_dropout: float = 0.0
    """Share of the numbers of the relations' vectors that is left out, at random, while learning."""


class GnnQe(NeuralProjector):
    """The method: a `Projector`, an `Answerer`, an `Estimator`, and trainable."""

    def __init__(
        self,
        relation_names: Sequence[str],
        architecture: GnnQeShape | None = None,
        objective: FuzzyObjective | None = None,
        *,
        answering: Answering | None = None,
        memory: int | None = None,
    ) -> None:
        """For relations of these names."""
        shape = architecture or GnnQeShape()
        super().__init__(Size(shape.dim, shape.num_layers), objective, answering, memory)
        self.relation_names, self.architecture = tuple(relation_names), shape
        self.network = NBFNet(
            2 * len(self.relation_names),
            shape.dim,
            shape.num_layers,
            shape.hidden_dim,
            shape.message,
            relation_dropout=shape.relation_dropout,
        )
        self._recordings = Recordings()
        self._graphs: WeakKeyDictionary[KnowledgeGraph, dict[torch.device, CompactGraph]] = WeakKeyDictionary()

    @property
    def device(self) -> torch.device:
        """Where the weights are, and where everything is computed."""
        return self.network.query.weight.device

    def compact(self, graph: KnowledgeGraph) -> CompactGraph:
        """The graph as this model reads it; made once for each graph and device, gone when the graph is."""
        known = self._graphs.setdefault(graph, {})
        if self.device not in known:
            known[self.device] = CompactGraph.of(graph, self.relation_names, self.device)
        return known[self.device]

    def losses(self, batch: TrainingBatch, generator: torch.Generator) -> Float[Tensor, " query"]:
        """The loss of each query of a prepared batch."""
        masks = visible_edges(batch.compact, batch.walked, self.objective.traversal_dropout, generator)
        memberships = execute_plan(batch.compact, batch.plan, masks, self.project_nodes, self.inner_facts)
        return self.weighted_loss(batch, masks, memberships)

    def project_nodes(
        self,
        compact: CompactGraph,
        sets: Float[Tensor, "row node"],
        relations: Int[Tensor, " row"],
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "row node"]:
        """Memberships by the network, in as many parts as memory asks for; relations in the model's numbers."""
        if len(sets) == 0:
            return sets
        columns, relations = sets.detach().t(), relations.to(self.device, non_blocking=True)

        def compute(part: slice) -> Tensor:
            return self._projected(compact, columns[:, part].contiguous(), relations[part], edge_mask)

        reached = self.in_parts(compact.num_nodes + compact.edges.num_relations, len(sets), compute)
        return torch.cat(reached, dim=1).t().contiguous()

    def _projected(
        self, compact: CompactGraph, sets: Tensor, relations: Tensor, edge_mask: Tensor | None
    ) -> Float[Tensor, "node row"]:
        network = self.network
        if edge_mask is None and not network.training and Recordings.pays_off(compact, sets.shape[1], network.dim):
            inputs = (Input(sets, 1), Input(relations, 0))
            recorded = lambda sets, relations: network(compact.edges, sets, relations)  # noqa: E731
            return self._recordings.project(compact, network.query.weight, recorded, inputs)
        logits: Tensor = network(compact.edges, sets, relations, edge_mask)
        return logits.sigmoid()
