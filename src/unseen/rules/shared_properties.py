"""Rules with constants that conclude one link: what others with a property of x have.

For a link r(x, c), the members are all entities with r(member, c). Each edge of x is a property; members that share it
are the support of r(x, c) <- a(x, d). Members with any edge of a relation support r(x, c) <- a(x, y). Both are counted
in full: how many entities have a property is the length of a row. x itself is never counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.rules.lookups import NONE, is_in_row, row_of
from unseen.rules.rule_set import SMOOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency

LEAST_SUPPORT = 2
LEAST_ODDS_RATIO = 1.5
"""By how much a property must raise the odds of the head to say anything."""
MOST_LOOKS = 1_000_000
"""Places that are looked at for one link; properties beyond that are left out."""


class SharedProperty(NamedTuple):
    """A body a(x, d), or a(x, y) where `value` is -1."""

    relation: int
    value: int
    example: int
    """d, or one y of x; -1 if x has no such edge, which is only the case where a is the relation of the head."""
    support: int
    pairs: int
    """Other entities that have the property."""

    @property
    def confidence(self) -> float:
        """Support over pairs, smoothed."""
        return self.support / (self.pairs + SMOOTHING)


def shared_properties(adjacency: Adjacency, entity: int, relation: int, constant: int) -> list[SharedProperty]:
    """Properties of an entity that make r(entity, constant) likelier than r(x, constant) is for any x with r.

    The first is how likely that is; the entity need not have the relation itself.
    """
    row = row_of(adjacency, constant, relation ^ 1)
    if row < 0:
        return []
    begin, end = adjacency.row_edges[row], adjacency.row_edges[row + 1]
    members = adjacency.targets[begin:end]
    members = members[members != entity]
    if len(members) < LEAST_SUPPORT:
        return []
    usual = _usual(adjacency, entity, relation, len(members))
    found = [*_valued(adjacency, entity, constant, members), *_unvalued(adjacency, entity, relation, members)]
    least = LEAST_ODDS_RATIO * _odds(usual)
    return [usual, *(one for one in found if one.support >= LEAST_SUPPORT and _odds(one) >= least)]


def _usual(adjacency: Adjacency, entity: int, relation: int, support: int) -> SharedProperty:
    own = row_of(adjacency, entity, relation)
    sources = int(adjacency.relation_rows[relation + 1] - adjacency.relation_rows[relation]) - (own >= 0)
    known = int(adjacency.targets[adjacency.row_edges[own]]) if own >= 0 else NONE
    return SharedProperty(relation, NONE, known, support, sources)


def _odds(found: SharedProperty) -> float:
    return found.confidence / (1 - found.confidence)


def _valued(adjacency: Adjacency, entity: int, constant: int, members: NDArray[np.int32]) -> list[SharedProperty]:
    """Properties a(x, d) of an entity, other than edges to the constant."""
    first, last = adjacency.entity_rows[entity], adjacency.entity_rows[entity + 1]
    edges = np.arange(adjacency.row_edges[first], adjacency.row_edges[last])
    edges = edges[adjacency.targets[edges] != constant]
    bodies = adjacency.back_row[edges]
    sizes = adjacency.row_edges[bodies + 1] - adjacency.row_edges[bodies]
    counts = np.zeros(len(edges), np.int64)
    order = np.argsort(sizes, kind="stable")
    _count_sharing(adjacency, bodies[order], members, counts)
    relations, values = adjacency.row_relation[bodies[order]] ^ 1, adjacency.row_entity[bodies[order]]
    columns = (column.tolist() for column in (relations, values, counts, sizes[order] - 1))
    return [SharedProperty(a, d, d, support, pairs) for a, d, support, pairs in zip(*columns, strict=True)]


def _unvalued(adjacency: Adjacency, entity: int, relation: int, members: NDArray[np.int32]) -> list[SharedProperty]:
    """Properties a(x, y) of an entity, for whatever y; not of the relation itself."""
    rows = np.arange(adjacency.entity_rows[entity], adjacency.entity_rows[entity + 1])
    rows = rows[adjacency.row_relation[rows] != relation]
    relations = adjacency.row_relation[rows]
    counts = np.zeros(len(rows), np.int64)
    _count_having(adjacency, relations, members, counts)
    pairs = adjacency.relation_rows[relations + 1] - adjacency.relation_rows[relations] - 1
    columns = (column.tolist() for column in (relations, adjacency.targets[adjacency.row_edges[rows]], counts, pairs))
    return [SharedProperty(a, NONE, y, support, others) for a, y, support, others in zip(*columns, strict=True)]


@compiled
@no_type_check
def _count_sharing(adjacency, bodies, members, counts):
    """For each row how many of some sorted entities are among its targets."""
    looks = 0
    for place in range(len(bodies)):
        low, high = adjacency.row_edges[bodies[place]], adjacency.row_edges[bodies[place] + 1]
        if high - low <= len(members):
            for edge in range(low, high):
                other = np.searchsorted(members, adjacency.targets[edge])
                if other < len(members) and members[other] == adjacency.targets[edge]:
                    counts[place] += 1
            looks += high - low
        else:
            for member in members:
                if is_in_row(adjacency, bodies[place], member):
                    counts[place] += 1
            looks += len(members)
        if looks > MOST_LOOKS:
            break


@compiled
@no_type_check
def _count_having(adjacency, relations, members, counts):
    """For each directed relation how many of some entities have it."""
    looks = 0
    for place in range(len(relations)):
        for member in members:
            if row_of(adjacency, member, relations[place]) >= 0:
                counts[place] += 1
        looks += len(members)
        if looks > MOST_LOOKS:
            break
