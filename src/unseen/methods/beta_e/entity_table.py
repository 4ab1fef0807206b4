"""What a model knows of one graph's entities, and the scores of queries held against them, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.stopping import check_stop
from unseen.methods.beta_e.beta_shape import BetaShape
from unseen.methods.beta_e.named_vectors import named_vectors
from unseen.methods.model_relations import ModelRelations
from unseen.nn.beta import distances_to_all, entity_terms, regular

BLOCK = 1 << 14
"""Entities whose terms are computed at a time."""
MOST_CELLS = 1 << 24
"""Distances (row, entity) that are held at a time."""


@dataclass(frozen=True, eq=False)
class EntityTable:
    """Every entity of a graph as Beta distributions; `state` says with which weights."""

    state: tuple[object, ...]
    parameters: Float[Tensor, "entity numbers"]
    directions: Float[Tensor, "entity numbers"]
    constants: Float[Tensor, " entity"]
    relations: ModelRelations

    @classmethod
    def of(
        cls,
        graph: KnowledgeGraph,
        relations: ModelRelations,
        known: tuple[NDArray[np.int64], Float[Tensor, "model numbers"]],
        shape: BetaShape,
        state: tuple[object, ...],
    ) -> EntityTable:
        """Learned vectors for entities that the model has (their `known` ids and vectors), by name for all others."""
        ids, learned = known
        raw = learned.new_empty(graph.num_entities, 2 * shape.dim)
        is_new = np.ones(graph.num_entities, bool)
        is_new[ids[ids >= 0]] = False
        strangers = np.flatnonzero(is_new)
        names = graph.vocabulary.entities.keys.take(strangers).to_pylist()
        vectors = torch.from_numpy(named_vectors(names, 2 * shape.dim, shape.spread, shape.seed))
        raw[torch.from_numpy(strangers).to(raw.device)] = vectors.to(raw.device)
        found = torch.from_numpy(np.flatnonzero(ids >= 0)).to(raw.device)
        raw[torch.from_numpy(ids[ids >= 0]).to(raw.device)] = learned[found]
        parameters = regular(raw)
        return cls(state, parameters, *_terms(parameters), relations)


@dataclass(frozen=True, eq=False)
class BetaScores:
    """margin - distance of embedded queries to all entities; a query is as near as the nearest of its branches."""

    table: EntityTable
    margin: float
    num_queries: int
    branches: Sequence[tuple[Tensor, Tensor]]
    """The first branch of every query, then the second of those that have two, ...: rows [row] and parameters."""

    @property
    def block_size(self) -> int:
        """As many entities as `MOST_CELLS` allows."""
        rows = max((len(rows) for rows, _ in self.branches), default=1)
        return max(1, MOST_CELLS // max(1, rows))

    def blocks(self) -> Iterator[tuple[int, Float[Tensor, "query block"]]]:
        """The first entity of every block and the scores of its entities."""
        num_entities = len(self.table.parameters)
        for start in range(0, num_entities, self.block_size):
            check_stop()
            yield start, self.block(start, min(start + self.block_size, num_entities))

    def block(self, start: int, stop: int) -> Float[Tensor, "query block"]:
        """The scores of the entities from `start` to before `stop`."""
        table = self.table
        best = torch.full((self.num_queries, stop - start), -torch.inf, device=table.parameters.device)
        with torch.no_grad():
            for rows, parameters in self.branches:
                far = distances_to_all(parameters, table.directions[start:stop], table.constants[start:stop])
                best[rows] = torch.maximum(best[rows], (self.margin - far).float())
        return best


def _terms(parameters: Float[Tensor, "entity numbers"]) -> tuple[Tensor, Tensor]:
    """Computed in float64, kept in float32 but for the one number that sums all dimensions up."""
    directions, constants = torch.empty_like(parameters), parameters.new_empty(len(parameters), dtype=torch.float64)
    for start in range(0, len(parameters), BLOCK):
        part = slice(start, start + BLOCK)
        found, constants[part] = entity_terms(parameters[part].double())
        directions[part] = found.float()
    return directions, constants
