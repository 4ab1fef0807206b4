"""What the training loop asks of a method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution


class Trainable(nn.Module, ABC):
    """A method with weights. Its batches come from its own source; all randomness of a step from the generator."""

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where the weights are."""

    @abstractmethod
    def losses(self, batch: Any, generator: torch.Generator) -> Float[Tensor, " row"]:
        """The loss of each row of a prepared batch."""

    @abstractmethod
    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Scores of all entities for each query."""

    @abstractmethod
    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The fuzzy sets of the queries and of their sub-queries."""
