"""What a NodePiece-QE model is, and what it learns from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from unseen.nn.compgcn import Aggregate
from unseen.nn.scorers import Name

Encoder = Literal["random-projection", "concat"]
Loss = Literal["bce", "softmax"]


@dataclass(frozen=True)
class NodePieceShape:
    """The shape of a model; defaults are the paper's without a GNN on the ratio 175."""

    dim: int = 400
    """Of tokens, relations and entities."""
    tokens: int = 20
    """Relation tokens of a node; with `random-projection` so many for each direction."""
    encoder: Encoder = "random-projection"
    hidden_dim: int = 0
    """Of the encoder's MLP; 0 is dim (random-projection) or twice that (concat), as in the paper."""
    layers: int = 0
    """Of CompGCN; 0 is none."""
    aggregate: Aggregate = "sum"
    scorer: Name = "complex"
    margin: float = 12.0
    """Of scorers by distance."""
    dropout: float = 0.0
    anchors_per_node: int = 0
    """Nearest anchors among a node's tokens; needs `concat`."""
    token_seed: int = 0
    """Of the order in which relations are kept where a node has too many."""

    @property
    def encoder_hidden_dim(self) -> int:
        """The width of the encoder's hidden layer."""
        return self.hidden_dim or self.dim * (2 if self.encoder == "concat" else 1)


@dataclass(frozen=True)
class LinkObjective:
    """What is learned from."""

    negatives: int = 128
    """Drawn for each triple; 0 takes all nodes."""
    share_negatives: bool = False
    """Draw them once for all triples of a batch."""
    temperature: float = 0.5
    """Of the softmax that weighs negatives; small means that only the hardest count."""
    loss: Loss = "bce"
    hidden_targets: float = 0.0
    """Probability that an edge to predict is hidden from the tokens and the GNN that predict it."""
    token_dropout: float = 0.0
    """Probability that a token of a node is left out in a step."""
