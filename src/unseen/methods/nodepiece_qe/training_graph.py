"""The training graph as links to learn: nodes, tokens, edges for the GNN, and all true triples as sorted numbers.

A batch is drawn as numbers of triples. Every other row is read forwards, (h, r, ?) with tail t, the rest backwards,
(t, r⁻¹, ?) with tail h: half of a batch corrupts tails, half heads.

A *target* is an edge that a batch asks for. It can be hidden from what answers: from the GNN's edges, and from the
tokens of its ends where no other edge gives them the same token: the relation, and an end that is an anchor of the
other. A model so learns to predict what is missing rather than to repeat what it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.errors import GraphError, TooLarge
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import inverse_relation
from unseen.methods.fuzzy_gnn.edge_following import upload
from unseen.methods.nodepiece_qe.tokenised_graph import TokenisedGraph
from unseen.nn.compgcn import TwoWayEdges

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinkBatch:
    """Links to learn, on the device: this process's share of a batch."""

    graph: TrainingGraph
    place: tuple[slice, int]
    """Which rows of the whole batch these are, and how many it has."""
    num_answers: int
    """True tails of all rows, counted on the host so that nothing waits for the device."""
    sources: Int[Tensor, " row"]
    relations: Int[Tensor, " row"]
    targets: Int[Tensor, " row"]
    answer_start: Int[Tensor, " answered"]
    answer_count: Int[Tensor, " answered"]
    """Where each row's true tails stand among the graph's keys; only where all nodes are negatives."""
    edges: Int[Tensor, " whole"]
    """The distinct triples of the whole batch."""

    def answers(self) -> Bool[Tensor, "row node"]:
        """Which tails are true in each row."""
        shape = (len(self.sources), self.graph.num_nodes)
        rows = torch.arange(shape[0], device=self.sources.device)
        row = torch.repeat_interleave(rows, self.answer_count, output_size=self.num_answers)
        before = self.answer_count.cumsum(0) - self.answer_count
        place = torch.arange(self.num_answers, device=row.device) + (self.answer_start - before)[row]
        positions = row * shape[1] + self.graph.device_keys[place] % shape[1]
        flat = torch.zeros(shape[0] * shape[1], dtype=torch.bool, device=row.device)
        return flat.index_fill_(0, positions, True).view(shape)


@dataclass(frozen=True, eq=False)
class TrainingGraph:
    """Nodes are the connected entities in order; `triples` [3, triple] holds heads, directed relations and tails."""

    num_nodes: int
    num_relations: int
    triples: Ids
    keys: Ids
    """(source, directed relation, target) of every edge in both directions as one number, sorted."""
    device_keys: Int[Tensor, " key"]
    """The same on the device."""
    tokens: Int[Tensor, "node slot"]
    anchor_tokens: Ids
    """The token that each node is, if it is an anchor; -1 for all others."""
    edges: TwoWayEdges | None

    @classmethod
    def of(
        cls, graph: KnowledgeGraph, tokenised: TokenisedGraph, num_relations: int, device: torch.device, *, gnn: bool
    ) -> TrainingGraph:
        """The graph for a model with so many directed relations; edges only `gnn` needs."""
        nodes, triples = node_triples(graph, tokenised)
        if triples.shape[1] == 0:
            raise GraphError("the training graph has no edge with a relation that the model knows")
        tokens = tokenised.tokens[nodes]
        keys = np.sort(_keys(triples, num_relations, len(nodes)))
        edges = None
        if gnn:
            columns = (torch.from_numpy(column) for column in triples)
            edges = TwoWayEdges.of(*columns, size=(len(nodes), num_relations), device=device)
        on_device = (torch.from_numpy(keys).to(device), torch.from_numpy(tokens).to(device))
        anchor_tokens = _anchor_tokens(graph.num_entities, tokenised, num_relations)[nodes]
        return cls(len(nodes), num_relations, triples, keys, *on_device, anchor_tokens, edges)

    @property
    def num_triples(self) -> int:
        """Edges, each counted once."""
        return len(self.triples[0])

    @cached_property
    def slots(self) -> TargetSlots:
        """Which tokens each triple gives to its ends; found when first asked for."""
        return TargetSlots.of(self.tokens.cpu().numpy(), self.triples, self.anchor_tokens, self.tokens.device)

    def batch(self, numbers: Ids, *, share: slice = slice(None), all_answers: bool = False) -> LinkBatch:
        """The links of some triples, of which `share` is this process's part; every other row is read backwards."""
        heads, relations, tails = self.triples[:, numbers]
        backwards = np.arange(len(numbers)) % 2 == 1
        sources, targets = np.where(backwards, tails, heads)[share], np.where(backwards, heads, tails)[share]
        directed = np.where(backwards, inverse_relation(relations), relations)[share]
        own = (backwards.astype(np.int64)[share], numbers[share])
        answers = [column[own] for column in self._answers] if all_answers else [np.empty(0, np.int64)] * 2
        columns = upload([sources, directed, targets, *answers, np.unique(numbers)], self.tokens.device)
        return LinkBatch(self, (share, len(numbers)), int(answers[1].sum()), *columns)

    @cached_property
    def _answers(self) -> tuple[Ids, Ids]:
        """For each triple in both readings [way, triple]: where its true tails begin among the keys, and how many."""
        heads, relations, tails = self.triples
        sources, directed = np.stack([heads, tails]), np.stack([relations, inverse_relation(relations)])
        prefixes = sources * self.num_relations + directed
        start = np.searchsorted(self.keys, prefixes * self.num_nodes)
        return start, np.searchsorted(self.keys, (prefixes + 1) * self.num_nodes) - start


