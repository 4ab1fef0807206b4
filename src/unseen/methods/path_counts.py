"""`path-counts`: relax the question, count paths; no training (in the spirit of Brunink et al., 2025).

A question is a walk from anchors to answers in which every anchor and every edge is a constraint. An entity that
satisfies all of them is a known answer. Others satisfy a *relaxed* question, in which some constraints are dropped, and
the more ways there are to satisfy it, the likelier they are. With e the price of a dropped constraint, c_Q(x) counts
the ways to reach x, each at its price, and |Q| the constraints of Q:

    anchor a          c(x) = 1 if x is a, else 0
    r(Q)              c(x) = sum over edges (y, r, x) of (c_Q(y) + e^|Q|)            anything may stand for Q
                             + e sum over edges (y, any, x) of c_Q(y)  if r leads to x    any relation for r
    Q1 and Q2         c(x) = (c_Q1(x) + e^|Q1|) (c_Q2(x) + e^|Q2|)                   either may be left out
    Q1 or Q2          c(x) = c_Q1(x) + c_Q2(x)
    not Q             c(x) = e^|Q| if x is a known answer to Q, else 1

Memberships are c / (1 + c), known answers above all others. These are scores to rank by; as probabilities (`estimate`)
serve those of the edge-type heuristic, which rest on the same evidence.

Cost: all edges of the graph once for each projection, and a number of every entity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unseen.logic.algebra import Anchor, And, Anything, Given, Loop, Not, Or, Project, Query
from unseen.logic.stopping import check_stop
from unseen.methods.edge_type import EdgeType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.execute import Execution

    Numbers = NDArray[np.float64]

PRICE = 1e-3
"""Of a dropped constraint, in ways that satisfy all of them."""
KNOWN = 0.5
"""Memberships of known answers lie above this, those of others below."""


class RelaxedCounts(NamedTuple):
    """The ways to reach each entity, which of them need no relaxation, and how many constraints there were."""

    ways: Numbers
    known: NDArray[np.bool_]
    constraints: int


@dataclass(frozen=True)
class PathCounts:
    """The baseline as a method."""

    price: float = PRICE

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Memberships by counts of paths."""
        counting = _Counting(graph, self.price, {})
        rows = [_membership(counting.of(query)) for query in queries]
        return torch.from_numpy(np.stack(rows) if rows else np.zeros((0, graph.num_entities))).float()

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """Probabilities from how often a relation leads to an entity; known facts are certain."""
        return EdgeType().estimate(graph, queries)


@dataclass(frozen=True)
class _Counting:
    """Counts of sub-queries on one graph; each is made once."""

    graph: KnowledgeGraph
    price: float
    made: dict[Query, RelaxedCounts]

    def of(self, query: Query) -> RelaxedCounts:
        if query not in self.made:
            check_stop()
            self.made[query] = self._counted(query)
        return self.made[query]

    def _counted(self, query: Query) -> RelaxedCounts:
        match query:
            case Project():
                return self._projected(self.of(query.source), int(query.relation))
            case And():
                return reduce(self._both, map(self.of, query.parts))
            case Or():
                return reduce(_either, map(self.of, query.parts))
            case Not():
                return self._without(self.of(query.part))
            case _:
                return self._leaf(query)

    def _leaf(self, query: Query) -> RelaxedCounts:
        known = np.zeros(self.graph.num_entities, bool)
        match query:
            case Anchor():
                known[int(query.entity)] = True
            case Given():
                known[query.members.ids] = True
            case Anything():
                known[:] = True
            case Loop():
                sources, targets = self.graph.edges_from(int(query.relation))
                known[sources[sources == targets]] = True
        return RelaxedCounts(known.astype(np.float64), known, 0 if isinstance(query, Anything) else 1)

    def _projected(self, source: RelaxedCounts, relation: int) -> RelaxedCounts:
        graph, size = self.graph, self.graph.num_entities
        starts, ends = graph.edges_from(relation)
        ways = np.bincount(ends, source.ways[starts] + self.price**source.constraints, size)
        near = np.bincount(graph.tails, source.ways[graph.heads], size)
        near += np.bincount(graph.heads, source.ways[graph.tails], size)
        reached = np.zeros(size, bool)
        reached[ends] = True
        known = np.zeros(size, bool)
        known[ends[source.known[starts]]] = True
        return RelaxedCounts(ways + self.price * near * reached, known, source.constraints + 1)

    def _both(self, one: RelaxedCounts, other: RelaxedCounts) -> RelaxedCounts:
        first, second = (each.ways + self.price**each.constraints for each in (one, other))
        return RelaxedCounts(first * second, one.known & other.known, one.constraints + other.constraints)

    def _without(self, part: RelaxedCounts) -> RelaxedCounts:
        ways = np.where(part.known, self.price**part.constraints, 1.0)
        return RelaxedCounts(ways, ~part.known, part.constraints)


def _either(one: RelaxedCounts, other: RelaxedCounts) -> RelaxedCounts:
    return RelaxedCounts(one.ways + other.ways, one.known | other.known, max(one.constraints, other.constraints))


def _membership(counted: RelaxedCounts) -> Numbers:
    shares = (1 - KNOWN) * counted.ways / (1 + counted.ways)
    return shares + KNOWN * counted.known
