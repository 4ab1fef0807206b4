"""Batches of triples for methods that learn from single links, and the entities that a method knows by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.methods.registry import entry_of
from unseen.nn.tokens import Neighbours, select_anchors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.datasets.dataset import Dataset
    from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
    from unseen.methods.nodepiece_qe.nodepiece_qe_settings import NodePieceQeConfig
    from unseen.methods.nodepiece_qe.training_graph import TrainingGraph
    from unseen.methods.training_settings import TrainingConfig
    from unseen.training.distributed import Workers


@dataclass(frozen=True, eq=False)
class LinkSource:
    """A `BatchSource` of triples of the training graph: batch i depends on the seed and i only."""

    method: NodePieceQe
    dataset: Dataset
    graph: TrainingGraph
    batch_size: int
    seed: int

    @classmethod
    def of(cls, method: NodePieceQe, dataset: Dataset, config: NodePieceQeConfig) -> LinkSource:
        """The triples of a dataset's training graph."""
        graph = method.training_graph(dataset.observed("train"))
        return cls(method, dataset, graph, config.batch_size, config.seed)

    def prepared(self, step: int, workers: Workers) -> Any:
        """This process's share of a step's batch, ready for the device."""
        return self.method.prepare(self.graph, self._numbers(step), slice(workers.rank, None, workers.size))

    def to_json(self, step: int) -> list[dict[str, Any]]:
        """The whole batch of a step for people to look at."""
        entity_name = self.dataset.vocabulary.entity_name
        entities = self.dataset.observed("train").connected_entities
        heads, relations, tails = self.graph.triples[:, self._numbers(step)].tolist()
        return [
            {"head": entity_name(int(entities[h])), "relation": self.method.relation_names[r // 2],
             "tail": entity_name(int(entities[t]))}
            for h, r, t in zip(heads, relations, tails, strict=True)
        ]  # fmt: skip

    def _numbers(self, step: int) -> NDArray[np.int64]:
        return np.random.default_rng([self.seed, step]).integers(self.graph.num_triples, size=self.batch_size)


def choose_entities(dataset: Dataset, config: TrainingConfig) -> Sequence[str]:
    """The unique names of the training graph's nodes that a model knows: its anchors, all of them, or none."""
    kind = entry_of(config).known_entities
    if kind == "entities":
        known: list[str] = dataset.vocabulary.entities.keys.take(dataset.candidates("train")).to_pylist()
        return known
    anchors: int = getattr(config, "anchors", 0)
    if kind != "anchors" or not anchors:
        return ()
    graph = dataset.observed("train")
    neighbours = Neighbours.along(graph.heads, graph.tails, graph.num_entities)
    chosen = select_anchors(neighbours, anchors, config.seed)
    names: list[str] = dataset.vocabulary.entities.keys.take(chosen).to_pylist()
    return names
