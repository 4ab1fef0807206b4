"""What every method has whose projections are a graph neural network: execution, learning, and bounded memory.

And, or and not are product logic: a b, a + b - a b and 1 - a. Queries of all shapes run together, level by level,
through `logic.execute`; training runs the plan of a batch, see `training_pass`. Which network projects, and what it
knows of relations, is the method's own.

Memory: about 14 numbers a (node, row, dim) to answer, 18 a layer to learn; rows are split, and computed again for the
gradients, to stay within `memory` bytes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.logic.stopping import check_stop
from unseen.methods.fuzzy_gnn.certainty import certain_level, with_certain
from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.methods.fuzzy_gnn.edge_following import follow_in_parts
from unseen.methods.fuzzy_gnn.training_batch import TrainingBatch
from unseen.methods.fuzzy_gnn.training_pass import LOGIC, Believed, Masks, believed, known_answers
from unseen.methods.known_facts import CEILING
from unseen.methods.trainable import Trainable
from unseen.nn.query_loss import adversarial_loss

NUMBERS_TO_ANSWER, NUMBERS_TO_LEARN = 14, 18
"""float32 numbers held for each (node, row, dim): at a time to answer, and of every layer to learn."""

MOST_CELLS = {"cpu": 1 << 20, "cuda": 1 << 28}
"""(node, row, dim) cells of one call: few on the CPU, whose caches are small; on a GPU positions fit into int32."""


@dataclass(frozen=True)
class FuzzyObjective:
    """What is learned from; defaults are the paper's."""

    traversal_dropout: float = 0.5
    """Probability that an edge on a walk to an answer is hidden."""
    temperature: float = 0.1
    """Of the softmax that weighs negatives; small means that only the hardest count."""
    inner_facts: bool = False
    """Whether the sets of inner projections are those of answering with known facts."""
    known_weight: float = 1.0
    """Of an answer that visible edges give, beside one that has to be predicted; 1 is the paper's."""


@dataclass(frozen=True)
class Answering:
    """How a trained network answers; what is best is chosen on validation queries."""

    known_facts: bool = True
    """Whether projections follow observed edges too."""
    ceiling: float = CEILING
    """Then, the largest membership of what is only predicted."""
    sharpness: float = 16.0
    """The network is trained to tell every answer from the hardest non-answer, so its memberships are too large to be
    believed: beside known facts they count to this power. Without known facts those under a negation do, or all of
    them, if inner sets were such while it learned."""
    sharpens_alone: bool = False
    """Whether also without known facts all memberships count to this power, beside what the network is certain of."""

    @property
    def beside_facts(self) -> Believed:
        """How much of what is predicted counts beside known facts."""
        return self.ceiling, self.sharpness


@dataclass(frozen=True)
class Size:
    """What memory depends on."""

    dim: int
    num_layers: int


