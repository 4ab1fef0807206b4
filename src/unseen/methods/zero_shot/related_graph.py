"""A graph as the zero-shot model reads it: connected entities, and the graph of its relations beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.methods.model_relations import ModelRelations
from unseen.nn.kernels import EdgeViews
from unseen.nn.kernels.sparse_table import Incidence
from unseen.nn.relation_graph import RelationGraph
from unseen.nn.relation_statistics import relation_statistics

MOST_BYTES = 1 << 28
"""Of readings that are kept for later questions."""

Reading = Float[Tensor, "reading relation dim"]


class KnownReadings:
    """What the layers read of all relations, by query relation, as long as the weights that made it stay."""

    def __init__(self) -> None:
        self._version: object = None
        self._readings: dict[int, Reading] = {}

    @staticmethod
    def most(size: int) -> int:
        """How many readings of that many bytes are used at a time."""
        return max(1, MOST_BYTES // max(1, size))

    def of_version(self, version: object) -> dict[int, Reading]:
        """The readings that weights of this version made; those of another version are forgotten."""
        if version != self._version:
            self._version = version
            self._readings = {}
        return self._readings

    def keep(self, readings: dict[int, Reading]) -> None:
        """Remember the readings of some query relations; when they become too many, only these."""
        size = next(value.numel() * value.element_size() for value in readings.values())
        if len(self._readings) + len(readings) > self.most(size):
            self._readings.clear()
        self._readings.update(readings)


@dataclass(frozen=True, eq=False)
class RelatedGraph(CompactGraph):
    """Nodes, edges and relations of one graph on one device; relations have the graph's own numbers."""

    relation_edges: EdgeViews
    statistics: Float[Tensor, "relation relation statistic"] | None = None
    """What the graph says about pairs of relations, for models that read it."""
    remembered: Int[Tensor, " relation"] | None = None
    """Where a model with a memory of relations has them; see `relation_memory`."""
    known_readings: KnownReadings = field(default_factory=KnownReadings)

    @classmethod
    def of_graph(
        cls,
        graph: KnowledgeGraph,
        device: torch.device,
        remembered: Int[Tensor, " relation"] | None = None,
        *,
        statistics: bool = False,
    ) -> RelatedGraph:
        """Both graphs, for a model that has to know no relation by name."""
        parts = cls.parts_of(graph, ModelRelations.every(graph), graph.vocabulary.num_directed_relations, device)
        places = None if remembered is None else remembered.to(device)
        known = torch.from_numpy(relation_statistics(graph)).to(device) if statistics else None
        return cls(*parts, RelationGraph.of(graph).edges(device), known, places)

    @cached_property
    def incidence(self) -> Incidence:
        """Which nodes are heads of which relations, for models whose relations learn from states of entities."""
        return Incidence.of(self.edges)
