"""GNN-QE: every projection is a graph neural network, every operator is product logic (the paper, section 4.2).

A projection of the fuzzy set m by relation r is sigmoid(NBFNet(m, r)) over the whole graph, see `nn.nbfnet`; and, or
and not are a b, a + b - a b and 1 - a. Queries of all shapes run together, level by level, through `logic.execute`.

What is learned belongs to relation *names*: a model meets any graph that uses them, whatever its entities. A question
about a relation that the model never saw is refused; edges of such relations are not read.

Cost of a projection: `num_layers` passes over all edges, `dim` wide. Memory: about 14 numbers a (node, row, dim) to
answer, 18 a layer to learn; rows are split, and computed again for the gradients, to stay within `memory` bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.methods.gnn_qe.captured import Recordings
from unseen.methods.gnn_qe.compact_graph import CompactGraph
from unseen.methods.gnn_qe.edge_following import follow_in_parts
from unseen.methods.gnn_qe.training_batch import TrainingBatch
from unseen.methods.gnn_qe.training_pass import LOGIC, execute_plan, visible_edges
from unseen.methods.known_facts import CEILING
from unseen.methods.query_loss import adversarial_loss
from unseen.nn.kernels.definitions import Message
from unseen.nn.nbfnet import NBFNet

NUMBERS_TO_ANSWER, NUMBERS_TO_LEARN = 14, 18
"""float32 numbers held for each (node, row, dim): at a time to answer, and of every layer to learn."""


MOST_CELLS = {"cpu": 1 << 21, "cuda": 1 << 28}
"""(node, row, dim) cells of one call: few on the CPU, whose caches are small; on a GPU positions fit into int32."""


@dataclass(frozen=True)
class Architecture:
    """The shape of the network; defaults are the paper's."""

    dim: int = 32
    num_layers: int = 4
    hidden_dim: int = 64
    message: Message = "distmult"
    relation_dropout: float = 0.0
    """Share of the numbers of the relations' vectors that is left out, at random, while learning."""


@dataclass(frozen=True)
class Objective:
    """What is learned from; defaults are the paper's."""

    traversal_dropout: float = 0.5
    """Probability that an edge on a walk to an answer is hidden."""
    edge_dropout: float = 0.0
    """In each step a share of all edges up to this is hidden, so that the network has seen graphs grow; 0 is never."""
    temperature: float = 0.1
    """Of the softmax that weighs negatives; small means that only the hardest count."""


@dataclass(frozen=True)
class Answering:
    """How a trained network answers; what is best is chosen on validation queries."""

    known_facts: bool = True
    """Whether projections follow observed edges too."""
    ceiling: float = CEILING
    """Then, the largest membership of what is only predicted."""
    sharpness: float = 10.0
    """Of negation: the network is trained to find every answer, so its memberships are too large to be believed."""


