"""What can be asked and evaluated: the one protocol of a method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution


@runtime_checkable
class Method(Protocol):
    """Scores to rank by, and the fuzzy set of every query and sub-query. The graph is always an argument."""

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Scores of all entities for each query; higher is better."""
        ...

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The fuzzy sets of the queries and of their sub-queries; probabilities if the method is calibrated."""
        ...