class NeuralProjector(Trainable):
    """A `Projector`, an `Answerer`, an `Estimator`, and trainable; a method adds its network."""

    def __init__(self, size: Size, objective: FuzzyObjective | None, answering: Answering | None, memory: int | None):
        super().__init__()
        self.size, self.memory = size, memory
        self.objective, self.answering = objective or FuzzyObjective(), answering or Answering()

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where the weights are, and where everything is computed."""

    @abstractmethod
    def compact(self, graph: KnowledgeGraph) -> CompactGraph:
        """The graph as this model reads it; made once for each graph and device, gone when the graph is."""

    @abstractmethod
    def project_nodes(
        self,
        compact: CompactGraph,
        sets: Float[Tensor, "row node"],
        relations: Int[Tensor, " row"],
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "row node"]:
        """Memberships by the network, in as many parts as memory asks for.

        Relations are in the model's numbers, on the host (then nothing waits for the device) or the device.
        """

    @property
    def inner_facts(self) -> Believed | None:
        """While learning: how much of what inner projections predict counts beside the edges; None if these do not."""
        return self.answering.beside_facts if self.objective.inner_facts else None

    @abstractmethod
    def losses(self, batch: Any, generator: torch.Generator) -> Float[Tensor, " query"]:
        """The loss of each query of a prepared batch."""

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: the predicted membership of each entity in what `relations[i]` leads to; no gradient to `sets`."""
        compact = self.compact(graph)
        numbers = torch.from_numpy(compact.relations_of(_on_host(relations)))
        return compact.scatter(self.project_nodes(compact, compact.gather(sets), numbers))

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Memberships of all entities in the answers of each query."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same, and the fuzzy sets of all sub-queries; `probability.calibration` makes probabilities of them."""
        way = self.answering
        with torch.no_grad():
            if way.known_facts:
                return execute(KnownEdges(self, way.beside_facts), graph, queries, LOGIC, self.device)
            if way.sharpens_alone:
                return execute(Alone(self, way.beside_facts), graph, queries, LOGIC, self.device)
            return execute(self, graph, queries, replace(LOGIC, sharpness=way.sharpness), self.device)

    def prepare(
        self,
        graph: KnowledgeGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer[Any]]],
        whole_batch: Sequence[Query] | None = None,
    ) -> TrainingBatch:
        """Everything about a batch that the host has to do; `whole_batch` if this is one process's share of it."""
        return TrainingBatch.of(self.compact(graph), queries, answers, whole_batch)

    def loss(
        self,
        graph: KnowledgeGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer[Any]]],
        generator: torch.Generator,
    ) -> Float[Tensor, ""]:
        """The mean loss of queries whose complete answers on `graph` are known."""
        return self.losses(self.prepare(graph, queries, answers), generator).mean()

    def weighted_loss(
        self, batch: TrainingBatch, masks: Masks, memberships: Float[Tensor, "query node"]
    ) -> Float[Tensor, " query"]:
        """The loss of each query; answers that visible edges give have the objective's weight."""
        known_weight, weights = self.objective.known_weight, None
        if known_weight != 1:
            weights = torch.lerp(
                memberships.new_ones(()),
                memberships.new_tensor(known_weight),
                known_answers(batch.compact, batch.plan, masks),
            )
        return adversarial_loss(memberships, batch.answers, self.objective.temperature, weights)

    def in_parts(self, nodes: int, count: int, compute: Callable[[slice], Tensor]) -> list[Tensor]:
        """What `compute` makes of each part of `count` columns over so many nodes; gradients compute it once more
        where keeping everything takes more memory than there is.
        """
        parts, fits = self._parts(nodes, count)
        if fits or not torch.is_grad_enabled():
            return [_unless_stopped(compute, part) for part in parts]
        return [checkpoint(compute, part, use_reentrant=False) for part in parts]

    def _parts(self, nodes: int, count: int) -> tuple[list[slice], bool]:
        """Columns cut into equal parts that each fit into memory, and whether all together do."""
        memory = self.memory or default_memory(self.device)
        numbers = NUMBERS_TO_LEARN * self.size.num_layers if torch.is_grad_enabled() else NUMBERS_TO_ANSWER
        cells = max(1, self.size.dim * nodes)
        column = 4 * numbers * cells
        most = max(1, min(memory // column, MOST_CELLS.get(self.device.type, 1 << 28) // cells))
        size = -(-count // -(-count // most))
        parts = [slice(start, min(start + size, count)) for start in range(0, count, size)]
        return parts, count * column <= memory


@dataclass(frozen=True)
class KnownEdges:
    """The model's projections together with the edges that are there: `known_facts.KnownFactsProjector`, in batches."""

    model: NeuralProjector
    beside_facts: Believed

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """The larger of what observed edges carry over and what the network predicts, as much of it as counts."""
        compact = self.model.compact(graph)
        numbers, nodes = compact.relations_of(_on_host(relations)), compact.gather(sets)
        predicted = self.model.project_nodes(compact, nodes, torch.from_numpy(numbers))
        return compact.scatter(
            torch.maximum(follow_in_parts(compact, nodes, numbers), believed(predicted, self.beside_facts))
        )


@dataclass(frozen=True)
class Alone:
    """The model's projections without the edges: predictions as confident as observed facts count as known."""

    model: NeuralProjector
    beside_facts: Believed

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """What the network predicts, as much of it as counts; in float64, which the network itself does not read."""
        level = certain_level(self.model, self.model.compact(graph))
        return with_certain(self.model.project(graph, sets.float(), relations), level, self.beside_facts)


def default_memory(device: torch.device) -> int:
    """Bytes for one projection: half of a GPU, or of this process's share of it; eight gigabytes of other memory."""
    if device.type == "cuda":
        share = torch.cuda.get_per_process_memory_fraction(device)
        return int(torch.cuda.get_device_properties(device).total_memory * share) // 2
    return 8 << 30


def _unless_stopped(compute: Callable[[slice], Tensor], part: slice) -> Tensor:
    check_stop()
    return compute(part)


def _on_host(relations: Int[Tensor, " batch"]) -> NDArray[np.int64]:
    ids: NDArray[np.int64] = relations.cpu().numpy().astype(np.int64)
    return ids
