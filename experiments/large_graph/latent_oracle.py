"""The world behind `latent_graph` as a link scorer: what a method that learned everything could predict.

The logit of a link is the logarithm of its chance, up to a constant: log popularity (of heads: activity) of the tail,
and a penalty for another type and for another factor than the relation asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from experiments.large_graph.latent_graph import CLASSES_PER_TYPE, FACTORS, NOISE, TYPES, LatentGraph

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

WRONG_TYPE = 12.0
RIGHT_FACTOR = float(np.log(1 + FACTORS * (1 - NOISE) / NOISE))


@dataclass(frozen=True, eq=False)
class TrueLinks:
    """One-hot types and factors of all entities, and what each directed relation asks for."""

    features: Tensor
    world: LatentGraph
    latent: Tensor
    """The number in the world of every entity of the graph."""
    place: Tensor
    """And the other way round; -1 for those that the graph does not have."""
    relations: Tensor
    """The number in the world of every relation of the graph."""

    @property
    def num_entities(self) -> int:
        """Entities of the graph."""
        return len(self.features)

    def towards(self, heads: Tensor, relations: Tensor) -> Tensor:
        """What each row asks for of its tail, and the class that it names or -1."""
        rows = [
            self._asked(int(head), int(relation)) for head, relation in zip(self.latent[heads], relations, strict=True)
        ]
        return torch.from_numpy(np.array(rows, np.float32))

    def block(self, towards: Tensor, start: int, stop: int) -> Tensor:
        """Logarithms of chances."""
        logits = towards[:, :-1] @ self.features[start:stop].t()
        classes = towards[:, -1].long()
        named = (classes >= start) & (classes < stop)
        logits[named.nonzero()[:, 0], classes[named] - start] += 2 * WRONG_TYPE
        return logits

    def _asked(self, head: int, relation: int) -> np.ndarray:
        asked, world = np.zeros(TYPES + 2 * FACTORS + 3, np.float32), self.world
        number, backwards = int(self.relations[relation // 2]), relation % 2 == 1
        asked[-1] = -1
        if number == 0:
            self._ask_class(asked, head, backwards)
            return asked
        asked[-2 if backwards else -3] = 1
        wanted = world.head_types[number] if backwards else [world.tail_types[number]]
        asked[:TYPES] = -WRONG_TYPE
        asked[np.asarray(wanted)] = 0
        own, other = world.used[::-1, number] if backwards else world.used[:, number]
        shift = -world.shifts[number] if backwards else world.shifts[number]
        value = (world.entities.factors[own, head] + shift) % FACTORS
        asked[TYPES + other * FACTORS + value] = RIGHT_FACTOR
        return asked

    def _ask_class(self, asked: np.ndarray, head: int, backwards: bool) -> None:
        entities = self.world.entities
        if not backwards:
            kind = entities.factors[0, head] * CLASSES_PER_TYPE // FACTORS
            asked[-1] = self.place[(entities.types[head] * CLASSES_PER_TYPE + kind) % self.world.num_classes]
            asked[:TYPES] = -WRONG_TYPE
        elif head < self.world.num_classes:
            asked[:TYPES] = -WRONG_TYPE
            asked[head // CLASSES_PER_TYPE] = 0
            values = np.arange(FACTORS)
            asked[TYPES + values[values * CLASSES_PER_TYPE // FACTORS == head % CLASSES_PER_TYPE]] = RIGHT_FACTOR


@dataclass(frozen=True, eq=False)
class Oracle:
    """Knows the world; opens the one graph that was drawn from it."""

    links: TrueLinks

    @classmethod
    def of(cls, graph: KnowledgeGraph, world: LatentGraph) -> Oracle:
        """The world's numbers are in the names of the graph's entities and relations."""
        latent, relations = (
            np.array([int(name[1:]) for name in names.keys.to_pylist()])
            for names in (graph.vocabulary.entities, graph.vocabulary.relations)
        )
        place = np.full(len(world.entities.types), -1)
        place[latent] = np.arange(len(latent))
        entities = world.entities
        features = np.zeros((len(latent), TYPES + 2 * FACTORS + 2), np.float32)
        rows = np.arange(len(latent))
        features[rows, entities.types[latent]] = 1
        for factor in (0, 1):
            features[rows, TYPES + factor * FACTORS + entities.factors[factor, latent]] = 1
        features[:, -2] = np.log(entities.popularity[latent])
        features[:, -1] = np.log(entities.activity[latent])
        columns = (torch.from_numpy(column) for column in (latent, place, relations))
        return cls(TrueLinks(torch.from_numpy(features), world, *columns))

    def opened(self, _graph: KnowledgeGraph) -> TrueLinks:
        """The true links."""
        return self.links
