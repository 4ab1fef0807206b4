"""Rules that fire from one source: what they lead to, and how strongly.

Cost: the edges touched, whatever the size of the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.bisecting import place_in
from unseen.graph.compiling import inner
from unseen.rules.constant_firing import fire_from_constants, fire_to_constants
from unseen.rules.evidence import DEGREE, LINK_ODDS, LINKS, NUM, REVERSED, SOURCES, note_rule
from unseen.rules.lookups import first_edge, place_near, row_of
from unseen.rules.path_firing import fire_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ids = NDArray[np.int32]
    Places = NDArray[np.int64]
    Values = NDArray[np.float32]

BUDGETS = (30_000, 400_000)
"""Edges that rules over paths touch for one source, and edges of others that rules to constants touch."""


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


@inner
@no_type_check
def fire_all(adjacency, index, source, relation, hidden, budgets, state):
    """Let all rules fire from a source; candidates and their evidence are left in the state.

    With a `hidden` target the fact (source, relation, hidden) counts as unknown: no walk uses it, and each rule counts
    for that target as it would without it.
    """
    fire_paths(adjacency, index, source, relation, hidden, budgets[0], state)
    fire_to_constants(adjacency, index, source, relation, hidden, budgets[1], state)
    fire_from_constants(adjacency, index, source, relation, hidden, budgets[0], state)
    _fire_priors(index, source, relation, hidden, state)
    _note_links(adjacency, index, source, relation, hidden, state)
    for slot in range(state.numbers[NUM]):
        z = state.entities[slot]
        less = 1 if z == hidden else 0
        row = row_of(adjacency, z, relation ^ 1)
        if row >= 0:
            state.evidence[slot, SOURCES] = adjacency.row_edges[row + 1] - adjacency.row_edges[row] - less
        state.evidence[slot, DEGREE] = first_edge(adjacency, z + 1) - first_edge(adjacency, z) - less


@inner
@no_type_check
def _fire_priors(index, source, relation, hidden, state):
    """Frequent targets of the relation, and the source itself where the relation has loops."""
    total = index.num_sources[relation] + index.smoothing
    for place in range(index.prior_offsets[relation], index.prior_offsets[relation + 1]):
        z = index.prior_entity[place]
        share = index.prior_count[place] - (1 if z == hidden else 0)
        if share > 0 and z != source:
            note_rule(z, -np.log1p(-share / total), 3, state)
    if index.loops[relation] > 0:
        note_rule(source, -np.log1p(-index.loops[relation] / total), 0, state)


@inner
@no_type_check
def _note_links(adjacency, index, source, relation, hidden, state):
    """For candidates that other relations link to the source: how well those go together with the relation."""
    base = np.int64(len(adjacency.relation_rows) - 1)
    end = first_edge(adjacency, source + 1)
    for slot in range(state.numbers[NUM]):
        z = state.entities[slot]
        place = place_near(adjacency, source, z)
        while 0 <= place < end and adjacency.near[place] == z:
            own = adjacency.near_relation[place]
            place += 1
            if own == relation:
                continue
            found = place_in(index.link_keys, 0, len(index.link_keys), np.int64(relation) * base + own)
            support = index.link_support[found] if found >= 0 else 0.0
            less = 1.0 if z == hidden and support >= 1 else 0.0
            state.evidence[slot, LINKS] += 1
            odds = np.log((support - less + 0.5) / (index.num_facts[own] - less + 5.0))
            state.evidence[slot, LINK_ODDS] += odds
            if own == relation ^ 1:
                state.evidence[slot, REVERSED] = odds
