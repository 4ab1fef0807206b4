"""How many targets of a relation a source is expected to miss, from how many targets the sources of a graph have.

Of the facts that hold, a share `MISSING` is taken to be missing at random. Where n(k) sources have k targets, those
with k then miss (k + 1) n(k + 1) / n(k) x MISSING / (1 - MISSING) on average, whatever the true numbers are. So a
source that has its one currency misses none, and a country without a currency, where nearly all have one, misses one.

For sources without targets, n(0) are those like it: what has another relation in common with it, the one of which the
largest share has targets. These miss one target at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from unseen.methods.own_weights.hidden_rows import MISSING
from unseen.rules.adjacency import adjacency_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Floats = NDArray[np.float64]
    Ids = NDArray[np.int64]

ODDS = MISSING / (1 - MISSING)
FEW = 2.0
"""So many sources of no kind are added to each kind."""
NEAR = 1.25
"""Numbers of targets that differ by this factor are counted together."""
LEAST_SINGLE = 0.1
"""The share of sources with one target is taken to be this at least."""
LARGEST_SHARE = 0.999


class Missing(NamedTuple):
    """What each entity has and misses of one relation."""

    missing: NDArray[np.float32]
    """How many targets are expected to be missing."""
    known: NDArray[np.float32]
    """How many there are."""

    def of_set(self, entities: Ids | slice, members: NDArray[np.float32], reached: float) -> float:
        """How many targets that no member has a fuzzy set misses; `reached` is the sum of those that members have.

        Where members share their targets, they also share what they miss: a set of countries on one continent misses
        no second one.
        """
        edges = float(members @ self.known[entities])
        new = min(1.0, reached / edges) if edges > 0 else 1.0
        return new * float(members @ self.missing[entities])


class _Counts(NamedTuple):
    by_known: Floats
    """Missing targets of a source with so many known ones; the last one is for more."""
    single: float
    """The share of sources that have one target."""
    usual: float
    """The share of entities that are sources."""
    shares: Floats
    """The same by directed relation, of the entities that have it; 0 for the relation itself."""


_COUNTED_IN: WeakKeyDictionary[KnowledgeGraph, KnowledgeGraph] = WeakKeyDictionary()
_COUNTS: WeakKeyDictionary[KnowledgeGraph, dict[int, _Counts]] = WeakKeyDictionary()
_MISSING: WeakKeyDictionary[KnowledgeGraph, dict[int, Missing]] = WeakKeyDictionary()


def count_in(graph: KnowledgeGraph, other: KnowledgeGraph) -> None:
    """Take what sources of a graph miss from the numbers of targets in another graph with the same names."""
    _COUNTED_IN[graph] = other


def missing_targets(graph: KnowledgeGraph, relation: int) -> Missing:
    """How many targets of a directed relation each entity has and is expected to miss; found out once."""
    known = _MISSING.setdefault(graph, {})
    if relation not in known:
        counted_in = _COUNTED_IN.get(graph, graph)
        counts = _COUNTS.setdefault(counted_in, {})
        if relation not in counts:
            counts[relation] = _counts(counted_in, relation)
        known[relation] = _missing(graph, relation, counts[relation])
    return known[relation]


def _degrees(graph: KnowledgeGraph, relation: int) -> Ids:
    found: Ids = np.bincount(graph.edges_from(relation)[0], minlength=graph.num_entities)
    return found


def _counts(graph: KnowledgeGraph, relation: int) -> _Counts:
    adjacency, degrees = adjacency_of(graph), _degrees(graph, relation)
    is_source = degrees > 0
    count, entities = int(is_source.sum()), len(graph.connected_entities)
    usual = count / max(1, entities)
    having = np.bincount(adjacency.row_relation, minlength=adjacency.num_relations)
    both = np.bincount(adjacency.row_relation, is_source[adjacency.row_entity], minlength=adjacency.num_relations)
    shares = (both + FEW * usual) / (having + FEW)
    shares[relation] = 0
    numbers = np.bincount(degrees[is_source], minlength=2)
    return _Counts(_missing_by_known(numbers), numbers[1] / max(1, count), usual, shares)


def _missing_by_known(numbers: Ids) -> Floats:
    """`numbers[k]` sources have k targets; of them, those with similar numbers, and one source of the usual kind."""
    known = np.arange(len(numbers) + 1)
    sums = np.append(0, np.cumsum(numbers))
    weighted = np.append(0, np.cumsum(known[:-1] * numbers))
    low, high = np.ceil(known / NEAR).astype(int), np.floor(known * NEAR).astype(int) + 1
    low, high = (np.minimum(end, len(numbers)) for end in (low, high))
    more_low, more_high = (np.minimum(end + 1, len(numbers)) for end in (low, high))
    usual = weighted[-1] / max(1, sums[-1])
    found: Floats = ODDS * (weighted[more_high] - weighted[more_low] + usual) / (sums[high] - sums[low] + 1)
    return found


def _missing(graph: KnowledgeGraph, relation: int, counts: _Counts) -> Missing:
    adjacency, degrees = adjacency_of(graph), _degrees(graph, relation)
    share = np.full(graph.num_entities, counts.usual / 2)
    starts = adjacency.entity_rows[:-1]
    has_rows = np.flatnonzero(np.diff(adjacency.entity_rows))
    if len(has_rows):
        of_rows = counts.shares[adjacency.row_relation]
        share[has_rows] = np.maximum(share[has_rows], np.maximum.reduceat(of_rows, starts[has_rows]))
    share = np.minimum(share, LARGEST_SHARE)
    without = np.minimum(1, ODDS * max(counts.single, LEAST_SINGLE) * share / (1 - share))
    having = counts.by_known[np.minimum(degrees, len(counts.by_known) - 1)]
    return Missing(np.where(degrees > 0, having, without).astype(np.float32), degrees.astype(np.float32))
