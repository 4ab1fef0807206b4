"""Rules over paths that fire from a source: the most confident first, until enough edges are touched."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.bisecting import place_in
from unseen.graph.compiling import inner
from unseen.rules.evidence import AGAIN, MARK, SURE, add_rule, slot_of_candidate
from unseen.rules.lookups import row_of
from unseen.rules.tally import doubled

FIRST_HUB, HUB = 1000, 5000
"""Targets of one step that are followed, and ends of one rule that are reached."""
MOST_LOOKS = 400_000
"""Places where rules over paths look for an edge, for one source."""


@inner
@no_type_check
def fire_paths(adjacency, index, source, relation, hidden, budget, state):
    """Let rules over paths fire until `budget` ends are reached; no path uses the hidden fact."""
    weights, numbers, count = _gather(
        adjacency, index, source, relation, hidden, np.empty(256), np.empty(256, np.int64)
    )
    work, looks = 0, 0
    for place in np.argsort(-weights[:count]):
        rule, weight = numbers[place], weights[place]
        hidden_weight = weight
        if hidden >= 0:
            hidden_weight = _weight_without(index.path_support[rule], index.path_pairs[rule], index.smoothing)
        state.numbers[MARK] += 1
        steps, asked = index.path_steps[rule], (source, relation, hidden, np.float64(weight), np.float64(hidden_weight))
        ends, looked = _follow_first(adjacency, steps, asked, state)
        work += ends
        looks += looked
        if work > budget or looks > MOST_LOOKS:
            break


@inner
@no_type_check
def _follow_first(adjacency, steps, asked, state):
    """Follow a rule from its source; how many ends were reached, and how many rows were looked for."""
    source, relation, hidden, _, _ = asked
    row = row_of(adjacency, source, steps[0])
    low, high = adjacency.row_edges[row], adjacency.row_edges[row + 1]
    ends, looks = 0, 0
    for edge in range(low, min(high, low + FIRST_HUB)):
        y = adjacency.targets[edge]
        if y == source or (steps[0] == relation and y == hidden):
            continue
        if steps[1] < 0:
            ends += 1
            _note_end(y, asked, state)
            continue
        more_ends, more_looks = _follow_second(adjacency, steps, asked, y, HUB - ends, state)
        ends += more_ends
        looks += more_looks
        if ends > HUB:
            break
    return ends, looks


@inner
@no_type_check
def _follow_second(adjacency, steps, asked, y, most, state):
    """Follow a rule from its second entity until `most` ends are reached."""
    row = row_of(adjacency, y, steps[1])
    if row < 0:
        return 0, 1
    source, low = asked[0], adjacency.row_edges[row]
    ends, looks = 0, 1
    for edge in range(low, min(adjacency.row_edges[row + 1], low + HUB)):
        w = adjacency.targets[edge]
        ends += 1
        if w == source or w == y:
            continue
        if steps[2] < 0:
            _note_end(w, asked, state)
            continue
        looks += 1
        ends += _follow_third(adjacency, steps, asked, y, w, state)
        if ends > most:
            break
    return ends, looks


@inner
@no_type_check
def _follow_third(adjacency, steps, asked, y, w, state):
    """Follow a rule from its third entity; how many ends were reached."""
    row = row_of(adjacency, w, steps[2])
    if row < 0:
        return 0
    low = adjacency.row_edges[row]
    high = min(adjacency.row_edges[row + 1], low + HUB)
    for edge in range(low, high):
        z = adjacency.targets[edge]
        if z != asked[0] and z != y and z != w:
            _note_end(z, asked, state)
    return high - low


@inner
@no_type_check
def _note_end(z, asked, state):
    """Note that a rule leads to z; each further path of the same rule is noted as such."""
    _, _, hidden, weight, hidden_weight = asked
    own = hidden_weight if z == hidden else weight
    if own <= 0:
        return
    slot = slot_of_candidate(z, state)
    if slot < 0:
        return
    if state.marks[slot] == state.numbers[MARK]:
        state.evidence[slot, AGAIN] += own
    else:
        state.marks[slot] = state.numbers[MARK]
        add_rule(state.evidence[slot], own, 0)


@inner
@no_type_check
def _gather(adjacency, index, source, relation, hidden, weights, numbers):
    """Weights and numbers of the path rules that may fire, in arrays that grow as needed, and how many there are."""
    count = 0
    base = np.int64(len(adjacency.relation_rows) - 1)
    for row in range(adjacency.entity_rows[source], adjacency.entity_rows[source + 1]):
        own = adjacency.row_relation[row]
        low, high = adjacency.row_edges[row], adjacency.row_edges[row + 1]
        if own == relation and high - low == 1 and adjacency.targets[low] == hidden:
            continue
        found = place_in(index.path_keys, 0, len(index.path_keys), np.int64(relation) * base + own)
        if found < 0:
            continue
        begin, end = index.path_offsets[found], index.path_offsets[found + 1]
        while count + end - begin > len(weights):
            weights, numbers = doubled(weights), doubled(numbers)
        for rule in range(begin, end):
            weights[count], numbers[count] = index.path_weight[rule], rule
            count += 1
    return weights, numbers, count


@inner
@no_type_check
def _weight_without(support, pairs, smoothing):
    """The weight of a rule that has lost one of its facts."""
    return -np.log1p(-min((support - 1) / (pairs - 1 + smoothing), SURE)) if support > 1 else 0.0
