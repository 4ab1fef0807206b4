"""Entity vectors of a graph: reused, updated where the graph has grown, or computed block by block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.stopping import check_stop
from unseen.methods.nodepiece_qe.entity_vectors import EntityVectors
from unseen.methods.nodepiece_qe.tokenised_graph import TokenisedGraph
from unseen.methods.nodepiece_qe.training_graph import node_triples
from unseen.nn.compgcn import TwoWayEdges

if TYPE_CHECKING:
    from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe

Ids = NDArray[np.int64]
State = tuple[object, ...]

BLOCK = 1 << 16
"""Entities whose vectors are computed at a time."""


@dataclass(frozen=True, eq=False)
class Materialised:
    """What a model has computed for one graph; `state` says with which weights."""

    state: State
    tokenised: TokenisedGraph
    edges: TwoWayEdges | None
    scores: EntityVectors


def materialise(
    model: NodePieceQe, graph: KnowledgeGraph, known: Mapping[KnowledgeGraph, Materialised]
) -> Materialised:
    """The vectors of a graph's entities, with as little work as what is `known` of this or of smaller graphs allows."""
    state, own = state_of(model), known.get(graph)
    if own is not None and own.state == state:
        return own
    base, tokenised, changed = _tokenised(model, graph, known)
    if model.network is not None:
        edges = own.edges if own is not None and own.state[0] == state[0] else None
        edges = edges or _edges(model, graph, tokenised)
        return Materialised(state, tokenised, edges, _refined(model, graph, tokenised, edges))
    if base is not None and base.state == state:
        vectors = _mended(model, tokenised, base.scores.vectors, changed)
    else:
        vectors = _encoded(model, tokenised.tokens)
    relations = model.encode(_no_tokens(model), None)[1].detach()
    return Materialised(state, tokenised, None, EntityVectors(vectors, relations, tokenised.relations, model.scorer))


def state_of(model: NodePieceQe) -> State:
    """Numbers that change whenever the weights, their device or the storage of vectors do."""
    weights = [weight.detach().double() for weight in model.state_dict().values()]
    sums, squares = [weight.sum() for weight in weights], [weight.square().sum() for weight in weights]
    return (str(model.device), model.storage, *torch.stack([*sums, *squares]).tolist())


def _tokenised(
    model: NodePieceQe, graph: KnowledgeGraph, known: Mapping[KnowledgeGraph, Materialised]
) -> tuple[Materialised | None, TokenisedGraph, Ids]:
    """The tokens of a graph: known, or from the largest known graph that it contains, and what changed since that."""
    if graph in known:
        return known[graph], known[graph].tokenised, np.empty(0, np.int64)
    smaller = [each for each in known.values() if each.tokenised.is_part_of(graph)]
    for base in sorted(smaller, key=lambda each: -len(each.tokenised.columns[0])):
        grown = model.tokeniser.after(base.tokenised, graph)
        if grown is not None:
            return base, *grown
    return None, model.tokeniser.of(graph), np.empty(0, np.int64)


def _encoded(model: NodePieceQe, tokens: NDArray[np.int32]) -> Float[Tensor, "entity dim"]:
    """The vectors of entities by their tokens alone, block by block."""
    vectors = torch.empty(len(tokens), model.architecture.dim, dtype=model.storage, device=model.device)
    table = model.encoder.table(model.vocabulary, len(tokens))
    for start in range(0, len(tokens), BLOCK):
        check_stop()
        block = torch.from_numpy(tokens[start : start + BLOCK]).to(model.device)
        vectors[start : start + BLOCK] = model.encode(block, None, table=table)[0].to(model.storage)
    return vectors


def _mended(
    model: NodePieceQe, tokenised: TokenisedGraph, old: Float[Tensor, "old dim"], changed: Ids
) -> Float[Tensor, "entity dim"]:
    """The old vectors, with those of changed entities recomputed."""
    vectors = old.new_empty(tokenised.num_entities, old.shape[1])
    vectors[: len(old)] = old
    vectors[torch.from_numpy(changed).to(old.device)] = _encoded(model, tokenised.tokens[changed])
    return vectors


def _edges(model: NodePieceQe, graph: KnowledgeGraph, tokenised: TokenisedGraph) -> TwoWayEdges:
    """The edges among connected entities and one more node, which stands for all entities without an edge."""
    nodes, triples = node_triples(graph, tokenised)
    columns = (torch.from_numpy(column) for column in triples)
    return TwoWayEdges.of(*columns, size=(len(nodes) + 1, model.num_relations), device=model.device)


def _refined(model: NodePieceQe, graph: KnowledgeGraph, tokenised: TokenisedGraph, edges: TwoWayEdges) -> EntityVectors:
    """The vectors of entities after the GNN, and those of relations."""
    nodes = graph.connected_entities.astype(np.int64)
    lonely = np.full((1, tokenised.tokens.shape[1]), model.tokeniser.padding, np.int32)
    tokens = torch.from_numpy(np.concatenate([tokenised.tokens[nodes], lonely])).to(model.device)
    found, relations = model.encode(tokens, edges)
    vectors = found[-1:].to(model.storage).repeat(graph.num_entities, 1)
    vectors[torch.from_numpy(nodes).to(model.device)] = found[:-1].to(model.storage)
    return EntityVectors(vectors, relations, tokenised.relations, model.scorer)


def _no_tokens(model: NodePieceQe) -> Tensor:
    return torch.empty(0, model.tokeniser.slots, dtype=torch.int32, device=model.device)
