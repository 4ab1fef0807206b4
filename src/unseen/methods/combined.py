"""Network and rules together: one method for any graph.

Every projection asks both. The network reads the whole source set at once; rules fire from its strongest members. A
`Combination` makes one probability of a link of what they say, edges of the graph carry the membership of their head,
and logic comes after that. Rules are mined from the very graph that is asked (`mined_rules`), and how much both count
is fitted to facts hidden from it (`own_weights`).

Of a large graph the network reads a part at a time (`near_projection`).

Cost: that of the network (`zero_shot`), and what the walks of the rules touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Query
from unseen.logic.coherent import execute_coherently
from unseen.logic.execute import Execution
from unseen.methods.combination import Combination, LinkEvidence, OwnRows
from unseen.methods.fuzzy_gnn.edge_following import follow_in_parts
from unseen.methods.mined_rules import MinedRules
from unseen.methods.near_projection import NearProjection
from unseen.methods.own_weights.missing_targets import missing_targets
from unseen.methods.own_weights.own_opening import OwnOpening
from unseen.methods.zero_shot import footprint
from unseen.methods.zero_shot.effort import BUDGETS, FULL, budget_for, checked_effort
from unseen.methods.zero_shot.frontier import relations_alone
from unseen.rules.adjacency import bytes_to_open, is_open

if TYPE_CHECKING:
    from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
    from unseen.methods.own_weights.own_weights import OwnWeights
    from unseen.methods.zero_shot.zero_shot import ZeroShot
    from unseen.rules.rule_set import Rules

MOST_FITTED = 3_000_000
"""Triples of the largest graph to which weights are fitted if it is read in parts: its edges are sorted once more."""
NEVER_LARGE = BUDGETS["fast"].triples
"""Triples of a graph that is answered whatever the memory."""
TRACE = 1e-6
"""How much of the probability itself stays beside its power, so that what is unlikely keeps its order."""


@dataclass(frozen=True, eq=False)
class Combined:
    """The method: a `Projector`, an `Answerer` and an `Estimator`."""

    network: ZeroShot
    rules: MinedRules
    combination: Combination
    own: OwnOpening = field(default_factory=OwnOpening)
    """What the graphs that are asked add to the weights of the combination."""
    effort: str = "normal"
    """How much of a large graph the network looks at on the CPU: see `zero_shot.effort`."""
    _is_small: WeakKeyDictionary[KnowledgeGraph, bool] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )
    _at: dict[str, Combined] = field(default_factory=dict, repr=False)
    """The same method with other efforts."""

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return self.network.device

    @property
    def ceiling(self) -> float:
        """The largest membership of what is only predicted."""
        return self.combination.ceiling

    @property
    def beside_rules(self) -> ZeroShot:
        """The network."""
        return self.network

    def rules_of(self, graph: KnowledgeGraph) -> Rules:
        """The rules of a graph."""
        return self.rules.rules_of(graph)

    def at(self, effort: str) -> Combined:
        """The same method with another effort; the same object for the same effort."""
        if checked_effort(effort) == self.effort:
            return self
        return self._at.setdefault(effort, replace(self, effort=effort, _at={self.effort: self}))

    def own_weights(self, graph: KnowledgeGraph) -> OwnWeights | None:
        """What a graph adds to the weights; nothing where it is too large to be sorted once more."""
        if self.near(graph) is not None and graph.num_triples > MOST_FITTED:
            return None
        return self.own.weights(self, graph)

    def _own_rows(self, graph: KnowledgeGraph, relations: Int[Tensor, " batch"]) -> OwnRows | None:
        """What a graph that is read in parts adds to the weights of some relations."""
        own = self.own_weights(graph)
        return None if own is None else own.rows(relations.cpu().numpy().astype(np.int64))

    def near(self, graph: KnowledgeGraph) -> NearProjection | None:
        """What projects on a graph of which the network reads a part at a time; None where it reads all of it."""
        budget = budget_for(graph, self.effort, self.device)
        if budget is None and not self._fits(graph):
            if self.effort == FULL:
                footprint.check_memory(graph, self.network.architecture, self.device, "use --effort normal")
            budget = BUDGETS[self.effort]
        return None if budget is None else NearProjection(self.network, self.rules, self.combination, budget)

    def check_memory(self, graph: KnowledgeGraph) -> None:
        """Refuse a large graph that is too large for this machine, before its first question."""
        if graph.num_triples > NEVER_LARGE and not is_open(graph):
            footprint.check_room("predictions need", self.bytes_needed(graph), graph, remedy=footprint.EXACT)

    def bytes_needed(self, graph: KnowledgeGraph) -> int:
        """About how much memory of the host a first question takes."""
        needed = footprint.BYTES_IN_ANY_CASE + bytes_to_open(graph)
        is_whole = self.near(graph) is None or (graph.num_triples <= MOST_FITTED and self._fits(graph))
        if is_whole and self.device.type == "cpu":
            needed += footprint.bytes_needed(graph, self.network.architecture, self.device)
        return needed

    def _fits(self, graph: KnowledgeGraph) -> bool:
        """Whether there is memory for the whole graph at a time; found out once for each graph."""
        found = self._is_small.get(graph)
        if found is None:
            free = footprint.bytes_free(self.device)
            needed = footprint.bytes_needed(graph, self.network.architecture, self.device)
            found = self._is_small[graph] = free is None or needed <= free
        return found

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: what the edges of `relations[i]` carry over from `sets[i]`, or as much as is predicted."""
        near = self.near(graph)
        if near is not None:
            return near.project(graph, sets, relations, self._own_rows(graph, relations))
        compact, directed = self.network.compact(graph), relations.cpu().numpy().astype(np.int64)
        followed = follow_in_parts(compact, compact.gather(sets), compact.relations_of(directed))
        own = self.own.weights(self, graph).rows(directed)
        found, way = (
            self.combination.probabilities(
                self.evidence(graph, sets, relations, followed), own and own.on(self.device)
            ),
            self.combination,
        )
        if way.sharpness != 1:
            found = (found**way.sharpness + TRACE * found) / (1 + TRACE)
        return compact.scatter(torch.maximum(followed, way.ceiling * found))

    def links(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> LinkEvidence:
        """What network and rules say about every node, for some sets and relations."""
        compact, directed = self.network.compact(graph), relations.cpu().numpy().astype(np.int64)
        followed = follow_in_parts(compact, compact.gather(sets), compact.relations_of(directed))
        return self.evidence(graph, sets, relations, followed)

    def evidence(
        self,
        graph: KnowledgeGraph,
        sets: Float[Tensor, "batch entity"],
        relations: Int[Tensor, " batch"],
        followed: Float[Tensor, "batch node"],
    ) -> LinkEvidence:
        """What network and rules say about every node; `followed` is what edges carry over."""
        compact, directed = self.network.compact(graph), relations.cpu().numpy().astype(np.int64)
        nodes, numbers = compact.gather(sets), compact.relations_of(directed)
        inner = nodes if self.combination.inner_sharpness == 1 else nodes**self.combination.inner_sharpness
        with torch.no_grad():
            members = self.network.project_nodes(compact, inner, torch.from_numpy(numbers))
        by_rules = compact.gather(self.rules.project(graph, sets, relations))
        quality, tails = self.rules_of(graph).weights.quality[directed], _tails(graph, directed)
        context = (torch.from_numpy(np.stack([quality, tails])).float().to(self.device), nodes.sum(dim=1))
        sources = _sources(compact, numbers)
        missed = self._missing(graph, sets, directed, followed.sum(dim=1))
        return LinkEvidence(members, by_rules, sources, followed, context[0][0], context[1], context[0][1], missed)

    def _missing(
        self,
        graph: KnowledgeGraph,
        sets: Float[Tensor, "batch entity"],
        directed: np.ndarray,
        reached: Float[Tensor, " batch"],
    ) -> Float[Tensor, " batch"]:
        """How many targets each set is expected to miss."""
        rows = zip(sets.cpu().numpy(), directed.tolist(), reached.tolist(), strict=True)
        found = [missing_targets(graph, relation).of_set(slice(None), row, known) for row, relation, known in rows]
        return torch.tensor(found, device=self.device)

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Memberships of all entities in the answers of each query."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same, and the fuzzy sets of all sub-queries."""
        with torch.no_grad():
            whole = self.near(graph) is None
            self.network.read_relations(graph, queries, None if whole else relations_alone(self.network, graph))
            return execute_coherently(self, graph, queries, self.device)


def _sources(compact: CompactGraph, numbers: np.ndarray) -> Float[Tensor, "row node"]:
    """Row i: how many edges of relation i lead to each node."""
    targets, offsets = compact.ends_by_relation[1], compact.relation_offsets
    found = {
        int(number): torch.bincount(targets[offsets[number] : offsets[number + 1]], minlength=compact.num_nodes)
        for number in np.unique(numbers)
    }
    if not found:
        return torch.zeros(0, compact.num_nodes, device=compact.edges.device)
    return torch.stack([found[int(number)] for number in numbers]).float()


def _tails(graph: KnowledgeGraph, directed: np.ndarray) -> np.ndarray:
    """Targets a source, for each directed relation."""
    counts = [graph.range_of(int(inverse_relation(int(relation))))[1] for relation in directed]
    return np.array([count.mean() if len(count) else 1.0 for count in counts])