@dataclass(frozen=True, eq=False)
class TargetSlots:
    """Which slots of its head's and of its tail's tokens each triple fills, and how many triples fill a slot.

    Slots are numbered through all nodes; one past the last stands for none.
    """

    of_triple: Int[Tensor, "way triple"]
    counts: Int[Tensor, " place"]

    @classmethod
    def of(cls, tokens: NDArray[np.int32], triples: Ids, anchor_tokens: Ids, device: torch.device) -> TargetSlots:
        """The slots of all triples, by search among the tokens of their ends."""
        heads, relations, tails = triples
        given = [(heads, relations), (tails, inverse_relation(relations))]
        if (anchor_tokens >= 0).any():  # a node that is its own anchor stays so without a loop
            given += [
                (end, np.where(heads == tails, -1, anchor_tokens[other]))
                for end, other in ((heads, tails), (tails, heads))
            ]
        none, wide = tokens.size, int(tokens.max(initial=0)) + 2
        filled = np.arange(len(tokens), dtype=np.int64).repeat(tokens.shape[1]) * wide + tokens.ravel()
        order = np.argsort(filled, kind="stable")
        ordered = filled[order]
        found = []
        for ends, token in given:
            wanted = ends * wide + np.where(token < 0, wide - 1, token)
            at = np.minimum(np.searchsorted(ordered, wanted), none - 1)
            found.append(np.where(ordered[at] == wanted, order[at], none))
        of_triple = np.stack(found)
        counts = np.bincount(of_triple.ravel(), minlength=none + 1)
        return cls(torch.from_numpy(of_triple).to(device), torch.from_numpy(counts).to(device))

    def without(
        self,
        tokens: Int[Tensor, "node slot"],
        triples: Int[Tensor, " hidden"],
        is_hidden: Bool[Tensor, " hidden"],
        padding: int,
    ) -> Int[Tensor, "node slot"]:
        """The tokens of a graph without some distinct triples."""
        places = torch.where(is_hidden, self.of_triple[:, triples], len(self.counts) - 1)
        gone = torch.zeros_like(self.counts).index_add_(0, places.flatten(), torch.ones_like(places.flatten()))
        is_empty = ((gone >= self.counts) & (self.counts > 0))[:-1].view(tokens.shape)
        return torch.where(is_empty, padding, tokens)


def node_triples(graph: KnowledgeGraph, tokenised: TokenisedGraph) -> tuple[NDArray[np.int32], Ids]:
    """The connected entities, and the triples that the model knows in their numbers, relations directed."""
    nodes = graph.connected_entities
    node_of_entity = np.zeros(graph.num_entities, np.int64)
    node_of_entity[nodes] = np.arange(len(nodes))
    relations = tokenised.relations.forwards[graph.relations]
    kept = relations >= 0
    return nodes, np.stack([node_of_entity[graph.heads[kept]], relations[kept], node_of_entity[graph.tails[kept]]])


def _anchor_tokens(num_entities: int, tokenised: TokenisedGraph, num_relations: int) -> Ids:
    """The token that each entity is, or -1."""
    found = np.full(num_entities, -1, np.int64)
    known = np.flatnonzero(tokenised.anchor_entities >= 0)
    found[tokenised.anchor_entities[known]] = num_relations + known
    return found


def _keys(triples: Ids, num_relations: int, num_nodes: int) -> Ids:
    if num_nodes * num_nodes * num_relations > np.iinfo(np.int64).max:
        raise TooLarge(f"{num_nodes:,} nodes and {num_relations:,} relations are more than triples can be numbered for")
    heads, relations, tails = triples
    forwards = (heads * num_relations + relations) * num_nodes + tails
    backwards = (tails * num_relations + inverse_relation(relations)) * num_nodes + heads
    return np.concatenate([forwards, backwards])
