"""The vectors of all entities of one graph, and the logits of links between them, a block of tails at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.methods.model_relations import ModelRelations
from unseen.nn.scorers import Scorer


@dataclass(frozen=True, eq=False)
class EntityVectors:
    """`LinkScores` of a graph: what a model knows of its entities.

    `vectors` [entity, dim] may be stored in float32 or bfloat16; everything is computed in float32.
    """

    vectors: Float[Tensor, "entity dim"]
    relation_vectors: Float[Tensor, "relation other"]
    relations: ModelRelations
    scorer: Scorer

    @property
    def num_entities(self) -> int:
        """Entities of the graph's vocabulary."""
        return len(self.vectors)

    @property
    def device(self) -> torch.device:
        """Where the vectors are."""
        return self.vectors.device

    def towards(self, heads: Int[Tensor, " row"], relations: Int[Tensor, " row"]) -> Float[Tensor, "row dim"]:
        """Where each head and directed relation of the graph lead; a relation the model never saw is an error."""
        if not self._knows_all:
            self.relations.known(relations.cpu().numpy().astype(np.int64))
        chosen = self.relation_vectors[self._numbers[relations.to(self.device).long()]]
        return self.scorer.towards(self.vectors[heads.to(self.device).long()].float(), chosen)

    @cached_property
    def _numbers(self) -> Int[Tensor, " directed"]:
        """The model's directed relations of the graph's, on the device."""
        return torch.from_numpy(self.relations.numbers).to(self.device)

    @cached_property
    def _knows_all(self) -> bool:
        """Whether the model knows every relation of the graph, so that nothing has to be looked at on the host."""
        return bool((self.relations.numbers >= 0).all())

    def block(self, towards: Float[Tensor, "row dim"], start: int, stop: int) -> Float[Tensor, "row block"]:
        """The logit of every entity from `start` to before `stop`."""
        return self.scorer.matrix(towards, self.vectors[start:stop].float())
