"""NodePiece-QE: a vector for any entity of any graph, from tokens that all graphs share (the paper, section 4.1).

The tokens of an entity are the directed relations at it (and, if wanted, the anchors nearest to it); an encoder makes a
vector of them, CompGCN refines all vectors along the edges if there are layers, and a scorer says how likely a link is.
It learns from single links only. `opened(graph)` gives the scores of all links of a graph; an executor answers whole
questions with them: CQD-Beam, here with its default options, in an opened run with those that `unseen tune` chose.

What is learned belongs to relation *names* (and anchor names): a question about a relation that the model never saw is
refused, edges of such relations are not read. An entity without edges has the vector of padding alone.

**When a graph grows**, entities at new edges are tokenised again; without GNN, only their vectors are recomputed.
With GNN all are: a few layers reach most of a graph through its hubs.

Cost: entity vectors take entity x dim numbers; a row of logits entity x dim operations; a layer a pass over the edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution
from unseen.methods.cqd_beam import BeamOptions, CqdBeam
from unseen.methods.cqd_beam.score_blocks import BeamScoreBlocks
from unseen.methods.nodepiece_qe.entity_vectors import EntityVectors
from unseen.methods.nodepiece_qe.link_loss import are_true, link_losses
from unseen.methods.nodepiece_qe.materialise import Materialised, materialise
from unseen.methods.nodepiece_qe.token_shape import LinkObjective, NodePieceShape
from unseen.methods.nodepiece_qe.tokenised_graph import Tokeniser
from unseen.methods.nodepiece_qe.training_graph import LinkBatch, TrainingGraph
from unseen.methods.trainable import Trainable
from unseen.nn.compgcn import CompGCN, TwoWayEdges
from unseen.nn.scorers import make_scorer
from unseen.nn.token_encoders import ConcatEncoder, RandomProjectionEncoder
from unseen.nn.tokens import RelationTokens

Masks = tuple[Tensor, Tensor]

CHEAPER_THAN_GATHERED = 64
"""So many logits by a matrix product cost less than one by gathering a vector."""


class NodePieceQe(Trainable):
    """The method: a `LinkScorer`, an `Answerer`, an `Estimator`, and trainable."""

    def __init__(
        self,
        relation_names: Sequence[str],
        architecture: NodePieceShape | None = None,
        objective: LinkObjective | None = None,
        *,
        anchor_names: Sequence[str] = (),
        known_facts: bool = True,
        storage: torch.dtype = torch.float32,
    ) -> None:
        """For relations and anchors of these names; entity vectors are stored as `storage`."""
        super().__init__()
        shape = self.architecture = architecture or NodePieceShape()
        self.objective = objective or LinkObjective()
        self.known_facts, self.storage = known_facts, storage
        self.num_relations = 2 * len(relation_names)
        by_direction = shape.encoder == "random-projection"
        relation_tokens = RelationTokens(self.num_relations, shape.tokens, by_direction, shape.token_seed)
        names = (tuple(relation_names), tuple(anchor_names))
        self.tokeniser = Tokeniser(*names, relation_tokens, shape.anchors_per_node)
        self.scorer = make_scorer(shape.scorer, shape.margin)
        relation_dim = shape.dim if shape.layers else self.scorer.relation_dim(shape.dim)
        self.vocabulary = nn.Parameter(torch.randn(self.tokeniser.padding, shape.dim) * shape.dim**-0.5)
        self.relations = nn.Parameter(torch.randn(self.num_relations, relation_dim) * shape.dim**-0.5)
        self.encoder: RandomProjectionEncoder | ConcatEncoder = _encoder(shape, self.tokeniser)
        self.network = CompGCN(shape.dim, shape.layers, shape.aggregate, shape.dropout) if shape.layers else None
        self.beams = CqdBeam(self, BeamOptions(known_facts=known_facts))
        self._known: WeakKeyDictionary[KnowledgeGraph, Materialised] = WeakKeyDictionary()

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The relations that the model knows, in its order."""
        return self.tokeniser.relation_names

    @property
    def device(self) -> torch.device:
        """Where the weights are, and where everything is computed."""
        return self.vocabulary.device

    def opened(self, graph: KnowledgeGraph) -> EntityVectors:
        """The vectors of a graph's entities: made once for each graph and state of the weights, gone with the graph."""
        with torch.no_grad():
            known = self._known[graph] = materialise(self, graph, self._known)
        return known.scores

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Memberships of all entities in the answers of each query."""
        return self.beams.answer(graph, queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same, and the fuzzy sets of all sub-queries."""
        return self.beams.estimate(graph, queries)

    def score_blocks(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> BeamScoreBlocks:
        """The same memberships, a block of entities at a time."""
        return self.beams.score_blocks(graph, queries)

    def training_graph(self, graph: KnowledgeGraph) -> TrainingGraph:
        """A graph as links to learn, on the model's device."""
        tokenised = self.tokeniser.of(graph)
        gnn = self.network is not None
        return TrainingGraph.of(graph, tokenised, self.num_relations, self.device, gnn=gnn)

    def prepare(self, graph: TrainingGraph, numbers: NDArray[np.int64], share: slice = slice(None)) -> LinkBatch:
        """Everything about a batch of triples that the host has to do; `share` is this process's part of it."""
        return graph.batch(numbers, share=share, all_answers=self.objective.negatives == 0)

    def losses(self, batch: LinkBatch, generator: torch.Generator) -> Float[Tensor, " row"]:
        """The loss of each link of a prepared batch."""
        tokens, masks = self._visible(batch, generator)
        drawn = self._draw(batch, generator)
        if drawn is None or self.network is not None or drawn.numel() + 2 * len(batch.sources) > len(tokens):
            nodes, relations = self.encode(tokens, batch.graph.edges, masks, generator)
            sources, targets = (nodes.index_select(0, part) for part in (batch.sources, batch.targets))
            others = nodes if drawn is None or self._all_are_cheaper(drawn, nodes) else _rows(nodes, drawn)
        else:  # fewer nodes take part than there are
            needed = (batch.sources, batch.targets, drawn.flatten())
            found, relations = self.encode(tokens[torch.cat(needed)], None, None, generator)
            sources, targets, others = torch.split(found, [len(part) for part in needed])
            others = others.view(*drawn.shape, -1)
        towards = self.scorer.towards(sources, relations.index_select(0, batch.relations))
        return self._held_against(batch, towards, targets, others, drawn)

    def encode(
        self,
        tokens: Int[Tensor, "node slot"],
        edges: TwoWayEdges | None,
        masks: Masks | None = None,
        generator: torch.Generator | None = None,
        table: Tensor | None = None,
    ) -> tuple[Float[Tensor, "node dim"], Float[Tensor, "relation other"]]:
        """Vectors of nodes with these tokens, and of relations; with a generator, dropout is on.

        `table` is the encoder's for these weights, where it is asked for many nodes block by block.
        """
        nodes, relations = self.encoder(self.vocabulary, tokens, generator, table), self.relations
        if self.network is not None and edges is not None:
            nodes, relations = self.network(edges, nodes, relations, masks, generator)
        return nodes, relations[:, : self.scorer.relation_dim(self.architecture.dim)]

    def _visible(self, batch: LinkBatch, generator: torch.Generator) -> tuple[Tensor, Masks | None]:
        """The tokens and edges that a batch may see: not all of what it asks for, nor every other token."""
        graph, share, padding = batch.graph, self.objective.hidden_targets, self.tokeniser.padding
        tokens, masks = graph.tokens, None
        if share > 0:
            is_hidden = torch.rand(len(batch.edges), generator=generator, device=self.device) < share
            tokens = graph.slots.without(tokens, batch.edges, is_hidden, padding)
            masks = None if graph.edges is None else graph.edges.without(batch.edges, is_hidden)
        if self.objective.token_dropout > 0:
            drawn = torch.rand(tokens.shape, generator=generator, device=self.device)
            tokens = torch.where(drawn < self.objective.token_dropout, padding, tokens)
        return tokens, masks

    def _draw(self, batch: LinkBatch, generator: torch.Generator) -> Tensor | None:
        """Random nodes as negatives: the same for all rows [each], or for each of them [row, each]; None if all."""
        goal, (share, whole) = self.objective, batch.place
        if goal.negatives == 0:
            return None
        size = (goal.negatives,) if goal.share_negatives else (whole, goal.negatives)
        drawn = torch.randint(batch.graph.num_nodes, size, generator=generator, device=self.device)
        return drawn if goal.share_negatives else drawn[share]

    def _all_are_cheaper(self, drawn: Tensor, nodes: Float[Tensor, "node dim"]) -> bool:
        """Whether the logits of all nodes, of which a few are then taken, cost less than gathering vectors for each."""
        return drawn.dim() == 2 and len(nodes) <= CHEAPER_THAN_GATHERED * drawn.shape[1]

    def _held_against(
        self, batch: LinkBatch, towards: Tensor, targets: Tensor, others: Tensor, drawn: Tensor | None
    ) -> Float[Tensor, " row"]:
        """The losses of links, given the vectors of true tails and of others."""
        graph, goal = batch.graph, self.objective
        negative = self.scorer.pairs(towards, others) if others.dim() == 3 else self.scorer.matrix(towards, others)
        if drawn is not None and drawn.dim() == others.dim() == 2:  # of the logits of all nodes
            negative = negative.gather(1, drawn)
        if drawn is None:
            positive = negative.gather(1, batch.targets.unsqueeze(1)).squeeze(1)
            is_true = batch.answers()
        else:
            positive = self.scorer.pairs(towards, targets.unsqueeze(1)).squeeze(1)
            prefixes = batch.sources * graph.num_relations + batch.relations
            is_true = are_true(graph.device_keys, prefixes, drawn.expand(len(prefixes), -1), graph.num_nodes)
        return link_losses(positive, negative, is_true, goal.temperature, goal.loss)


def _rows(table: Float[Tensor, "node dim"], places: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape dim"]:
    """Rows of a table; gradients are added up row by row, which is quicker than what indexing does."""
    return table.index_select(0, places.flatten()).view(*places.shape, -1)


def _encoder(shape: NodePieceShape, tokeniser: Tokeniser) -> RandomProjectionEncoder | ConcatEncoder:
    if shape.encoder == "random-projection":
        if shape.anchors_per_node:
            raise ValueError("anchors need the encoder concat: random-projection has two sets of relations")
        return RandomProjectionEncoder(shape.dim, shape.dropout)
    return ConcatEncoder(tokeniser.slots, shape.dim, shape.encoder_hidden_dim, shape.dim, shape.dropout)
