"""Rules at work: from one source and a relation to everything that a rule leads to.

Rules over paths are mined beforehand and fire in order of confidence until a budget of edges is spent. Rules with
constants are counted when they are needed, from the properties of the source or of its known targets: there are too
many of them to keep, and few that a question touches. Cost: the edges touched, whatever the size of the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.rules.evidence import AGAIN, DEGREE, LINK_ODDS, LINKS, SOURCES, SURE, note_rule
from unseen.rules.lookups import NONE, first_edge, place_near, row_of, sampled_place
from unseen.rules.tally import EMPTY, grown, new_tally, slot_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ids = NDArray[np.int32]
    Places = NDArray[np.int64]
    Values = NDArray[np.float32]

PROPERTIES, MEMBERS, KNOWN, FROM_BUDGET = 100, 200, 50, 20_000
"""Of one entity so many properties are looked at, of a property so many entities that have it, of a source so many
known targets; and rules that start from the source as a constant stop after so many candidates."""
LEAST = 2
"""Entities for which a rule with constants must hold."""
FIRST_HUB, HUB = 1000, 5000
"""Targets of one step that are followed, and ends of one rule that are reached."""
TO_BUDGET, MOST_LOOKS = 400_000, 400_000
"""Edges of others that rules to constants touch for one source, and places where rules over paths look for an edge."""
STRIDE = 1_000_003
"""A prime: its multiples visit all properties of a source, spread out."""


class RuleIndex(NamedTuple):
    """The rules of a graph by what makes them fire."""

    smoothing: float
    path_keys: Places
    """Distinct head * relations + first relation, ascending; their rules are `path_offsets[i]` ... `[i + 1]`."""
    path_offsets: Places
    path_steps: Ids
    path_support: Values
    path_pairs: Values
    path_weight: Values
    prior_offsets: Places
    prior_entity: Ids
    prior_count: Values
    num_sources: Values
    """By directed relation: how many entities have it."""
    link_keys: Places
    """Head * relations + other relation, ascending, where both link some pair."""
    link_support: Values
    num_facts: Values
    loops: Values
    """By directed relation: how many entities it links to themselves."""


@compiled
@no_type_check
def _found(keys, key):
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < len(keys) and keys[low] == key:
        return low
    return NONE


@compiled
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
        found = _found(index.path_keys, np.int64(relation) * base + own)
        if found < 0:
            continue
        begin, end = index.path_offsets[found], index.path_offsets[found + 1]
        while count + end - begin > len(weights):
            weights, numbers = _doubled(weights), _doubled(numbers)
        for rule in range(begin, end):
            weights[count], numbers[count] = index.path_weight[rule], rule
            count += 1
    return weights, numbers, count


@compiled
@no_type_check
def _doubled(values):
    more = np.empty(2 * len(values), values.dtype)
    more[: len(values)] = values
    return more


@compiled
@no_type_check
def _weight_without(support, pairs, smoothing):
    """The weight of a rule that has lost one of its facts."""
    return -np.log1p(-min((support - 1) / (pairs - 1 + smoothing), SURE)) if support > 1 else 0.0


@compiled
@no_type_check
def fire_all(adjacency, index, source, relation, hidden, budget, state):
    """Let all rules fire from a source; candidates and their evidence are left in the state.

    With a `hidden` target the fact (source, relation, hidden) counts as unknown: no walk uses it, and each rule counts
    for that target as it would without it.
    """
    evidence, touched, num_touched = state[0], state[1], state[2]
    _fire_paths(adjacency, index, source, relation, hidden, budget, state)
    _fire_to_constants(adjacency, index, source, relation, hidden, state)
    _fire_from_constants(adjacency, index, source, relation, hidden, state)
    smoothing, total = index.smoothing, index.num_sources[relation]
    for place in range(index.prior_offsets[relation], index.prior_offsets[relation + 1]):
        z = index.prior_entity[place]
        share = index.prior_count[place] - (1 if z == hidden else 0)
        if share > 0 and z != source:
            note_rule(z, -np.log1p(-share / (total + smoothing)), 3, evidence, touched, num_touched)
    if index.loops[relation] > 0:
        weight = -np.log1p(-index.loops[relation] / (total + smoothing))
        note_rule(source, weight, 0, evidence, touched, num_touched)
    _note_links(adjacency, index, source, relation, hidden, state)
    for place in range(num_touched[0]):
        z = touched[place]
        less = 1 if z == hidden else 0
        row = row_of(adjacency, z, relation ^ 1)
        if row >= 0:
            evidence[z, SOURCES] = adjacency.row_edges[row + 1] - adjacency.row_edges[row] - less
        evidence[z, DEGREE] = first_edge(adjacency, z + 1) - first_edge(adjacency, z) - less


@compiled
@no_type_check
def _fire_paths(adjacency, index, source, relation, hidden, budget, state):
    evidence, touched, num_touched, stamp = state[0], state[1], state[2], state[3]
    weights, numbers, count = _gather(
        adjacency, index, source, relation, hidden, np.empty(256, np.float32), np.empty(256, np.int64)
    )
    order = np.argsort(-weights[:count])
    mark = stamp[-1]
    work, looks = 0, 0
    for place in order:
        rule, weight = numbers[place], weights[place]
        mark += 1
        ends = 0
        hidden_weight = weight
        if hidden >= 0:
            hidden_weight = _weight_without(index.path_support[rule], index.path_pairs[rule], index.smoothing)
        first = index.path_steps[rule, 0]
        second, third = index.path_steps[rule, 1], index.path_steps[rule, 2]
        row = row_of(adjacency, source, first)
        low, high = adjacency.row_edges[row], adjacency.row_edges[row + 1]
        for edge in range(low, min(high, low + FIRST_HUB)):
            y = adjacency.targets[edge]
            if y == source or (first == relation and y == hidden):
                continue
            if second < 0:
                ends += 1
                own = hidden_weight if y == hidden else weight
                if own > 0:
                    note_rule(y, own, 0, evidence, touched, num_touched)
                continue
            row2 = row_of(adjacency, y, second)
            looks += 1
            if row2 < 0:
                continue
            low2 = adjacency.row_edges[row2]
            for edge2 in range(low2, min(adjacency.row_edges[row2 + 1], low2 + HUB)):
                w = adjacency.targets[edge2]
                ends += 1
                if w == source or w == y:
                    continue
                if third < 0:
                    own = hidden_weight if w == hidden else weight
                    if stamp[w] != mark:
                        stamp[w] = mark
                        if own > 0:
                            note_rule(w, own, 0, evidence, touched, num_touched)
                    else:
                        evidence[w, AGAIN] += own
                    continue
                row3 = row_of(adjacency, w, third)
                looks += 1
                if row3 < 0:
                    continue
                low3 = adjacency.row_edges[row3]
                for edge3 in range(low3, min(adjacency.row_edges[row3 + 1], low3 + HUB)):
                    z = adjacency.targets[edge3]
                    ends += 1
                    if z == source or z == y or z == w:
                        continue
                    own = hidden_weight if z == hidden else weight
                    if stamp[z] != mark:
                        stamp[z] = mark
                        if own > 0:
                            note_rule(z, own, 0, evidence, touched, num_touched)
                    else:
                        evidence[z, AGAIN] += own
                if ends > HUB:
                    break
            if ends > HUB:
                break
        work += ends
        if work > budget or looks > MOST_LOOKS:
            break
    stamp[-1] = mark


@compiled
@no_type_check
def _fire_to_constants(adjacency, index, source, relation, hidden, state):
    """Rules r(x, c) <- a(x, d), counted as they are needed: what others with a property of the source lead to."""
    evidence, touched, num_touched, _stamp, tally = state
    reached = np.empty(256, np.int32)
    edges = _properties(adjacency, source)
    stride, work = (STRIDE if len(edges) % STRIDE else 1), 0
    for turn in range(len(edges)):
        edge = edges[turn * stride % len(edges)]
        body = adjacency.back_row[edge]
        if adjacency.row_relation[body] == relation ^ 1 and adjacency.targets[edge] == hidden:
            continue
        begin, total = adjacency.row_edges[body], adjacency.row_edges[body + 1] - adjacency.row_edges[body]
        drawn = min(total, MEMBERS)
        count = 0
        for member in range(drawn):
            other = adjacency.targets[begin + sampled_place(total, drawn, member, np.uint64(body))]
            work += 1
            if other == source:
                continue
            found = row_of(adjacency, other, relation)
            if found < 0:
                continue
            first = adjacency.row_edges[found]
            for place in range(first, min(adjacency.row_edges[found + 1], first + MEMBERS)):
                z = adjacency.targets[place]
                work += 1
                if tally[z] == 0:
                    if count == len(reached):
                        reached = _doubled(reached)
                    reached[count] = z
                    count += 1
                tally[z] += 1
        for place in range(count):
            z = reached[place]
            if z != source and z != adjacency.targets[edge] and tally[z] >= LEAST:
                confidence = tally[z] * (total / drawn) / (total - 1 + index.smoothing)
                note_rule(z, -np.log1p(-min(confidence, SURE)), 1, evidence, touched, num_touched)
            tally[z] = 0
        if work > TO_BUDGET:
            break


@compiled
@no_type_check
def _properties(adjacency, source):
    """Edges of a source, of each relation `PROPERTIES` at most."""
    first, last = adjacency.entity_rows[source], adjacency.entity_rows[source + 1]
    count = 0
    for row in range(first, last):
        count += min(adjacency.row_edges[row + 1] - adjacency.row_edges[row], PROPERTIES)
    edges = np.empty(count, np.int64)
    count = 0
    for row in range(first, last):
        low, size = adjacency.row_edges[row], adjacency.row_edges[row + 1] - adjacency.row_edges[row]
        looked = min(size, PROPERTIES)
        for number in range(looked):
            edges[count] = low + sampled_place(size, looked, number, np.uint64(source))
            count += 1
    return edges


@compiled
@no_type_check
def _fire_from_constants(adjacency, index, source, relation, hidden, state):
    """Rules r(c, z) <- a(z, d) of the source as c, counted as they are needed: what its known targets share."""
    evidence, touched, num_touched = state[0], state[1], state[2]
    row = row_of(adjacency, source, relation)
    if row < 0:
        return
    begin, size = adjacency.row_edges[row], adjacency.row_edges[row + 1] - adjacency.row_edges[row]
    drawn = min(size, KNOWN)
    keys, counts, last = new_tally(256)
    used = 0
    for number in range(drawn):
        known = adjacency.targets[begin + sampled_place(size, drawn, number, np.uint64(row))]
        if known == hidden:
            continue
        low, high = first_edge(adjacency, known), first_edge(adjacency, known + 1)
        looked = min(high - low, PROPERTIES)
        for i in range(looked):
            edge = low + sampled_place(high - low, looked, i, np.uint64(known))
            body = np.int64(adjacency.back_row[edge])
            if body == row or adjacency.targets[edge] == source:
                continue
            slot = slot_of(keys, body)
            if keys[slot] == EMPTY:
                keys[slot] = body
                used += 1
            counts[slot] += 1.0
            if 2 * used > len(keys):
                keys, counts, last = grown(keys, counts, last)
    scale = size / max(1, drawn)
    slots, confidences = np.empty(used, np.int64), np.empty(used)
    chosen = 0
    for slot in range(len(keys)):
        if keys[slot] == EMPTY or counts[slot] < LEAST:
            continue
        total = adjacency.row_edges[keys[slot] + 1] - adjacency.row_edges[keys[slot]]
        slots[chosen] = slot
        confidences[chosen] = min(counts[slot] * scale, total) / (total + index.smoothing)
        chosen += 1
    work = 0
    for i in np.argsort(-confidences[:chosen]):
        body = keys[slots[i]]
        low, high = adjacency.row_edges[body], adjacency.row_edges[body + 1]
        weight = -np.log1p(-min(confidences[i], SURE))
        for edge in range(low, min(high, low + HUB)):
            z = adjacency.targets[edge]
            if z != source:
                note_rule(z, weight, 2, evidence, touched, num_touched)
        work += high - low
        if work > FROM_BUDGET:
            break


@compiled
@no_type_check
def _note_links(adjacency, index, source, relation, hidden, state):
    """For candidates that other relations link to the source: how well those go together with the relation."""
    evidence, touched, num_touched = state[0], state[1], state[2]
    base = np.int64(len(adjacency.relation_rows) - 1)
    end = first_edge(adjacency, source + 1)
    for number in range(num_touched[0]):
        z = touched[number]
        place = place_near(adjacency, source, z)
        while 0 <= place < end and adjacency.near[place] == z:
            own = adjacency.near_relation[place]
            place += 1
            if own == relation:
                continue
            found = _found(index.link_keys, np.int64(relation) * base + own)
            support = index.link_support[found] if found >= 0 else 0.0
            less = 1.0 if z == hidden and support >= 1 else 0.0
            evidence[z, LINKS] += 1
            evidence[z, LINK_ODDS] += np.log((support - less + 0.5) / (index.num_facts[own] - less + 5.0))
