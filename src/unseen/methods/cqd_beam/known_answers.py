"""Known answers are never lost, even where a beam had no room for them.

An answer that follows from observed links alone has, over all assignments, at least the membership (1 - spread)^links,
because each of its links is known (see `atoms`). A beam that could not hold every known value of an inner variable may
have missed that way. Exact traversal finds such answers, and they get this least membership. Only queries with inner
variables need it, and only those without negation: what an incomplete graph does not refute may still be false.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Not, Project, Query, walk
from unseen.logic.traverse import Traversal


class KnownAnswers:
    """The known answers of some queries, in order of entity, and the least membership that each must have."""

    def __init__(self, graph: KnowledgeGraph, queries: Sequence[Query], spread: float) -> None:
        traversal = Traversal(graph)
        found = {row: traversal.members(query) for row, query in enumerate(queries) if _may_be_lost(query)}
        lengths = [len(entities) for entities in found.values()]
        least = [(1 - spread) ** _links(queries[row]) for row in found]
        entities = np.concatenate([np.empty(0, np.int64), *found.values()])
        order = np.argsort(entities, kind="stable")
        self._entities = entities[order]
        self._rows = np.repeat(np.array(list(found), np.int64), lengths)[order]
        self._least = np.repeat(np.array(least, np.float32), lengths)[order]

    def lift_(self, values: Float[Tensor, "row block"], start: int) -> Float[Tensor, "row block"]:
        """The memberships of a block with those of known answers no smaller than they must be."""
        first, last = np.searchsorted(self._entities, [start, start + values.shape[1]])
        if first < last:
            columns = (self._rows[first:last], self._entities[first:last] - start, self._least[first:last])
            rows, places, least = (torch.from_numpy(column).to(values.device) for column in columns)
            values[rows, places] = torch.maximum(values[rows, places], least)
        return values


def _may_be_lost(query: Query) -> bool:
    """Whether a query has an inner variable, and no negation."""
    nodes = list(walk(query))
    has_variable = any(isinstance(node, Project) and not isinstance(node.source, Anchor) for node in nodes)
    return has_variable and not any(isinstance(node, Not) for node in nodes)


def _links(query: Query) -> int:
    return sum(isinstance(node, Project) for node in walk(query))
