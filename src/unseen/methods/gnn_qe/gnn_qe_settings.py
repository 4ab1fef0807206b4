"""The settings of GNN-QE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.methods.trained_method import TrainedMethod
from unseen.methods.training_settings import (
    BELOW_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    TRAINED_TYPES,
    TrainingConfig,
    fixed_setting,
    one_of,
    parsed_weights,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.methods.fuzzy_gnn.neural_projector import Answering, FuzzyObjective
    from unseen.methods.gnn_qe.gnn_qe import GnnQe


@dataclass(frozen=True)
class GnnQeConfig(TrainingConfig):
    """Settings of GNN-QE: the defaults are the paper's, plus what validation chose (docs/explanation/gnn-qe.md)."""

    types: tuple[str, ...] = fixed_setting(TRAINED_TYPES, "Types of queries to train on.")
    type_weights: tuple[str, ...] = fixed_setting((), "How often a type is drawn beside others, as 1p=2; 1 by default.")
    layers: int = fixed_setting(4, "Layers of the network in each projection.", POSITIVE)
    dim: int = fixed_setting(32, "Width of the network.", POSITIVE)
    hidden_dim: int = fixed_setting(64, "Width of the output's hidden layer.", POSITIVE)
    message: str = fixed_setting(
        "distmult", "How messages are made: distmult, transe, rotate.", one_of("distmult", "transe", "rotate")
    )
    relation_dropout: float = setting(0.3, "Share of the relations' numbers that is left out in a step.", BELOW_ONE)
    traversal_dropout: float = setting(0.5, "Probability that an edge on a walk to an answer is hidden.", SHARE)
    temperature: float = setting(0.1, "Of the weights of negatives; small means that only the hardest count.", POSITIVE)
    ceiling: float = setting(0.9, "Answering: the largest membership of what no observed edge supports.", SHARE)
    sharpness: float = setting(
        16.0,
        "Answering: predictions count to this power; without known facts or --inner-facts, those under a not.",
        POSITIVE,
    )
    inner_facts: bool = setting(True, "Inner sets in training follow visible edges, as answering with known facts.")
    known_weight: float = setting(0.3, "Weight of an answer that visible edges give; 1 is the paper's.", SHARE)
    memory_gib: float = setting(0.0, "Memory for one projection; 0 is half of the GPU, or 8 on the CPU.", NOT_NEGATIVE)

    def __post_init__(self) -> None:
        super().__post_init__()
        parsed_weights(self.type_weights)


def answering_of(config: GnnQeConfig, *, known_facts: bool) -> Answering:
    """How a network with these settings answers."""
    from unseen.methods.fuzzy_gnn.neural_projector import Answering

    return Answering(known_facts, config.ceiling, config.sharpness, sharpens_alone=config.inner_facts)


def objective_of(config: GnnQeConfig) -> FuzzyObjective:
    """What a network with these settings learns."""
    from unseen.methods.fuzzy_gnn.neural_projector import FuzzyObjective

    return FuzzyObjective(config.traversal_dropout, config.temperature, config.inner_facts, config.known_weight)


def projection_memory(config: GnnQeConfig) -> int | None:
    """Bytes for one projection; None is as much as the device suggests."""
    return int(config.memory_gib * 2**30) or None


def _make(
    config: GnnQeConfig,
    relation_names: Sequence[str],
    entity_names: Sequence[str],  # noqa: ARG001 - it knows relations only
    *,
    known_facts: bool,
) -> GnnQe:
    from unseen.methods.gnn_qe.gnn_qe import GnnQe, GnnQeShape

    shape = GnnQeShape(
        config.dim,
        config.layers,
        config.hidden_dim,
        config.message,  # type: ignore[arg-type]
        config.relation_dropout,
    )
    answering = answering_of(config, known_facts=known_facts)
    return GnnQe(relation_names, shape, objective_of(config), answering=answering, memory=projection_memory(config))


GNN_QE = TrainedMethod("gnn-qe", GnnQeConfig, _make, learns_from="queries")
