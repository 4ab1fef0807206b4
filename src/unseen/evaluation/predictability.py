"""Whether a relation of a graph can be predicted at all, by facts of it that are hidden and asked for.

A verdict is careful. A relation counts as unpredictable only if the share of its hidden facts that comes back among the
first ten is small beyond doubt: the upper end of its confidence interval (Clopper and Pearson, one-sided, 95 %) lies at
most `MARGIN` above chance. Without a hit that takes 29 facts, with one hit 46. If one in ten facts can be found, the
chance of a wrong verdict after 40 facts is 1.5 %, if one in five can be found 0.01 %. Where chance alone finds more
than a tenth, in graphs with fewer than a hundred candidates, there is no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.vocabulary import undirected_relation

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.evaluation.query_sets import Questions
    from unseen.graph import KnowledgeGraph
    from unseen.logic.protocols import Estimator

TOP = 10
MARGIN, DOUBT = 0.1, 0.05
MOST_CHANCE = 0.1
TRIED = 40
"""Facts that a verdict is made of, if the relation has enough of them."""
LEAST_TRIED = 29
"""Fewer facts make no verdict."""
BATCH = 4


@dataclass(frozen=True)
class Verdict:
    """How many hidden facts of a directed relation were tried, and how many came back among the first ten."""

    tried: int
    found: float
    chance: float
    """The share that any order of the candidates finds."""

    @property
    def is_at_chance(self) -> bool:
        """Whether the relation cannot be predicted, beyond doubt."""
        return self.could_be_at_chance(self.tried)

    def could_be_at_chance(self, tried: int) -> bool:
        """The same after `tried` trials without another hit."""
        return self.chance <= MOST_CHANCE and largest_share(self.found, tried) <= self.chance + MARGIN


NO_VERDICT = Verdict(0, 0.0, 1.0)


def largest_share(found: float, tried: int) -> float:
    """The largest share that is not in doubt after so many hits; between whole numbers of hits on a line."""
    below = int(found)
    low, high = (_upper_end(min(count, tried), tried) for count in (below, below + 1))
    return low + (found - below) * (high - low)


def _upper_end(found: int, tried: int) -> float:
    """The share with which so few hits or fewer happen once in twenty times."""
    if found >= tried:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):
        share = (low + high) / 2
        few = sum(comb(tried, count) * share**count * (1 - share) ** (tried - count) for count in range(found + 1))
        low, high = (share, high) if few > DOUBT else (low, share)
    return high


def chance_of(graph: KnowledgeGraph) -> float:
    """The share of facts that any order of a graph's entities has among the first ten."""
    return min(1.0, TOP / max(1, len(graph.connected_entities)))


def measured_verdict(
    method: Estimator, graph: KnowledgeGraph, directed: int, prepare: Callable[[KnowledgeGraph], None]
) -> Verdict:
    """A verdict by hiding facts of one relation and asking a method; it ends as soon as the relation is acquitted.

    `prepare` is called with the graph without the hidden facts before the method sees it.
    """
    from unseen.datasets.hidden_facts import hidden_of_relation  # a verdict of rules needs neither this nor a check
    from unseen.evaluation.graph_check import answered

    hidden = hidden_of_relation(graph, undirected_relation(directed), TRIED, seed=0)
    count = int(hidden.sum())
    if count < LEAST_TRIED:
        return NO_VERDICT
    questions = _asked_from_one_end(graph, hidden, directed)
    prepare(questions.graph)
    verdict = Verdict(0, 0.0, chance_of(graph))
    for part in questions.batches(BATCH):
        hits = answered(method, part).ranks.hits_at(TOP)
        verdict = Verdict(verdict.tried + len(hits), verdict.found + float(hits.sum()), verdict.chance)
        if not verdict.could_be_at_chance(count):
            break
    return verdict


def _asked_from_one_end(graph: KnowledgeGraph, hidden: np.ndarray, directed: int) -> Questions:
    from unseen.datasets.hidden_facts import hidden_dataset
    from unseen.evaluation.links import link_questions

    questions = link_questions(hidden_dataset(graph, hidden), "test")
    return questions.take(np.flatnonzero(questions.table.slots[:, 1] == directed))
