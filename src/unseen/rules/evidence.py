"""What speaks for a candidate: sums and extremes of the weights of its rules, and the features made of them.

A rule's weight is -log(1 - confidence), so that a sum of weights is a noisy-or. No sum depends on the order in which
rules fire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.compiling import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

BEST, SECOND, THIRD, PATHS, TO, FROM, PRIOR, AGAIN, RULES, LINKS, LINK_ODDS, BEST_PATH = range(12)
SOURCES, DEGREE, REVERSED = 16, 17, 18
EVIDENCE = 19
"""Kinds of evidence: the weights of the best three rules; sums of weights of rules of each kind; weights of further
groundings of rules; how many rules fired; how many other relations link source and candidate, and the sum of their log
confidences; the best rule of each kind; from how many sources the relation leads to the candidate; its edges; the log
confidence with which the relation goes both ways, where it is known to lead from the candidate to the source."""
FEATURES = 24
IS_LINKED, LINK_FEATURES = 14, (11, 12, 14)
"""Features of other relations between source and candidate."""
SURE = 0.999
"""The largest confidence that a rule counts with."""


MOST_CANDIDATES = 1 << 18
"""Candidates of one source that evidence is noted for; budgets end firing before there are so many."""
NUM, MARK = 0, 1


class State(NamedTuple):
    """What firing writes in: 8 bytes an entity, and the evidence of those that rules lead to, which is few pages."""

    slots: NDArray[np.int32]
    """By entity: one more than its slot; 0 if it is not a candidate."""
    counts: NDArray[np.int32]
    """By entity, for whoever counts and clears again."""
    entities: NDArray[np.int32]
    """By slot."""
    evidence: NDArray[np.float64]
    """[slot, kind]"""
    marks: NDArray[np.int64]
    """By slot: the last rule that led there."""
    numbers: NDArray[np.int64]
    """How many slots are taken, and the latest mark."""


def new_state(num_entities: int) -> State:
    """A state without candidates."""
    size = min(num_entities, MOST_CANDIDATES)
    by_entity = np.zeros(num_entities, np.int32), np.zeros(num_entities, np.int32)
    entities, evidence, marks = np.empty(size, np.int32), np.empty((size, EVIDENCE)), np.empty(size, np.int64)
    return State(*by_entity, entities, evidence, marks, np.zeros(2, np.int64))


@inner
@no_type_check
def slot_of_candidate(z, state):
    """The slot of a candidate, which is given one if it has none; -1 if there are too many."""
    slot = state.slots[z] - 1
    if slot < 0:
        slot = state.numbers[NUM]
        if slot == len(state.entities):
            return -1
        state.numbers[NUM] += 1
        state.slots[z], state.entities[slot], state.marks[slot] = slot + 1, z, 0
        state.evidence[slot] = 0.0
    return slot


@inner
@no_type_check
def note_rule(z, weight, kind, state):
    """Note that a rule of some kind (0 path, 1 to a constant, 2 from a constant, 3 prior) leads to z."""
    slot = slot_of_candidate(z, state)
    if slot >= 0:
        add_rule(state.evidence[slot], weight, kind)


@inner
@no_type_check
def add_rule(own, weight, kind):
    """Add a rule to the evidence of a candidate."""
    own[RULES] += 1
    own[PATHS + kind] += weight
    own[BEST_PATH + kind] = max(own[BEST_PATH + kind], weight)
    if weight > own[THIRD]:
        if weight > own[SECOND]:
            own[THIRD] = own[SECOND]
            if weight > own[BEST]:
                own[SECOND], own[BEST] = own[BEST], weight
            else:
                own[SECOND] = weight
        else:
            own[THIRD] = weight


@inner
@no_type_check
def forget(state):
    """Clear the evidence of one source."""
    for slot in range(state.numbers[NUM]):
        state.slots[state.entities[slot]] = 0
    state.numbers[NUM] = 0


@inner
@no_type_check
def features_of(own, features):
    """The evidence of one candidate on the scales on which it adds up."""
    features[0] = np.log(1e-6 - np.expm1(-own[BEST]))
    features[1] = own[BEST]
    features[2] = own[SECOND]
    features[3] = own[THIRD]
    features[4] = np.log1p(own[PATHS])
    features[5] = np.log1p(own[TO])
    features[6] = np.log1p(own[FROM])
    features[7] = np.log1p(100 * own[PRIOR])
    features[8] = own[BEST_PATH]
    features[9] = np.log1p(own[AGAIN])
    features[10] = np.log1p(own[RULES])
    features[11] = own[LINKS]
    features[12] = own[LINK_ODDS]
    features[13] = np.log1p(own[PATHS] + own[TO] + own[FROM])
    features[14] = 1.0 if own[LINKS] > 0 else 0.0
    features[15] = own[BEST_PATH + 1]
    features[16] = own[BEST_PATH + 2]
    features[17] = np.log(1e-6 - np.expm1(-own[BEST_PATH]))
    features[18] = np.log(1e-4 + own[TO])
    features[19] = np.log(1e-4 + own[FROM])
    features[20] = np.log1p(own[SOURCES])
    features[21] = 1.0 if own[SOURCES] > 0 else 0.0
    features[22] = np.log1p(own[DEGREE])
    features[23] = own[REVERSED]
