"""What a graph would say if a tenth of it were not written down: facts hidden at random, and questions about them.

Unlike `split`, nothing is set aside to train on: this is how someone tries a method on a graph of their own. A fact
stays if it is all that is said about one of its entities, because then nothing could find that entity again. Answers
are wanted that only hidden facts give; whatever else is true is not a candidate.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.sampling.sample import SampleOptions, sample_queries
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.datasets.split import InductiveSplit
from unseen.errors import UnseenError
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Mask = NDArray[np.bool_]

LEAST_FACTS = 5
"""A relation with fewer facts is not asked for: hiding one would take too much of it."""
SPARE_CANDIDATES = 100
"""Facts of a relation that are tried beside those wanted, because not every fact may be hidden."""


def hidden_facts(graph: KnowledgeGraph, share: float, seed: int) -> Mask:
    """Which facts of a graph are hidden: about a share of them, always the same ones for a seed."""
    if not 0 < share < 1:
        raise UnseenError(f"the share of hidden facts must lie between 0 and 1, not {share}")
    hidden = np.random.default_rng(seed).random(graph.num_triples) < share
    alone = np.ones(graph.num_entities, bool)
    alone[graph.heads[~hidden]] = alone[graph.tails[~hidden]] = False
    return hidden & ~alone[graph.heads] & ~alone[graph.tails]


def hidden_by_relation(graph: KnowledgeGraph, most: int, seed: int, rounds: int = 1) -> list[Mask]:
    """What is hidden in each of several rounds: some facts of every relation, never a fact twice.

    A round hides a tenth of a relation's facts, one at least if it has five, and all rounds together at most `most` of
    them. Every entity keeps a fact in every round. Rounds that would hide nothing are left out. The facts depend on
    the seed alone.
    """
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    quota = np.where(counts >= LEAST_FACTS, np.maximum(1, counts // 10), 0).tolist()
    candidates = _candidates(graph, seed, most)
    wanted, found = [most] * graph.num_relations, []
    for _ in range(rounds):
        rows = _hidden_in_a_round(graph, candidates, [min(pair) for pair in zip(quota, wanted, strict=True)])
        for row in rows:
            relation = int(graph.relations[row])
            wanted[relation] -= 1
            candidates[relation].remove(row)
        if rows:
            hidden = np.zeros(graph.num_triples, bool)
            hidden[rows] = True
            found.append(hidden)
    return found


def hidden_of_relation(graph: KnowledgeGraph, relation: int, most: int, seed: int) -> Mask:
    """Some facts of one relation, a fifth of them at most, so that every entity keeps a fact."""
    count = int((graph.relations == relation).sum())
    wanted = [min(most, count // 5) if one == relation else 0 for one in range(graph.num_relations)]
    hidden = np.zeros(graph.num_triples, bool)
    hidden[_hidden_in_a_round(graph, _candidates(graph, seed, most), wanted)] = True
    return hidden


def _candidates(graph: KnowledgeGraph, seed: int, most: int) -> list[list[int]]:
    """By relation some facts in random order, none of them the only one of an entity; more than are wanted."""
    degrees = _degrees(graph)
    can_go = np.flatnonzero(np.minimum(degrees[graph.heads], degrees[graph.tails]) > 1)
    order = np.random.default_rng(seed).permutation(can_go)
    order = order[np.argsort(graph.relations[order], kind="stable")]
    starts = np.searchsorted(graph.relations[order], np.arange(graph.num_relations + 1))
    return [order[start:end][: SPARE_CANDIDATES + 2 * most].tolist() for start, end in pairwise(starts)]


def _hidden_in_a_round(graph: KnowledgeGraph, candidates: list[list[int]], wanted: list[int]) -> list[int]:
    """The first candidates of each relation, as many as wanted, that leave every entity a fact."""
    left, rows = _degrees(graph), []
    for mine, count in zip(candidates, wanted, strict=True):
        taken = 0
        for row in mine if count else ():
            head, tail = graph.heads[row], graph.tails[row]
            left[head] -= 1
            left[tail] -= 1
            if left[head] and left[tail]:
                rows.append(row)
                taken += 1
                if taken == count:
                    break
            else:
                left[head] += 1
                left[tail] += 1
    return rows


def _degrees(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """How many facts each entity is in; one that links it to itself counts twice."""
    return np.bincount(np.concatenate([graph.heads, graph.tails]), minlength=graph.num_entities)


def hidden_dataset(graph: KnowledgeGraph, hidden: Mask, name: str = "hidden facts") -> Dataset:
    """A dataset without queries, whose test graph is what is left of a graph, and the hidden facts are to predict."""
    edges = np.stack([graph.heads, graph.relations, graph.tails], axis=1)
    nothing = edges[:0]
    split = InductiveSplit(graph.vocabulary, edges[~hidden], nothing, nothing, nothing, edges[hidden])
    return Dataset(name, split, manifest={"answers": "true"})


def with_questions(dataset: Dataset, types: Sequence[str], count: int, seed: int) -> Dataset:
    """The same with at most so many test queries of each type, each with an answer that only hidden facts give."""
    graphs = SplitGraphs("test", dataset.observed("test"), dataset.complete("test"))
    options = SampleOptions(seed=seed)
    tables = {name: sample_queries(graphs, SHAPES[name], count, options).table for name in types}
    return dataset.with_queries({"test": {name: table for name, table in tables.items() if len(table)}}, {})
