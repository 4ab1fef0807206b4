"""Hardness: the fewest missing links that an answer rests on.

hardness(query, answer) is the minimum, over all values of the variables that make the query true in the complete graph,
of the number of positive edges that the observed graph lacks. A min-plus pass over the query finds it for all entities
at once: an anchor costs 0, a projection takes its cheapest source and adds 1 for a missing edge, *and* adds, *or* takes
the least, *not* only says who is in. 0 is an easy answer; `positive_links` of the query, one that nothing but
prediction reaches. For whole tables `table_hardness` gives the same numbers faster.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.program import positive_links
from unseen.datasets.table_hardness import NO_ANSWER, table_hardness
from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Costs = NDArray[np.int64]

__all__ = ["NO_ANSWER", "hardness", "positive_links", "table_hardness"]

_NEVER = 1 << 40
_MOST = NO_ANSWER - 1


def hardness(complete: KnowledgeGraph, observed: KnowledgeGraph, query: Query) -> NDArray[np.uint8]:
    """For every entity the missing links it needs to answer the query, or `NO_ANSWER` if it does not answer it."""
    costs = _Pass(complete, observed).costs(query)
    return np.where(costs < _NEVER, np.minimum(costs, _MOST), NO_ANSWER).astype(np.uint8)


class _Pass:
    """The min-plus pass over one query on one pair of graphs."""

    def __init__(self, complete: KnowledgeGraph, observed: KnowledgeGraph) -> None:
        self._complete, self._observed = complete, observed

    def costs(self, query: Query) -> Costs:
        """The cost of each entity; `_NEVER` or more where it is not in the set."""
        match query:
            case Anchor(entity=int(entity)):
                return self._fixed(np.array([entity], np.int32))
            case Project(relation=int(relation)):
                return self._projected(relation, self.costs(query.source))
            case And():
                return np.minimum(reduce(np.add, (self.costs(part) for part in query.parts)), _NEVER)
            case Or():
                return reduce(np.minimum, (self.costs(part) for part in query.parts))
            case Not():
                outside = np.flatnonzero(self.costs(query.part) >= _NEVER)
                return self._fixed(np.intersect1d(outside, self._complete.connected_entities))
        raise QueryRefused("it has names where the graph's ids are needed: bind it first", place=str(query)[:80])

    def _fixed(self, members: NDArray[np.integer]) -> Costs:
        """A set that costs nothing."""
        costs = np.full(self._complete.num_entities, _NEVER, np.int64)
        costs[members] = 0
        return costs

    def _projected(self, relation: int, sources: Costs) -> Costs:
        heads, tails = self._complete.edges_from(relation)
        prices = sources[heads] + ~np.isin(self._keys(heads, tails), self._keys(*self._observed.edges_from(relation)))
        costs = np.full(self._complete.num_entities, _NEVER, np.int64)
        np.minimum.at(costs, tails, np.minimum(prices, _NEVER))
        return costs

    def _keys(self, heads: NDArray[np.int32], tails: NDArray[np.int32]) -> NDArray[np.int64]:
        return heads.astype(np.int64) * self._complete.num_entities + tails
