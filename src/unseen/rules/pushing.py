"""Which entities matter for a source set: personalised PageRank by forward push, at question time.

A walk starts at a member of the set, follows a random edge or, with probability `RESTART`, ends. How often it ends at an
entity is the mass of that entity. It is pushed outwards from the set: an entity hands on what it holds if that is at
least `tolerance` for each of its edges, so a hub hands on only what is worth its many edges. The tolerance falls from
round to round until enough entities are touched or enough edges looked at. Cost: these edges, whatever the size of the
graph. Nothing is drawn at random; a node with more than `WIDE` edges hands on along an even sample of each relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.lookups import first_edge, mixed, sampled_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency

    Ids = NDArray[np.int32]
    Masses = NDArray[np.float64]

RESTART = 0.2
FIRST_TOLERANCE, FALL, ROUNDS = 1e-3, 4.0, 10
WIDE, SAMPLE = 2048, 256
"""Edges from which on a node is sampled, and edges of each of its relations that are followed then."""
FREE = -1


class Limits(NamedTuple):
    """When pushing ends; a named tuple, because compiled loops take it as it is."""

    touched: int
    """Entities that may hold any mass."""
    edges: int
    """Edges that may be looked at."""


def pushed(adjacency: Adjacency, sources: Ids, masses: Masses, limits: Limits) -> tuple[Ids, Masses]:
    """The touched entities and the mass of each: the sources first, then in the order in which they were met."""
    if not len(sources):
        return np.empty(0, np.int32), np.empty(0)
    found: tuple[Ids, Masses] = _pushed(
        adjacency, sources.astype(np.int32), masses / masses.sum(), limits.touched, limits.edges
    )
    return found


@inner
@no_type_check
def place_of_key(keys, key):
    """The place of a key in a table with free places, or the free place where it belongs; the size is a power of 2."""
    last = len(keys) - 1
    place = np.int64(mixed(np.uint64(key)) & np.uint64(last))
    while keys[place] != key and keys[place] != FREE:
        place = (place + 1) & last
    return place


@inner
@no_type_check
def table_size(count):
    """The size of a table that stays half empty with so many keys."""
    size = 16
    while size < 2 * count:
        size *= 2
    return size


@compiled
@no_type_check
def _pushed(adjacency, sources, masses, most, budget):
    keys = np.full(table_size(most), FREE, np.int32)
    columns = np.empty(most, np.int32), np.empty(most), np.zeros(most)  # entities, their degrees, what they hold
    table = (keys, np.empty(len(keys), np.int32), *columns)
    entities, degrees, held = columns
    kept, queue, waits = np.zeros(most), np.empty(most, np.int32), np.zeros(most, np.bool_)
    tolerance, looked, line = FIRST_TOLERANCE, 0, (queue, waits)
    state = np.zeros(3, np.int64)  # slots taken, the first in the queue, how many wait in it
    for number in range(len(sources)):
        _give(adjacency, table, sources[number], masses[number], state)
    for _ in range(ROUNDS):
        for slot in range(state[0]):
            if held[slot] >= tolerance * degrees[slot]:
                _wait(line, slot, state)
        while state[2] and looked < budget and state[0] < most:
            slot = queue[state[1]]
            state[1] = state[1] + 1 if state[1] + 1 < most else 0
            state[2] -= 1
            waits[slot] = False
            kept[slot] += RESTART * held[slot]
            mass, held[slot] = (1 - RESTART) * held[slot], 0.0
            looked += _hand_on(adjacency, table, line, slot, mass, state, tolerance)
        if looked >= budget or state[0] >= most:
            break
        tolerance /= FALL
    count = state[0]
    return entities[:count].copy(), kept[:count] + RESTART * held[:count]


@inner
@no_type_check
def _give(adjacency, table, entity, mass, state):
    """Add mass to an entity, which gets a slot if it has none and one is left; its slot, or -1."""
    keys, slots, entities, degrees, held = table
    place = place_of_key(keys, entity)
    if keys[place] == FREE:
        slot = state[0]
        if slot == len(entities):
            return -1
        keys[place], slots[place], entities[slot] = entity, slot, entity
        degrees[slot] = max(1, first_edge(adjacency, entity + 1) - first_edge(adjacency, entity))
        state[0] += 1
    slot = slots[place]
    held[slot] += mass
    return slot


@inner
@no_type_check
def _wait(line, slot, state):
    """Put a slot at the end of the queue."""
    queue, waits = line
    place = state[1] + state[2]
    queue[place if place < len(queue) else place - len(queue)] = slot
    waits[slot] = True
    state[2] += 1


@inner
@no_type_check
def _hand_on(adjacency, table, line, slot, mass, state, tolerance):
    """Give the neighbours of a node their shares; how many edges were looked at."""
    entity, degree = table[2][slot], table[3][slot]
    share, looked = mass / degree, 0
    if degree <= WIDE:
        begin, end = first_edge(adjacency, entity), first_edge(adjacency, entity + 1)
        for edge in range(begin, end):
            _share(adjacency, table, line, adjacency.near[edge], share, state, tolerance)
        return end - begin
    for row in range(adjacency.entity_rows[entity], adjacency.entity_rows[entity + 1]):
        begin, size = adjacency.row_edges[row], adjacency.row_edges[row + 1] - adjacency.row_edges[row]
        wanted = min(size, SAMPLE)
        for number in range(wanted):
            target = adjacency.targets[begin + sampled_place(size, wanted, number, row)]
            _share(adjacency, table, line, target, share, state, tolerance)
        looked += wanted
    return looked


@inner
@no_type_check
def _share(adjacency, table, line, entity, share, state, tolerance):
    """Give one neighbour its share, and let it wait for its turn if it now holds enough."""
    slot = _give(adjacency, table, entity, share, state)
    if slot >= 0 and not line[1][slot] and table[4][slot] >= tolerance * table[3][slot]:
        _wait(line, slot, state)
