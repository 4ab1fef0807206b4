"""The edge-type heuristic: an answer must have an edge of the right relation, from any entity.

The paper's trivial baseline (appendix "Edge-type Heuristic"): the projection by r is the row M_r of a table of
relations by entities, M[r, t] = 1 if some edge (h, r, t) exists. The head is ignored. Cost: the edges of the relation.

As scores these memberships only tell two classes apart. For people there are probabilities from the same evidence: r
leads to t from a share c(r, t) / d(r) of the d(r) heads that r has at all. If a share m of all facts is missing from
the graph, an edge that is not there exists with about the odds m / (1 - m) times that share, and n expected heads reach
t with 1 - (1 - p)^n. Facts of the graph are certain. A relation that links nothing to itself is taken to never do so.
Rows that ask for the same relation are computed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Query
from unseen.logic.coherent import execute_coherently
from unseen.logic.execute import Execution, execute
from unseen.methods.known_facts import KnownFactsProjector, by_relation

ALMOST_CERTAIN = 1 - 2**-20
"""Largest probability of one missing edge; below 1, so that its logarithm is finite."""


@dataclass(frozen=True)
class EdgeType:
    """The heuristic as a method; `missing_share` is the share of all facts assumed to be missing from a graph."""

    missing_share: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.missing_share < 1:
            raise UnseenError(f"the share of missing facts must lie in [0, 1), not {self.missing_share}")

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i is 1 on the range of `relations[i]`; `sets` only says on which device."""
        reached = torch.zeros_like(sets)
        for row, relation in zip(reached, relations.tolist(), strict=True):
            entities, _ = graph.range_of(relation)
            row[torch.from_numpy(entities.astype("int64"))] = 1
        return reached

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """1 for entities of the right kind, 0 for others, combined by product logic."""
        return execute(self, graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """Probabilities of all entities for each query, known facts included."""
        projector = KnownFactsProjector(EdgeFrequency(self.missing_share), ceiling=1.0)
        return execute_coherently(projector, graph, queries)


@dataclass(frozen=True)
class EdgeFrequency:
    """How likely an edge is that the graph does not have, from how often its relation leads to its tail."""

    missing_share: float = 0.1
    is_monotone: ClassVar[bool] = True

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: chance that a missing edge of `relations[i]` leads from the heads in `sets[i]` to each entity."""
        return by_relation(graph, sets, relations, self._rows)

    def _rows(
        self, graph: KnowledgeGraph, heads: Float[Tensor, "row entity"], relation: int
    ) -> Float[Tensor, "row entity"]:
        """The same for rows that ask for one relation."""
        entities, counts = graph.range_of(relation)
        num_heads = max(1, len(graph.range_of(inverse_relation(relation))[0]))
        single = np.minimum(counts / num_heads * self.missing_share / (1 - self.missing_share), ALMOST_CERTAIN)
        tails = torch.from_numpy(entities.astype("int64")).to(heads.device)
        expected_heads = heads.sum(dim=1, keepdim=True)
        if not _links_to_itself(graph, relation):
            expected_heads = expected_heads - heads.index_select(1, tails)
        chances = -torch.expm1(expected_heads * torch.log1p(-torch.from_numpy(single).to(heads)))
        return torch.zeros_like(heads).index_copy_(1, tails, chances)


def _links_to_itself(graph: KnowledgeGraph, relation: int) -> bool:
    sources, targets = graph.edges_from(relation)
    return bool((sources == targets).any())
