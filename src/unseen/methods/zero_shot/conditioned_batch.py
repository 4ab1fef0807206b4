"""A batch of training queries with the distinct relations that it asks for: one pass serves all rows that share one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.logic.algebra import Project, Query, walk
from unseen.methods.fuzzy_gnn.batch_plan import outermost_projections
from unseen.methods.fuzzy_gnn.edge_following import upload
from unseen.methods.fuzzy_gnn.training_batch import TrainingBatch
from unseen.methods.zero_shot.related_graph import RelatedGraph


@dataclass(frozen=True, eq=False)
class ConditionedBatch(TrainingBatch):
    """Queries with answers on one graph.

    `outer` are the relations of outermost projections, to which gradients flow; `inner` those that stand below them
    only. `condition_of_relation` numbers both, the outer ones first.
    """

    relation_graph: RelatedGraph
    outer: Int[Tensor, " outer"]
    inner: Int[Tensor, " inner"]
    condition_of_relation: Int[Tensor, " relation"]

    @classmethod
    def of_queries(
        cls,
        graph: RelatedGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer]],
        whole_batch: Sequence[Query] | None = None,
    ) -> ConditionedBatch:
        """As `TrainingBatch.of`, with the relations that are asked for."""
        batch = TrainingBatch.of(graph, queries, answers, whole_batch)
        outer = _relations(node for query in queries for node in outermost_projections(query))
        every = _relations(node for query in queries for node in walk(query) if isinstance(node, Project))
        inner = np.setdiff1d(every, outer)
        places = np.zeros(graph.edges.num_relations, np.int64)
        places[np.concatenate([outer, inner])] = np.arange(len(every))
        uploaded = upload([outer, inner, places], graph.edges.device)
        return cls(batch.compact, batch.plan, batch.walked, batch.answers, graph, *uploaded)


def _relations(projections: Iterable[Project]) -> NDArray[np.int64]:
    """The distinct relations of some projections, which have ids."""
    return np.unique(np.array([int(node.relation) for node in projections], np.int64))
