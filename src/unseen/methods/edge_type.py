"""The edge-type heuristic: an answer must have the right kind of edge, whoever it comes from.

The paper's trivial baseline (appendix "Edge-type Heuristic"): the projection by r is the row M_r of a relation-to-entity
table, M[r, t] = 1 if some edge (h, r, t) exists. The head is ignored. Cost: the edges of the relations asked for.

As scores these memberships only tell two classes apart. For people there are probabilities of the same evidence, counted:
t is reached by r from a share c(r, t) / d(r) of the d(r) heads that r has at all. If a share m of all facts is missing
from the graph, an edge that is not there exists with about the odds m / (1 - m) times that share, and n expected heads
reach t with 1 - (1 - p)^n. Facts of the graph are certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.methods.known_facts import KnownFactsProjector


@dataclass(frozen=True)
class EdgeType:
    """The heuristic as a method; `missing_share` is the share of all facts assumed to be missing from a graph."""

    missing_share: float = 0.1

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i is 1 on the range of `relations[i]`; `sets` only says on which device."""
        reached = torch.zeros_like(sets)
        for row, relation in zip(reached, relations.tolist(), strict=True):
            entities, _ = graph.range_of(relation)
            row[torch.from_numpy(entities).long()] = 1
        return reached

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """1 for entities of the right kind, 0 for others, combined by product logic."""
        return execute(self, graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """Probabilities of all entities for each query, known facts included."""
        projector = KnownFactsProjector(EdgeFrequency(self.missing_share), ceiling=1.0)
        return execute(projector, graph, queries)


@dataclass(frozen=True)
class EdgeFrequency:
    """How likely an edge is that the graph does not have, from how often its relation leads to its tail."""

    missing_share: float = 0.1

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: chance that a missing edge of `relations[i]` leads to each entity from the heads expected in `sets[i]`."""
        reached = torch.zeros_like(sets)
        expected_heads = sets.sum(dim=1).tolist()
        for row, relation, heads in zip(reached, relations.tolist(), expected_heads, strict=True):
            entities, counts = graph.range_of(relation)
            num_heads = max(1, len(graph.range_of(inverse_relation(relation))[0]))
            single = np.minimum(counts / num_heads * self.missing_share / (1 - self.missing_share), 1.0)
            row[torch.from_numpy(entities).long()] = torch.from_numpy(1 - (1 - single) ** heads).to(row)
        return reached
