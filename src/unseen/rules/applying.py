"""Rules on fuzzy sets: from the members of a set to the probabilities of everything that rules lead to."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.rules.evidence import FEATURES, features_of, forget, new_state
from unseen.rules.firing import fire_all
from unseen.rules.lookups import NONE


@compiled
@no_type_check
def project_rows(low, high, adjacency, index, offsets, members, degrees, relations, budgets, weights, out):
    """For rows from `low` to before `high`: the largest membership times probability over the members of a row.

    Members of row i are `members[offsets[i]:offsets[i + 1]]`, with their degrees of membership; `budgets[i]` is the
    number of edges that each of them may touch.
    """
    coefficients, calibration = weights
    state = new_state(len(adjacency.entity_rows) - 1)
    evidence, touched, num_touched = state[0], state[1], state[2]
    features = np.empty(FEATURES)
    for row in range(low, high):
        relation = relations[row]
        for place in range(offsets[row], offsets[row + 1]):
            fire_all(adjacency, index, members[place], relation, NONE, budgets[row], state)
            for number in range(num_touched[0]):
                z = touched[number]
                features_of(evidence[z], features)
                score = 0.0
                for feature in range(FEATURES):
                    score += coefficients[relation, feature] * features[feature]
                logit = calibration[relation, 0] * score + calibration[relation, 1]
                value = degrees[place] / (1 + np.exp(-logit))
                out[row, z] = max(out[row, z], value)
            forget(state)
