"""Exact traversal as a method: what the graph says and nothing else. The oracle beside every prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.logic.fuzzy import GOEDEL
from unseen.methods.known_facts import follow_edges


@dataclass(frozen=True)
class Exact:
    """Edge look-up on fuzzy sets; on sets of zeros and ones it is ordinary logic."""

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: what the edges of `relations[i]` lead to from `sets[i]`."""
        return follow_edges(graph, sets, relations)

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """1 for answers, 0 for everything else."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same as probabilities: the graph is taken to be complete."""
        return execute(self, graph, queries, GOEDEL)
