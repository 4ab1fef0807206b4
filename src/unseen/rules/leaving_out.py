"""Facts asked for as if they were not there: the evidence for each, beside that for the best other candidates."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.rules.compiling import compiled
from unseen.rules.evidence import BEST, FEATURES, FROM, PATHS, RULES, SECOND, TO, features_of, forget, new_state
from unseen.rules.firing import fire_all
from unseen.rules.lookups import row_of


@compiled
@no_type_check
def hidden_examples(adjacency, index, sources, relations, targets, budget, most):
    """Features of the best `most` candidates for each fact, hidden, its target first; zeros where there are fewer.

    Also how many rows each fact has; none if no rule led to the target.
    """
    state = new_state(len(adjacency.entity_rows) - 1)
    evidence, touched, num_touched = state[0], state[1], state[2]
    rows, lengths = np.zeros((len(sources), most, FEATURES)), np.zeros(len(sources), np.int64)
    for fact in range(len(sources)):
        source, relation, hidden = sources[fact], relations[fact], targets[fact]
        fire_all(adjacency, index, source, relation, hidden, budget, state)
        if evidence[hidden, RULES] > 0 and source != hidden:
            row = row_of(adjacency, source, relation)
            low, high = (adjacency.row_edges[row], adjacency.row_edges[row + 1]) if row >= 0 else (0, 0)
            for edge in range(low, high):
                if adjacency.targets[edge] != hidden:
                    evidence[adjacency.targets[edge], BEST] = -1.0
            own = evidence[touched[: num_touched[0]]]
            order = np.argsort(-(own[:, BEST] + own[:, SECOND] + 0.1 * (own[:, PATHS] + own[:, TO] + own[:, FROM])))
            features_of(evidence[hidden], rows[fact, 0])
            filled = 1
            for place in order:
                z = touched[place]
                if filled == most:
                    break
                if z != hidden and evidence[z, BEST] >= 0:
                    features_of(evidence[z], rows[fact, filled])
                    filled += 1
            lengths[fact] = filled
            for edge in range(low, high):
                evidence[adjacency.targets[edge]] = 0.0
        forget(state)
    return rows, lengths
