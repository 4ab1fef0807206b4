"""Network and rules together: one method for any graph.

Every projection asks both. The network reads the whole source set at once; rules fire from its strongest members. A
`Combination` makes one probability of a link of what they say, edges of the graph carry the membership of their head,
and logic comes after that. Rules are mined from the very graph that is asked (`mined_rules`), and how much both count
is fitted to facts hidden from it (`own_weights`).

A graph that is too large for the network is answered by rules alone.

Cost: that of the network (`zero_shot`), and what the walks of the rules touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
from unseen.methods.combination import Combination, LinkEvidence
from unseen.methods.fuzzy_gnn.edge_following import follow_in_parts
from unseen.methods.known_facts import KnownFactsProjector
from unseen.methods.mined_rules import MinedRules
from unseen.methods.own_weights.own_opening import OwnOpening
from unseen.methods.zero_shot import footprint

if TYPE_CHECKING:
    from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
    from unseen.methods.zero_shot.zero_shot import ZeroShot
    from unseen.rules.rule_set import Rules

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
    _is_small: WeakKeyDictionary[KnowledgeGraph, bool] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )

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

    def has_network(self, graph: KnowledgeGraph) -> bool:
        """Whether a graph is small enough for the network; found out once for each graph."""
        found = self._is_small.get(graph)
        if found is None:
            free = footprint.bytes_free(self.device)
            needed = footprint.bytes_needed(graph, self.network.architecture)
            found = self._is_small[graph] = free is None or needed <= free
        return found

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: what the edges of `relations[i]` carry over from `sets[i]`, or as much as is predicted."""
        if not self.has_network(graph):
            return KnownFactsProjector(self.rules, self.ceiling).project(graph, sets, relations)
        compact, directed = self.network.compact(graph), relations.cpu().numpy().astype(np.int64)
        followed = follow_in_parts(compact, compact.gather(sets), compact.relations_of(directed))
        own = self.own.weights(self, graph).rows(directed).on(self.device)
        found, way = (
            self.combination.probabilities(self.evidence(graph, sets, relations, followed), own),
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
        return LinkEvidence(members, by_rules, sources, followed > 0, context[0][0], context[1], context[0][1])

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Memberships of all entities in the answers of each query."""
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same, and the fuzzy sets of all sub-queries."""
        with torch.no_grad():
            if self.has_network(graph):
                self.network.read_relations(graph, queries)
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
