"""Link scorers for tests: vectors that belong to names, so that they follow an entity into any graph."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.methods.cqd_beam import VectorLinks


@dataclass(frozen=True)
class NamedVectors:
    """A vector for every name, random but always the same; the degree of an entity changes it a little."""

    dim: int = 8
    seed: int = 0
    spread: float = 1.5

    def opened(self, graph: KnowledgeGraph) -> VectorLinks:
        vocabulary = graph.vocabulary
        degrees = np.bincount(np.concatenate([graph.heads, graph.tails]), minlength=graph.num_entities)
        entities = (
            self._vectors(vocabulary.entities.keys.to_pylist()) + 0.05 * torch.from_numpy(degrees).float()[:, None]
        )
        names = [f"{name}/{way}" for name in vocabulary.relations.keys.to_pylist() for way in ("forwards", "backwards")]
        return VectorLinks(entities, self._vectors(names))

    def _vectors(self, names: list[str]) -> Tensor:
        rows = [
            np.random.default_rng([self.seed, zlib.crc32(name.encode())]).normal(
                0, self.spread / self.dim**0.25, self.dim
            )
            for name in names
        ]
        return torch.from_numpy(np.array(rows).reshape(-1, self.dim)).float()
