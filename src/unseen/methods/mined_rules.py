"""`rules` as a method: predictions by rules that are mined from the very graph that is asked.

Every member of a source set is a place where rules fire; a candidate gets the largest membership times probability over
all of them. Edges of the graph carry the membership of their head, as in `known_facts`. A set with more than `MEMBERS`
members is entered at its strongest ones; weak members beside strong ones are left out. Cost: the edges that the walks
touch, and one pass over the output.

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
from unseen.logic.stopping import check_stop
from unseen.methods.known_facts import KnownFactsProjector
from unseen.rules.adjacency import adjacency_of
from unseen.rules.applying import project_rows
from unseen.rules.in_order import in_order
from unseen.rules.mining import BUDGET, SAMPLES, mine, updated
from unseen.rules.rule_set import Rules

MEMBERS = 64
"""Members of a source set from which rules fire."""
LEAST_SHARE = 0.01
"""Rules fire from members that are at least so strong beside the strongest of the set."""
LARGEST = 1 - 2**-20
"""Largest probability of a prediction; known answers lie above."""


@dataclass(frozen=True)
class MinedRules:
    """The method; `samples` says how thoroughly graphs are mined, `members` from how many of a set rules fire."""

    samples: int = SAMPLES
    members: int = MEMBERS
    _kept: WeakKeyDictionary[KnowledgeGraph, Rules] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )
    _last: list[Rules] = field(default_factory=list, init=False, repr=False, compare=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def rules(self, graph: KnowledgeGraph) -> Rules:
        """The rules of a graph."""
        with self._lock:
            found = self._kept.get(graph)
            if found is None:
                found = updated(self._last[0], graph) if self._last else mine(graph, samples=self.samples)
                self._kept[graph] = found
                self._last[:] = [found]
            return found

    def use(self, graph: KnowledgeGraph, rules: Rules) -> None:
        """Take rules that were mined before, such as those of a file."""
        with self._lock:
            self._kept[graph] = rules
            self._last[:] = [rules]

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: probability of each entity in what `relations[i]` leads to from `sets[i]`, by rules alone."""
        rules, adjacency = self.rules(graph), adjacency_of(graph)
        walks = _Walks.of(sets.detach().cpu().numpy(), relations.cpu().numpy().astype(np.int64), self.members)
        reached = np.zeros((len(walks.relations), sets.shape[1]), np.float32)
        weights = (rules.weights.coefficients, rules.weights.calibration)
        work = (adjacency, rules.index(graph), *walks.columns, weights, reached)
        bounds = np.linspace(0, len(reached), min(len(reached), 4 * available_cores()) + 1).astype(int).tolist()
        for _ in in_order(lambda piece: project_rows(*piece, *work), list(pairwise(bounds))):
            check_stop()
        best = np.maximum.reduceat(reached, walks.starts) if len(walks.starts) < len(reached) else reached
        return torch.from_numpy(best).clamp_(max=LARGEST).to(sets)

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Probabilities as scores."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """Probabilities of all entities for each query, known facts included."""
        return execute(KnownFactsProjector(self, ceiling=1.0), graph, queries)


@dataclass(frozen=True, eq=False)
class _Walks:
    """Where rules fire: pieces of the rows of a batch, of some members each, so that a single row keeps all cores busy.

    `starts` says where the pieces of each row begin.
    """

    starts: np.ndarray
    offsets: np.ndarray
    members: np.ndarray
    degrees: np.ndarray
    relations: np.ndarray
    budgets: np.ndarray

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """As `project_rows` takes them."""
        return self.offsets, self.members, self.degrees, self.relations, self.budgets

    @classmethod
    def of(cls, sets: np.ndarray, relations: np.ndarray, most: int) -> _Walks:
        """The strongest members of each row; all members of a row share its budget."""
        found = [_strongest(row, most) for row in sets]
        at_once = max(1, available_cores() // max(1, len(sets)))
        bounds = [np.linspace(0, len(own), min(at_once, max(1, len(own))) + 1).astype(np.int64) for own in found]
        counts = np.array([len(own) - 1 for own in bounds], np.int64)
        lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(own) for own in bounds)])
        shares = [BUDGET // max(1, len(members)) for members in found]
        degrees = [row[members] for row, members in zip(sets, found, strict=True)]
        return cls(
            np.cumsum(counts) - counts,
            np.append(0, np.cumsum(lengths)),
            np.concatenate([np.empty(0, np.int64), *found]),
            np.concatenate([np.empty(0, np.float64), *degrees]),
            np.repeat(relations, counts),
            np.repeat(np.array(shares, np.int64), counts),
        )


def _strongest(row: np.ndarray, most: int) -> np.ndarray:
    """The members of a set from which rules fire."""
    found = np.flatnonzero(row > LEAST_SHARE * row.max(initial=0.0))
    return found if len(found) <= most else found[np.argsort(-row[found], kind="stable")[:most]]
