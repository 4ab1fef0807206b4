"""`rules` as a method: predictions by rules that are mined from the very graph that is asked.

Every member of a source set is a place where rules fire; a candidate gets the largest membership times probability over
all of them. Edges of the graph carry the membership of their head, as in `known_facts`. A set with more than `MEMBERS`
members is entered at its strongest ones; weak members beside strong ones are left out. Cost: the edges that the walks
touch, and one pass over the output.

Rules belong to a graph, not to the method: `rules.opening` finds or mines them when a graph is first asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.choose import largest
from unseen.logic.coherent import execute_coherently
from unseen.logic.execute import Execution
from unseen.logic.stopping import check_stop
from unseen.methods.known_facts import KnownFactsProjector
from unseen.rules.adjacency import adjacency_of
from unseen.rules.applying import predicted_from
from unseen.rules.firing import BUDGETS
from unseen.rules.in_order import in_order
from unseen.rules.opening import rules_for, use_rules
from unseen.rules.rule_set import Rules
from unseen.rules.scratch import scratch_of

MEMBERS = 64
"""Members of a source set from which rules fire."""
LEAST_SHARE = 0.01
"""Rules fire from members that are at least so strong beside the strongest of the set."""
LARGEST = np.float32(1 - 2**-20)
"""Largest probability of a prediction; known answers lie above."""


@dataclass(frozen=True)
class MinedRules:
    """The method; with `samples` graphs are mined so thoroughly, else as far as the time for opening them goes.

    Rules fire from at most `members` of a set.
    """

    samples: int | None = None
    members: int = MEMBERS

    def rules_of(self, graph: KnowledgeGraph) -> Rules:
        """The rules of a graph."""
        return rules_for(graph, samples=self.samples)

    @property
    def beside_rules(self) -> None:
        """No model predicts beside them."""
        return None

    def use(self, graph: KnowledgeGraph, rules: Rules) -> None:
        """Take rules of a graph that were mined before."""
        use_rules(graph, rules)

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: probability of each entity in what `relations[i]` leads to from `sets[i]`, by rules alone."""
        rules, adjacency = self.rules_of(graph), adjacency_of(graph)
        index, weights = rules.index(graph), (rules.weights.coefficients, rules.weights.calibration)
        directed, scratch = relations.tolist(), scratch_of(graph)

        def fire(member: Member) -> tuple[np.ndarray, np.ndarray]:
            with scratch.lent() as state:
                found: tuple[np.ndarray, np.ndarray] = predicted_from(
                    adjacency, index, member.entity, directed[member.row], member.budgets, weights, state
                )
            return found

        reached = np.zeros(tuple(sets.shape), np.float32)
        members = _members(sets.detach().cpu().numpy(), self.members)
        with closing(in_order(fire, members)) as results:  # one that is stopped leaves no work behind
            for member, (entities, values) in zip(members, results, strict=True):
                check_stop()
                row = reached[member.row]
                row[entities] = np.maximum(row[entities], np.minimum(member.degree * values, LARGEST))
        return torch.from_numpy(reached).to(sets)

    def fired(
        self, graph: KnowledgeGraph, entities: NDArray[np.int64], degrees: NDArray[np.float32], relation: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The same for one source set, given by its members: the entities that rules lead to, and their probabilities.

        Entities are ascending. Cost: what the rules touch.
        """
        rules, adjacency = self.rules_of(graph), adjacency_of(graph)
        index, weights = rules.index(graph), (rules.weights.coefficients, rules.weights.calibration)
        scratch, members = scratch_of(graph), _strongest(0, entities, degrees, self.members)

        def fire(member: Member) -> tuple[np.ndarray, np.ndarray]:
            with scratch.lent() as state:
                found: tuple[np.ndarray, np.ndarray] = predicted_from(
                    adjacency, index, member.entity, relation, member.budgets, weights, state
                )
            return found

        reached, values = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        with closing(in_order(fire, members)) as results:
            for member, found in zip(members, results, strict=True):
                check_stop()
                reached.append(found[0].astype(np.int64))
                values.append(np.float32(member.degree) * found[1])
        return largest_by_entity(np.concatenate(reached), np.minimum(np.concatenate(values), np.float32(LARGEST)))

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Probabilities as scores."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """Probabilities of all entities for each query, known facts included."""
        return execute_coherently(KnownFactsProjector(self, ceiling=1.0, in_place=True), graph, queries)


class Member(NamedTuple):
    """One member of a source set: its row, and edges that its rules may touch."""

    row: int
    entity: int
    degree: float
    budgets: tuple[int, int]


def _members(sets: np.ndarray, most: int) -> list[Member]:
    """The strongest members of all rows; those of a row share its budgets."""
    members = []
    for row, degrees in enumerate(sets):
        found = np.flatnonzero(degrees != 0)
        members += _strongest(row, found, degrees[found], most)
    return members


def _strongest(row: int, entities: NDArray[np.int64], degrees: np.ndarray, most: int) -> list[Member]:
    """The strongest members of a set that is given by its members."""
    found = np.flatnonzero(degrees > LEAST_SHARE * degrees.max(initial=0.0))
    if len(found) > most:
        found = found[largest(degrees[found], most)]
    budgets = BUDGETS[0] // max(1, len(found)), BUDGETS[1] // max(1, len(found))
    return [Member(row, int(entities[place]), float(degrees[place]), budgets) for place in found]


def largest_by_entity(
    entities: NDArray[np.int64], values: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Each entity once, ascending, with the largest of its values."""
    order = np.lexsort((-values, entities))
    entities, values = entities[order], values[order]
    first = np.ones(len(entities), bool)
    first[1:] = entities[1:] != entities[:-1]
    return entities[first], values[first]
