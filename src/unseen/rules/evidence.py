"""What speaks for a candidate: sums and extremes of the weights of its rules, and the features made of them.

A rule's weight is -log(1 - confidence), so that a sum of weights is a noisy-or. No sum depends on the order in which
rules fire.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled

BEST, SECOND, THIRD, PATHS, TO, FROM, PRIOR, AGAIN, RULES, LINKS, LINK_ODDS, BEST_PATH = range(12)
SOURCES, DEGREE = 16, 17
EVIDENCE = 18
"""Kinds of evidence: the weights of the best three rules; sums of weights of rules of each kind; weights of further
groundings of rules; how many rules fired; how many other relations link source and candidate, and the sum of their log
confidences; the best rule of each kind; from how many sources the relation leads to the candidate; its edges."""
FEATURES = 23
IS_LINKED, LINK_FEATURES = 14, (11, 12, 14)
"""Features of other relations between source and candidate."""
SURE = 0.999
"""The largest confidence that a rule counts with."""


@compiled
@no_type_check
def note_rule(z, weight, kind, evidence, touched, num_touched):
    """Note that a rule of some kind (0 path, 1 to a constant, 2 from a constant, 3 prior) leads to z."""
    own = evidence[z]
    if own[RULES] == 0:
        touched[num_touched[0]] = z
        num_touched[0] += 1
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


@compiled
@no_type_check
def new_state(num_entities):
    """What firing writes in: evidence by entity, who has any, how many those are, stamps, counts."""
    touched, num_touched = np.empty(num_entities, np.int32), np.zeros(1, np.int64)
    stamp, tally = np.zeros(num_entities + 1, np.int64), np.zeros(num_entities, np.int32)
    return np.zeros((num_entities, EVIDENCE)), touched, num_touched, stamp, tally


@compiled
@no_type_check
def forget(state):
    """Clear the evidence of one source."""
    evidence, touched, num_touched = state[0], state[1], state[2]
    for place in range(num_touched[0]):
        evidence[touched[place]] = 0.0
    num_touched[0] = 0


@compiled
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
