"""How well the rules of a graph predict one of its relations: some facts, each asked for as if it were not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.rules.adjacency import adjacency_of
from unseen.rules.evidence import new_state
from unseen.rules.firing import BUDGETS
from unseen.rules.leaving_out import hidden_examples
from unseen.rules.proposing import row_starts, sampled_facts
from unseen.rules.weighing import CANDIDATES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.rules.rule_set import Rules

TOP = 10


def found_by_rules(rules: Rules, graph: KnowledgeGraph, directed: int, most: int) -> NDArray[np.float64]:
    """For some facts of a directed relation whether rules put their target among the first ten: 1 or 0.

    Rules were mined with these facts in the graph, so this is a little more than rules find of facts that are missing.
    Cost: what rules that lead from `most` sources touch.
    """
    adjacency = adjacency_of(graph)
    sources, targets = sampled_facts(adjacency, directed, row_starts(adjacency), most, np.uint64(1))
    relations = np.full(len(sources), directed, np.int64)
    facts = (sources.astype(np.int64), relations, targets.astype(np.int64))
    state = new_state(adjacency.num_entities)
    rows, stands_for, lengths = hidden_examples(adjacency, rules.index(graph), *facts, BUDGETS, CANDIDATES, state)
    scores = rows.astype(np.float64) @ rules.weights.coefficients[directed]
    is_other = np.arange(rows.shape[1])[None, :] < lengths[:, None]
    is_other[:, 0] = False
    better = (np.exp(stands_for) * (is_other & (scores > scores[:, :1]))).sum(axis=1)
    equal = (np.exp(stands_for) * (is_other & (scores == scores[:, :1]))).sum(axis=1)
    found: NDArray[np.float64] = np.where(lengths > 0, np.clip((TOP - better) / (equal + 1), 0.0, 1.0), 0.0)
    return found
