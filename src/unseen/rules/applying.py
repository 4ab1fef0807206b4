"""Rules on fuzzy sets: from the members of a set to the probabilities of everything that rules lead to."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled
from unseen.rules.evidence import FEATURES, NUM, features_of, forget
from unseen.rules.firing import fire_all
from unseen.rules.lookups import NONE


@compiled
@no_type_check
def predicted_from(adjacency, index, source, relation, budgets, weights, state):
    """Entities that rules lead to from a source, and the probability of each."""
    coefficients, calibration = weights
    hidden = np.int64(NONE)  # not a constant, for which all rules would be compiled once more
    fire_all(adjacency, index, source, relation, hidden, budgets, state)
    count = state.numbers[NUM]
    entities, values = state.entities[:count].copy(), np.empty(count, np.float32)
    features = np.empty(FEATURES)
    for slot in range(count):
        features_of(state.evidence[slot], features)
        score = 0.0
        for feature in range(FEATURES):
            score += coefficients[relation, feature] * features[feature]
        values[slot] = 1 / (1 + np.exp(-calibration[relation, 0] * score - calibration[relation, 1]))
    forget(state)
    return entities, values
