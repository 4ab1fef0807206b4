"""The settings of NodePiece-QE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.errors import ConfigError
from unseen.methods.trained_method import TrainedMethod
from unseen.methods.training_settings import (
    BELOW_ONE,
    EVEN,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    TrainingConfig,
    fixed_setting,
    one_of,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
    from unseen.methods.nodepiece_qe.token_shape import LinkObjective, NodePieceShape

PAPER_BATCH = 256
"""Triples in a batch; an epoch shows each triple once."""
PAPER_EPOCHS, PAPER_EPOCHS_WITH_GNN = 2000, 1000
TOKENS, DIM, LAYERS = 20, 400, 3


@dataclass(frozen=True)
class NodePieceQeConfig(TrainingConfig):
    """Settings of NodePiece-QE; defaults are the paper's for its reference dataset, see `recipes`."""

    recipe: str = setting(
        "paper",
        "Where other defaults come from: paper (its reference dataset), large-batch (minutes on a GPU).",
        one_of("paper", "large-batch"),
    )
    batch_size: int = fixed_setting(256, "Triples in a step, over all processes.", POSITIVE)
    steps: int = setting(400_477, "Steps in all.", POSITIVE)
    learning_rate: float = setting(1e-4, "Of Adam.", POSITIVE)
    average: float = setting(
        0.0, "Decay of the average of the weights that is validated and kept; 0 is the weights themselves.", BELOW_ONE
    )
    validate_every: int = setting(2000, "Steps between validations; 0 is only at the end.", NOT_NEGATIVE)
    validation_queries: int = setting(1000, "Queries a type in a validation, always the same ones.", POSITIVE)
    validation_types: tuple[str, ...] = setting(("1p",), "Types of queries in a validation; it learns from 1p alone.")
    gnn: bool = fixed_setting(False, "Refine entity vectors by CompGCN along the edges.")
    layers: int = fixed_setting(3, "Layers of CompGCN, if there is one.", POSITIVE)
    dim: int = fixed_setting(400, "Width of tokens, relations and entities; even.", EVEN)
    hidden_dim: int = fixed_setting(
        0, "Width of the encoder's hidden layer; 0 is dim, with concat twice that.", NOT_NEGATIVE
    )
    encoder: str = fixed_setting(
        "auto",
        "How tokens become a vector: random-projection, concat; auto is concat with a GNN or anchors.",
        one_of("auto", "random-projection", "concat"),
    )
    tokens: int = fixed_setting(
        20, "Relation tokens of a node; random-projection has so many for each direction.", POSITIVE
    )
    anchors: int = fixed_setting(0, "Nodes of the training graph that are tokens too; 0 is none.", NOT_NEGATIVE)
    anchors_per_node: int = fixed_setting(20, "Nearest anchors among a node's tokens, if there are anchors.", POSITIVE)
    aggregate: str = fixed_setting("sum", "How CompGCN adds messages up: sum, mean.", one_of("sum", "mean"))
    scorer: str = fixed_setting(
        "complex",
        "How a link is scored: complex, distmult, transe, rotate.",
        one_of("complex", "distmult", "transe", "rotate"),
    )
    margin: float = fixed_setting(12.0, "Logit of a link of distance 0, for transe and rotate.", POSITIVE)
    dropout: float = setting(0.0, "Of the encoder's hidden layer and of CompGCN's updates.", BELOW_ONE)
    negatives: int = setting(128, "Negatives for each triple; 0 takes all nodes.", NOT_NEGATIVE)
    share_negatives: bool = setting(False, "Draw negatives once for all triples of a batch.")
    temperature: float = setting(0.5, "Of the weights of negatives; small means that only the hardest count.", POSITIVE)
    loss: str = setting("bce", "bce (logits are memberships), or softmax (they only rank).", one_of("bce", "softmax"))
    hidden_targets: float = setting(
        0.0, "Probability that an edge to predict is hidden from the tokens and the GNN that predict it.", SHARE
    )
    token_dropout: float = setting(0.0, "Probability that a token of a node is left out in a step.", BELOW_ONE)
    storage: str = setting(
        "float32", "How entity vectors are kept to answer: float32, bfloat16.", one_of("float32", "bfloat16")
    )


