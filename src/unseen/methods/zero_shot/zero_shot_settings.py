"""The settings of the zero-shot model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.methods.gnn_qe.gnn_qe_settings import GnnQeConfig, answering_of, objective_of, projection_memory
from unseen.methods.trained_method import TrainedMethod
from unseen.methods.training_settings import BELOW_ONE, NOT_NEGATIVE, POSITIVE, fixed_setting, one_of, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.methods.zero_shot.zero_shot import ZeroShot


@dataclass(frozen=True)
class ZeroShotConfig(GnnQeConfig):
    """Settings of the zero-shot model: those of GNN-QE, and the network over relations; the shape is the published."""

    layers: int = fixed_setting(6, "Layers of the network in each projection.", POSITIVE)
    relation_layers: int = fixed_setting(6, "Layers of the network over the graph of relations.", POSITIVE)
    dim: int = fixed_setting(64, "Width of both networks.", POSITIVE)
    statistics: bool = fixed_setting(False, "Vectors of relations also come from statistics of the graph's relations.")
    relation_states: str = fixed_setting(
        "none",
        "Vectors of relations also learn from states of entities: none; by_relation, which can be kept; by_source.",
        one_of("none", "by_relation", "by_source"),
    )
    state_rounds: int = fixed_setting(2, "Rounds in which they do, each a pass over all edges.", POSITIVE)
    relation_dropout: float = setting(0.0, "Share of the relations' numbers that is left out in a step.", BELOW_ONE)
    relation_memory: bool = fixed_setting(
        False, "Remember the dataset's relations by name, beside reading them as any; with --from the default."
    )
    memory_width: int = fixed_setting(
        32, "Numbers of a query relation that each layer remembers others by; 0 is none.", NOT_NEGATIVE
    )
    learning_rate: float = setting(1e-3, "Of Adam.", POSITIVE)
    clip_norm: float = setting(1.0, "Largest norm of a gradient; 0 is no limit.", NOT_NEGATIVE)


def make_zero_shot(
    config: ZeroShotConfig,
    relation_names: Sequence[str],
    entity_names: Sequence[str],  # noqa: ARG001 - it knows no entities
    *,
    known_facts: bool,
) -> ZeroShot:
    """The zero-shot model with fresh weights; it keeps the names of relations only with a memory of them."""
    from unseen.methods.zero_shot.zero_shot import ZeroShot, ZeroShotShape

    shape = ZeroShotShape(
        config.dim,
        config.layers,
        config.relation_layers,
        config.hidden_dim,
        config.message,  # type: ignore[arg-type]
        config.statistics,
        config.relation_dropout,
        config.relation_states,  # type: ignore[arg-type]
        config.state_rounds,
    )
    return ZeroShot(
        shape,
        objective_of(config),
        answering=answering_of(config, known_facts=known_facts),
        memory=projection_memory(config),
        remembers=relation_names if config.relation_memory else (),
        memory_width=config.memory_width,
    )


SHAPE = ("dim", "layers", "relation_layers", "hidden_dim", "message", "statistics", "relation_states", "state_rounds")
WAYS = ("ceiling", "sharpness", "inner_facts", "known_weight")
ZERO_SHOT = TrainedMethod("zero-shot", ZeroShotConfig, make_zero_shot, learns_from="queries", shape=SHAPE, ways=WAYS)
