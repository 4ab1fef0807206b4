"""Which entities matter for a source set: personalised PageRank by forward push, at question time.

A walk starts at a member of the set, follows a random edge or, with probability `RESTART`, ends. How often it ends at
an entity is the mass of that entity. It is pushed outwards from the set: an entity hands on what it holds if that is at
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
COUNT, FIRST, WAITING = range(3)
"""Slots that are taken, the first place of the queue, and how many wait in it."""


class PushLimits(NamedTuple):
    """When pushing ends; a named tuple, which compiled loops accept."""

    touched: int
    """Entities that may hold any mass."""
    edges: int
    """Edges that may be looked at."""


def pushed(adjacency: Adjacency, sources: Ids, masses: Masses, limits: PushLimits) -> tuple[Ids, Masses]:
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
    entities, degrees, held, kept = np.empty(most, np.int32), np.empty(most), np.zeros(most), np.zeros(most)
    queue, waits = np.empty(most, np.int32), np.zeros(most, np.bool_)
    table, line = (keys, np.empty(len(keys), np.int32), entities, degrees, held), (queue, waits)
    state = np.zeros(3, np.int64)
    tolerance, looked = FIRST_TOLERANCE, 0
    for number in range(len(sources)):
        _receive(adjacency, table, line, sources[number : number + 1], masses[number], state, tolerance)
    for _ in range(ROUNDS):
        while state[WAITING] and looked < budget and state[COUNT] < most:
            slot = queue[state[FIRST]]
            state[FIRST] = state[FIRST] + 1 if state[FIRST] + 1 < most else 0
            state[WAITING] -= 1
            waits[slot] = False
            kept[slot] += RESTART * held[slot]
            share = (1 - RESTART) * held[slot] / degrees[slot]
            held[slot] = 0.0
            targets = _neighbours(adjacency, entities[slot])
            _receive(adjacency, table, line, targets, share, state, tolerance)
            looked += len(targets)
        if looked >= budget or state[COUNT] == most:
            break
        tolerance /= FALL
        state[FIRST] = 0
        for slot in range(state[COUNT]):
            if held[slot] >= tolerance * degrees[slot]:
                queue[state[WAITING]], waits[slot] = slot, True
                state[WAITING] += 1
    count = state[COUNT]
    return entities[:count].copy(), kept[:count] + RESTART * held[:count]


@inner
@no_type_check
def _receive(adjacency, table, line, targets, share, state, tolerance):
    """Give each target a share; one that is new gets a slot, and one that now holds enough waits for its turn."""
    keys, slots, entities, degrees, held = table
    queue, waits = line
    count, first, waiting = state[COUNT], state[FIRST], state[WAITING]
    for entity in targets:
        place = place_of_key(keys, entity)
        if keys[place] == FREE:
            if count == len(entities):
                continue
            keys[place], slots[place], entities[count] = entity, count, entity
            degrees[count] = max(1, first_edge(adjacency, entity + 1) - first_edge(adjacency, entity))
            count += 1
        slot = slots[place]
        held[slot] += share
        if not waits[slot] and held[slot] >= tolerance * degrees[slot]:
            last = first + waiting
            queue[last if last < len(queue) else last - len(queue)] = slot
            waits[slot] = True
            waiting += 1
    state[COUNT], state[WAITING] = count, waiting


@inner
@no_type_check
def _neighbours(adjacency, entity):
    """The targets of all edges of an entity or, if they are many, of an even sample of each relation."""
    begin, end = first_edge(adjacency, entity), first_edge(adjacency, entity + 1)
    if end - begin <= WIDE:
        return adjacency.near[begin:end]
    rows = adjacency.entity_rows[entity], adjacency.entity_rows[entity + 1]
    found, count = np.empty((rows[1] - rows[0]) * SAMPLE, np.int32), 0
    for row in range(rows[0], rows[1]):
        begin, size = adjacency.row_edges[row], adjacency.row_edges[row + 1] - adjacency.row_edges[row]
        wanted = min(size, SAMPLE)
        for number in range(wanted):
            found[count] = adjacency.targets[begin + sampled_place(size, wanted, number, row)]
            count += 1
    return found[:count]