class GnnQe(nn.Module):
    """The method: a `Projector`, an `Answerer`, an `Estimator`, and trainable."""

    def __init__(
        self,
        relation_names: Sequence[str],
        architecture: Architecture | None = None,
        objective: Objective | None = None,
        *,
        answering: Answering | None = None,
        memory: int | None = None,
    ) -> None:
        """For relations of these names."""
        super().__init__()
        self.relation_names = tuple(relation_names)
        self.architecture, self.objective = architecture or Architecture(), objective or Objective()
        self.answering, self.memory = answering or Answering(), memory
        shape = self.architecture
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

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: the predicted membership of each entity in what `relations[i]` leads to; no gradient to `sets`."""
        compact = self.compact(graph)
        numbers = torch.from_numpy(compact.relations_of(_on_host(relations))).to(self.device)
        return compact.scatter(self.project_nodes(compact, compact.gather(sets), numbers))

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Memberships of all entities in the answers of each query."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same, and the fuzzy sets of all sub-queries; `methods.calibration` makes probabilities of them."""
        way = self.answering
        projector = KnownEdges(self, way.ceiling) if way.known_facts else self
        with torch.no_grad():
            return execute(projector, graph, queries, replace(LOGIC, sharpness=way.sharpness), self.device)

    def prepare(
        self,
        graph: KnowledgeGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer[Any]]],
        whole_batch: Sequence[Query] | None = None,
    ) -> TrainingBatch:
        """Everything about a batch that the host has to do; `whole_batch` if this is one process's share of it."""
        return TrainingBatch.of(self.compact(graph), queries, answers, whole_batch)

    def losses(self, batch: TrainingBatch, generator: torch.Generator) -> Float[Tensor, " query"]:
        """The loss of each query of a prepared batch."""
        dropout = (self.objective.traversal_dropout, self.objective.edge_dropout)
        masks = visible_edges(batch.compact, batch.walked, dropout, generator)
        memberships = execute_plan(batch.compact, batch.plan, masks, self.project_nodes)
        return adversarial_loss(memberships, batch.answers, self.objective.temperature)

    def loss(
        self,
        graph: KnowledgeGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer[Any]]],
        generator: torch.Generator,
    ) -> Float[Tensor, ""]:
        """The mean loss of queries whose complete answers on `graph` are known."""
        return self.losses(self.prepare(graph, queries, answers), generator).mean()

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
        parts, fits = self._parts(compact, len(sets))
        compute = self._projected if fits or not torch.is_grad_enabled() else self._recomputed
        columns = sets.detach().t()
        reached = [compute(compact, columns[:, part].contiguous(), relations[part], edge_mask) for part in parts]
        return torch.cat(reached, dim=1).t().contiguous()

    def _projected(
        self, compact: CompactGraph, sets: Tensor, relations: Tensor, edge_mask: Tensor | None
    ) -> Float[Tensor, "node row"]:
        if edge_mask is None and self._recordings.pays_off(self.network, compact, sets.shape[1]):
            return self._recordings.project(self.network, compact, sets, relations)
        logits: Tensor = self.network(compact.edges, sets, relations, edge_mask)
        return logits.sigmoid()

    def _recomputed(self, *inputs: Any) -> Float[Tensor, "node row"]:
        """The same, keeping nothing for the gradients: they compute it once more."""
        reached: Tensor = checkpoint(self._projected, *inputs, use_reentrant=False)
        return reached

    def _parts(self, compact: CompactGraph, count: int) -> tuple[list[slice], bool]:
        """Rows cut into equal parts that each fit into memory, and whether all together do."""
        shape, memory = self.architecture, self.memory or default_memory(self.device)
        numbers = NUMBERS_TO_LEARN * shape.num_layers if torch.is_grad_enabled() else NUMBERS_TO_ANSWER
        cells = max(1, shape.dim * (compact.num_nodes + compact.edges.num_relations))
        row = 4 * numbers * cells
        most = max(1, min(memory // row, MOST_CELLS.get(self.device.type, 1 << 28) // cells))
        size = -(-count // -(-count // most))
        parts = [slice(start, min(start + size, count)) for start in range(0, count, size)]
        return parts, count * row <= memory


@dataclass(frozen=True)
class KnownEdges:
    """The model's projections together with the edges that are there: `known_facts.KnownFactsProjector`, in batches."""

    model: GnnQe
    ceiling: float = CEILING

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """The larger of what observed edges carry over and `ceiling` times what the network predicts."""
        compact = self.model.compact(graph)
        numbers, nodes = compact.relations_of(_on_host(relations)), compact.gather(sets)
        predicted = self.model.project_nodes(compact, nodes, torch.from_numpy(numbers).to(self.model.device))
        return compact.scatter(torch.maximum(follow_in_parts(compact, nodes, numbers), self.ceiling * predicted))


def default_memory(device: torch.device) -> int:
    """Bytes for one projection: half of a GPU, eight gigabytes of other memory."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory // 2
    return 8 << 30


def _on_host(relations: Int[Tensor, " batch"]) -> NDArray[np.int64]:
    ids: NDArray[np.int64] = relations.cpu().numpy().astype(np.int64)
    return ids
