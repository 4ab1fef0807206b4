"""`rules` as a method: predictions by rules that are mined from the very graph that is asked.

Every member of a source set is a place where rules fire; a candidate gets the largest membership times probability over
all of them. Edges of the graph carry the membership of their head, as in `known_facts`. A set with more than `MEMBERS`
members is entered at its strongest ones. Cost: the edges that the walks touch, and one pass over the output.

Rules belong to a graph, not to the method: they are mined when a graph is first asked, and kept while it lives. Those
of the last graph are brought up to date for one that has grown out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.graph.compiling import available_cores
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.methods.known_facts import KnownFactsProjector
from unseen.rules.adjacency import adjacency_of
from unseen.rules.applying import project_rows
from unseen.rules.in_order import in_order
from unseen.rules.mining import BUDGET, SAMPLES, mine, updated
from unseen.rules.rule_set import Rules

MEMBERS = 64
"""Members of a source set from which rules fire."""
LARGEST = 1 - 2**-20
"""Largest probability of a prediction; known answers lie above."""


@dataclass(frozen=True)
class MinedRules:
    """The method; `samples` says how thoroughly graphs are mined."""

    samples: int = SAMPLES
    _kept: WeakKeyDictionary[KnowledgeGraph, Rules] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )
    _last: list[Rules] = field(default_factory=list, init=False, repr=False, compare=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def rules_of(self, graph: KnowledgeGraph) -> Rules:
        """The rules of a graph."""
        with self._lock:
            found = self._kept.get(graph)
            if found is None:
                found = updated(self._last[0], graph) if self._last else mine(graph, samples=self.samples)
                self._kept[graph] = found
                self._last[:] = [found]
            return found

    @property
    def beside_rules(self) -> None:
        """No model predicts beside them."""
        return None

    def use(self, graph: KnowledgeGraph, rules: Rules) -> None:
        """Take rules that were mined before, such as those of a file."""
        with self._lock:
            self._kept[graph] = rules
            self._last[:] = [rules]

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: probability of each entity in what `relations[i]` leads to from `sets[i]`, by rules alone."""
        rules, adjacency = self.rules_of(graph), adjacency_of(graph)
        offsets, members, degrees = _members(sets.detach().cpu().numpy())
        reached = np.zeros(tuple(sets.shape), np.float32)
        weights = (rules.weights.coefficients, rules.weights.calibration)
        directed = relations.cpu().numpy().astype(np.int64)
        work = (adjacency, rules.index(graph), offsets, members, degrees, directed, BUDGET, weights, reached)
        bounds = np.linspace(0, len(reached), min(len(reached), 4 * available_cores()) + 1).astype(int).tolist()
        pieces = list(pairwise(bounds))
        for _ in in_order(lambda piece: project_rows(*piece, *work), pieces):
            pass
        return torch.from_numpy(reached).clamp_(max=LARGEST).to(sets)

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Probabilities as scores."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """Probabilities of all entities for each query, known facts included."""
        return execute(KnownFactsProjector(self, ceiling=1.0), graph, queries)


def _members(sets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The strongest members of each row, by offsets, with their degrees."""
    lengths, members, degrees = [], [], []
    for row in sets:
        found = np.flatnonzero(row > 0)
        if len(found) > MEMBERS:
            found = found[np.argsort(-row[found], kind="stable")[:MEMBERS]]
        lengths.append(len(found))
        members.append(found)
        degrees.append(row[found])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    together = np.concatenate([np.empty(0, np.int64), *members])
    return offsets, together, np.concatenate([np.empty(0, np.float64), *degrees])
