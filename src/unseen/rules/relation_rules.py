"""Rules over paths for single relations of a graph, mined when they are first asked for.

To explain an answer takes the rules of the few relations of a question, not those of all: half a second a relation on
FB15k-237. They are kept as long as the graph lives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from unseen.logic.stopping import check_stop
from unseen.rules.adjacency import adjacency_of
from unseen.rules.mining import SAMPLES
from unseen.rules.path_mining import mined_paths
from unseen.rules.rounds import Round

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.rules.rule_set import PathRules, Rules

_KEPT: WeakKeyDictionary[KnowledgeGraph, dict[int, PathRules]] = WeakKeyDictionary()


def relation_paths(graph: KnowledgeGraph, relation: int) -> PathRules:
    """The rules over paths for one directed relation, the most confident first."""
    kept = _KEPT.setdefault(graph, {})
    if relation not in kept:
        this = Round(adjacency_of(graph), SAMPLES, 0, lambda _label, _done, _total: check_stop())
        kept[relation] = mined_paths(this, np.array([relation], np.int64))
    return kept[relation]


def paths_among(rules: Rules, relation: int) -> PathRules:
    """The same among rules that were mined before."""
    low, high = np.searchsorted(rules.paths.heads, [relation, relation + 1])
    return rules.paths.take(np.arange(low, high))
