"""Memberships of queries and sub-queries, each embedded as a query of its own."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution
from unseen.logic.fuzzy import PRODUCT
from unseen.logic.protocols import Answerer


class BetaExecution(Execution):
    """The sets of a batch; logic is the embeddings' own, so no operator on memberships is ever used."""

    def __init__(self, graph: KnowledgeGraph, method: Answerer, queries: Sequence[Query], device: torch.device) -> None:
        super().__init__(graph, PRODUCT, device)
        self.method = method
        distinct = list(dict.fromkeys(queries))
        self._sets.update(zip(distinct, method.answer(graph, distinct).sigmoid(), strict=True))

    def _combine(self, query: Query) -> Float[Tensor, " entity"]:
        """A sub-query that nobody asked for yet."""
        return self.method.answer(self.graph, [query])[0].sigmoid()
