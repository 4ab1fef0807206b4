"""Projections of network and rules on a large graph: only what lies near a source set is looked at.

Rules and known facts work on the whole graph. The network reads a frontier (`zero_shot.frontier`): every row of a batch
has its own part of the graph. Candidates are what it contains, what rules lead to and what is known. All others
are there as well, as far as probabilities depend on them: they are counted by how many edges lead to them, with the
network's floor. Their own probability is taken for zero.

Cost: what is touched, and two passes over all entities for each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, no_type_check
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph.compiling import compiled
from unseen.logic.stopping import check_stop
from unseen.methods.combination import LinkEvidence, OwnRows
from unseen.methods.mined_rules import MinedRules
from unseen.methods.own_weights.missing_targets import missing_targets
from unseen.methods.zero_shot.frontier import frontier_of
from unseen.rules.adjacency import adjacency_of
from unseen.rules.lookups import row_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.methods.combination import Combination
    from unseen.methods.zero_shot.effort import Budget
    from unseen.methods.zero_shot.frontier import Frontier
    from unseen.methods.zero_shot.zero_shot import ZeroShot
    from unseen.rules.adjacency import Adjacency

    Ids = NDArray[np.int64]
    Values = NDArray[np.float32]

LEAST_SHARE = 1e-5
"""Of the strongest member, that a member needs to count."""
MOST_WANTED = 8_192
"""Candidates of rules that are put into a frontier, the likeliest ones."""
TRACE = 1e-6
"""How much of the probability itself stays beside its power, so that what is unlikely keeps its order."""


class Fuzzy(NamedTuple):
    """A fuzzy set by its members, ascending."""

    entities: Ids
    memberships: Values


class Sources(NamedTuple):
    """How many edges of a relation lead to an entity: `numbers[i]` entities are led to by `sizes[i]` edges each."""

    sizes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    tails: float
    """Targets of the relation a source, on average."""


@dataclass(frozen=True)
class NearProjection:
    """One projection at a time, with the network, the rules and the weights of a combined method."""

    network: ZeroShot
    rules: MinedRules
    combination: Combination
    budget: Budget

    def project(
        self,
        graph: KnowledgeGraph,
        sets: Float[Tensor, "batch entity"],
        relations: Int[Tensor, " batch"],
        own: OwnRows | None = None,
    ) -> Float[Tensor, "batch entity"]:
        """Row i: what the edges of `relations[i]` carry over from `sets[i]`, or as much as is predicted.

        `own` is what the graph adds to the weights of the combination.
        """
        reached = np.zeros(tuple(sets.shape), np.float32)
        for row, (degrees, relation) in enumerate(zip(sets.cpu().numpy(), relations.tolist(), strict=True)):
            check_stop()
            source = members_of(degrees)
            if len(source.entities):
                follow(graph, source, relation, reached[row])
                of_row = None if own is None else OwnRows(own.evidence[row : row + 1], own.calibration[row : row + 1])
                self.predict(graph, source, relation, reached[row], of_row)
        return torch.from_numpy(reached).to(sets)

    def predict(
        self, graph: KnowledgeGraph, source: Fuzzy, relation: int, reached: Values, own: OwnRows | None = None
    ) -> None:
        """Raise what known edges reach from a set to what is predicted, where that is more."""
        way = self.combination
        missing = 0.0
        if own is not None:
            missing = missing_targets(graph, relation).of_set(*source, float(reached.sum()))
        candidates, links = self.evidence(graph, source, relation, reached, missing)
        probable = way.probabilities(links, own)[0, : len(candidates)].numpy()
        if way.sharpness != 1:
            probable = (probable**way.sharpness + TRACE * probable) / (1 + TRACE)
        reached[candidates] = np.maximum(reached[candidates], np.float32(way.ceiling) * probable)

    def evidence(
        self, graph: KnowledgeGraph, source: Fuzzy, relation: int, reached: Values, missing: float = 0.0
    ) -> tuple[Ids, LinkEvidence]:
        """The candidates, and what there is about them and, after them, about all others.

        `reached` is what edges carry over to every entity, `missing` how many targets are expected to be missing.
        """
        adjacency = adjacency_of(graph)
        fired = Fuzzy(*self.rules.fired(graph, source.entities, source.memberships, relation))
        near = self._frontier(graph, source, relation, fired)
        candidates = np.union1d(near.entities, fired.entities)
        known_others = np.setdiff1d(np.flatnonzero(reached), candidates, assume_unique=True)
        sizes = row_sizes(adjacency, candidates, relation ^ 1)
        looked_at = np.append(sizes, row_sizes(adjacency, known_others, relation ^ 1))
        others, copies = _others(graph, adjacency, looked_at, relation)
        rest = len(others) + 1  # the last column stands for what is known and no candidate
        columns = (
            np.append(_placed(candidates, near.entities, near.memberships, near.floor), np.full(rest, near.floor)),
            np.append(_placed(candidates, fired.entities, fired.memberships, 0.0), np.zeros(rest)),
            np.concatenate([sizes, others, [1]]),
        )
        carried = np.zeros(len(candidates) + rest, np.float32)
        carried[: len(candidates)] = reached[candidates]
        carried[-1] = reached[known_others].mean() if len(known_others) else 1.0
        said, by_rules, led_to = (torch.from_numpy(column).float().unsqueeze(0) for column in columns)
        return candidates, LinkEvidence(
            said,
            by_rules,
            led_to,
            torch.from_numpy(carried).unsqueeze(0),
            quality=torch.tensor([float(self.rules.rules_of(graph).weights.quality[relation])]),
            size=torch.tensor([float(source.memberships.sum())]),
            tails=torch.tensor([sources_of(graph, adjacency, relation).tails]),
            missing=torch.tensor([missing]),
            copies=torch.from_numpy(np.concatenate([np.ones(len(sizes)), copies, [len(known_others)]])).float(),
        )

    def link_evidence(self, graph: KnowledgeGraph, source: int, relation: int) -> tuple[Ids, LinkEvidence]:
        """The evidence for a set of one entity."""
        alone, reached = Fuzzy(np.array([source]), np.ones(1, np.float32)), np.zeros(graph.num_entities, np.float32)
        follow(graph, alone, relation, reached)
        missing = missing_targets(graph, relation).of_set(*alone, float(reached.sum()))
        return self.evidence(graph, alone, relation, reached, missing)

    def _frontier(self, graph: KnowledgeGraph, source: Fuzzy, relation: int, fired: Fuzzy) -> Frontier:
        """What the network says; it reads the members as it learned to, and the likeliest candidates of rules."""
        wanted = fired.entities[np.argsort(-fired.memberships, kind="stable")[:MOST_WANTED]]
        inner = source.memberships ** np.float32(self.combination.inner_sharpness)
        return frontier_of(self.network, graph, (source.entities, inner), relation, wanted, self.budget)


def _placed(candidates: Ids, entities: Ids, values: Values, others: float) -> Values:
    """The values of some of the candidates at their places, and one value for all others."""
    placed = np.full(len(candidates), others, np.float32)
    placed[np.searchsorted(candidates, entities)] = values
    return placed


def members_of(degrees: Values) -> Fuzzy:
    """The members of a fuzzy set that count."""
    found = np.flatnonzero(degrees > LEAST_SHARE * degrees.max(initial=0.0))
    return Fuzzy(found, degrees[found])


def follow(graph: KnowledgeGraph, source: Fuzzy, relation: int, reached: Values) -> None:
    """Write down what the edges of the relation carry over: to each target the largest membership of its sources."""
    sources, targets = graph.edges_from(relation)
    low, high = (np.searchsorted(sources, source.entities.astype(sources.dtype), side=s) for s in ("left", "right"))
    lengths = high - low
    edges = np.repeat(low - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    np.maximum.at(reached, targets[edges], np.repeat(source.memberships, lengths))


def sources_of(graph: KnowledgeGraph, adjacency: Adjacency, relation: int) -> Sources:
    """How many edges of a relation lead to entities; counted once for each graph and relation."""
    known = _SOURCES.setdefault(graph, {})
    if relation not in known:
        own, back = (_sizes_of_relation(adjacency, directed) for directed in (relation, relation ^ 1))
        numbers = np.bincount(back)
        sizes = np.flatnonzero(numbers)
        known[relation] = Sources(sizes, numbers[sizes], float(own.mean()) if len(own) else 1.0)
    return known[relation]


_SOURCES: WeakKeyDictionary[KnowledgeGraph, dict[int, Sources]] = WeakKeyDictionary()


def _sizes_of_relation(adjacency: Adjacency, relation: int) -> NDArray[np.int64]:
    """How many edges each row of a relation has."""
    rows = adjacency.rows_by_relation[adjacency.relation_rows[relation] : adjacency.relation_rows[relation + 1]]
    sizes: NDArray[np.int64] = adjacency.row_edges[rows + 1] - adjacency.row_edges[rows]
    return sizes


def _others(
    graph: KnowledgeGraph, adjacency: Adjacency, sizes: NDArray[np.int64], relation: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of edges that lead to entities that are not candidates, and how many such entities there are of each."""
    every = sources_of(graph, adjacency, relation)
    led_to = np.concatenate([[0], every.sizes])
    numbers = np.concatenate([[len(graph.connected_entities) - every.numbers.sum()], every.numbers])
    mine, counts = np.unique(sizes, return_counts=True)
    numbers[np.searchsorted(led_to, mine)] -= counts
    return led_to[numbers > 0], numbers[numbers > 0]


@compiled
@no_type_check
def row_sizes(adjacency, entities, relation):
    """How many edges of a directed relation each entity has."""
    sizes = np.zeros(len(entities), np.int64)
    for place in range(len(entities)):
        row = row_of(adjacency, entities[place], relation)
        if row >= 0:
            sizes[place] = adjacency.row_edges[row + 1] - adjacency.row_edges[row]
    return sizes
