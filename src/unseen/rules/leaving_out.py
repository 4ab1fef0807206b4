"""Facts asked for as if they were not there: the evidence for each, beside that for the best other candidates."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.rules.evidence import BEST, FEATURES, FROM, NUM, PATHS, SECOND, TO, features_of, forget
from unseen.rules.firing import fire_all
from unseen.rules.lookups import is_in_row, mixed, row_of, sampled_place


@compiled
@no_type_check
def hidden_examples(adjacency, index, sources, relations, targets, budgets, most, state):
    """Features of candidates for each fact, hidden, its target first: of the best, and of an even sample of the rest.

    Also for how many candidates each stands, as a logarithm, and how many candidates each fact has; none if no rule led
    to the target.
    """
    rows, lengths = np.zeros((len(sources), most, FEATURES), np.float32), np.zeros(len(sources), np.int64)
    stands_for = np.zeros((len(sources), most))
    best = most // 2
    for fact in range(len(sources)):
        source, relation, hidden = sources[fact], relations[fact], targets[fact]
        fire_all(adjacency, index, source, relation, hidden, budgets, state)
        target = state.slots[hidden] - 1
        if target >= 0 and source != hidden:
            others, count = _unknown_others(adjacency, source, relation, hidden, state)
            features_of(state.evidence[target], rows[fact, 0])
            lengths[fact] = min(count, most - 1) + 1
            rest, own_salt = most - 1 - best, mixed(np.uint64(source) << np.uint64(32) | np.uint64(hidden))
            for number in range(lengths[fact] - 1):
                slot = others[number]
                if count > most - 1 and number >= best:
                    slot = others[best + sampled_place(count - best, rest, number - best, own_salt)]
                    stands_for[fact, number + 1] = np.log((count - best) / rest)
                features_of(state.evidence[slot], rows[fact, number + 1])
        forget(state)
    return rows, stands_for, lengths


@inner
@no_type_check
def _unknown_others(adjacency, source, relation, hidden, state):
    """Slots of the other candidates that the graph does not know, the best first, and how many there are."""
    row = row_of(adjacency, source, relation)
    own = state.evidence[: state.numbers[NUM]]
    order = np.argsort(-(own[:, BEST] + own[:, SECOND] + 0.1 * (own[:, PATHS] + own[:, TO] + own[:, FROM])))
    others, count = np.empty(len(order), np.int32), 0
    for slot in order:
        z = state.entities[slot]
        if z != hidden and not (row >= 0 and is_in_row(adjacency, row, z)):
            others[count] = slot
            count += 1
    return others, count