def _completed(settings: Mapping[str, Any], num_triples: int) -> dict[str, Any]:
    """The settings of a new run, with the recipe's values where there are none."""
    recipe = _large_batch if settings.get("recipe") == "large-batch" else _paper
    return recipe(bool(settings.get("gnn", False)), max(1, num_triples)) | dict(settings)


def _paper(gnn: bool, triples: int) -> dict[str, Any]:
    """The paper's settings for its reference dataset, with as many epochs on a graph of any size."""
    return {
        "tokens": TOKENS,
        "dim": DIM // 2 if gnn else DIM,
        "layers": LAYERS,
        "temperature": 1.0 if gnn else 0.5,
        "batch_size": PAPER_BATCH,
        "negatives": 128,
        "learning_rate": 5e-4 if gnn else 1e-4,
        "steps": -(-(PAPER_EPOCHS_WITH_GNN if gnn else PAPER_EPOCHS) * triples // PAPER_BATCH),
    }


def _large_batch(gnn: bool, triples: int) -> dict[str, Any]:
    """The paper's model with all nodes as negatives; a step never sees the links that it asks for.

    It fits a small graph within a thousand steps. Dropout, of tokens too where a GNN reads them, and batches that hide
    a large part of the graph keep it from overfitting; both were chosen on the validation queries of 175.
    """
    shared = {
        "tokens": TOKENS,
        "dim": DIM,
        "layers": LAYERS,
        "temperature": 1.0,
        "negatives": 0,
        "hidden_targets": 1.0,
        "learning_rate": 1e-3,
        "schedule": "cosine",
        "warmup": 200,
        "validate_every": 250,
        "average": 0.999,
    }
    if not gnn:
        return shared | {"batch_size": max(64, min(4096, triples // 8)), "dropout": 0.2, "steps": 3000}
    size = max(64, min(12_288, triples // 4))
    return shared | {"batch_size": size, "dropout": 0.4, "token_dropout": 0.3, "steps": 2500}


def _make(
    config: NodePieceQeConfig, relation_names: Sequence[str], entity_names: Sequence[str], *, known_facts: bool
) -> NodePieceQe:
    import torch

    from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe

    storage = {"float32": torch.float32, "bfloat16": torch.bfloat16}[config.storage]
    return NodePieceQe(
        relation_names,
        _shape(config),
        _objective(config),
        anchor_names=entity_names,
        known_facts=known_facts,
        storage=storage,
    )


def _shape(config: NodePieceQeConfig) -> NodePieceShape:
    from unseen.methods.nodepiece_qe.token_shape import NodePieceShape

    return NodePieceShape(
        dim=config.dim,
        tokens=config.tokens,
        encoder=_encoder(config),  # type: ignore[arg-type]
        hidden_dim=config.hidden_dim,
        layers=config.layers if config.gnn else 0,
        aggregate=config.aggregate,  # type: ignore[arg-type]
        scorer=config.scorer,  # type: ignore[arg-type]
        margin=config.margin,
        dropout=config.dropout,
        anchors_per_node=config.anchors_per_node if config.anchors else 0,
        token_seed=config.seed,
    )


def _objective(config: NodePieceQeConfig) -> LinkObjective:
    from unseen.methods.nodepiece_qe.token_shape import LinkObjective

    return LinkObjective(
        config.negatives,
        config.share_negatives,
        config.temperature,
        config.loss,  # type: ignore[arg-type]
        config.hidden_targets,
        config.token_dropout,
    )


def _encoder(config: NodePieceQeConfig) -> str:
    if config.encoder == "random-projection" and config.anchors:
        raise ConfigError("anchors need --encoder concat: random-projection has two sets of relations only")
    if config.encoder != "auto":
        return config.encoder
    return "concat" if config.gnn or config.anchors else "random-projection"


NODEPIECE_QE = TrainedMethod(
    "nodepiece-qe", NodePieceQeConfig, _make, learns_from="links", known_entities="anchors", recipe=_completed
)
