"""The settings of BetaE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.methods.trained_method import TrainedMethod
from unseen.methods.training_settings import (
    BELOW_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    TRAINED_TYPES,
    TrainingConfig,
    fixed_setting,
    one_of,
    parsed_weights,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.methods.beta_e.beta_e import BetaE


@dataclass(frozen=True)
class BetaEConfig(TrainingConfig):
    """Settings of BetaE; defaults are the paper's, and where it is silent the published ones for FB15k-237."""

    batch_size: int = fixed_setting(512, "Queries in a step, over all processes.", POSITIVE)
    steps: int = setting(200_000, "Steps in all.", POSITIVE)
    learning_rate: float = setting(5e-4, "Of Adam.", POSITIVE)
    average: float = setting(
        0.0, "Decay of the average of the weights that is validated and kept; 0 is the weights themselves.", BELOW_ONE
    )
    validate_every: int = setting(10_000, "Steps between validations; 0 is only at the end.", NOT_NEGATIVE)
    validation_metric: str = setting(
        "mrr",
        "What the best checkpoint is best at.",
        one_of("mrr", "hits_at_1", "hits_at_3", "hits_at_10", "hits_at_100"),
    )
    checkpoint_every: int = setting(10_000, "Steps between checkpoints.", POSITIVE)
    log_every: int = setting(100, "Steps between lines of metrics.jsonl.", POSITIVE)
    types: tuple[str, ...] = fixed_setting(TRAINED_TYPES, "Types of queries to train on.")
    type_weights: tuple[str, ...] = fixed_setting((), "How often a type is drawn beside others, as 1p=2; 1 by default.")
    dim: int = fixed_setting(400, "Beta distributions of an entity, numbers of a relation.", POSITIVE)
    hidden_dim: int = fixed_setting(1600, "Width of the projection's hidden layers.", POSITIVE)
    hidden_layers: int = fixed_setting(2, "Hidden layers of the projection.", POSITIVE)
    margin: float = fixed_setting(60.0, "Distance at which an entity is as likely an answer as not.", POSITIVE)
    negatives: int = setting(32, "Entities for each query that do not answer it.", POSITIVE)
    rare_first: bool = setting(True, "Weigh queries of few answers up, as published.")

    def __post_init__(self) -> None:
        super().__post_init__()
        parsed_weights(self.type_weights)


def _make(
    config: BetaEConfig,
    relation_names: Sequence[str],
    entity_names: Sequence[str],
    *,
    known_facts: bool,  # noqa: ARG001 - its vectors are all it knows
) -> BetaE:
    from unseen.methods.beta_e.beta_e import BetaE
    from unseen.methods.beta_e.beta_shape import BetaObjective, BetaShape

    shape = BetaShape(config.dim, config.hidden_dim, config.hidden_layers, config.margin, config.seed)
    return BetaE(relation_names, entity_names, shape, BetaObjective(config.negatives, config.rare_first))


BETA_E = TrainedMethod("betae", BetaEConfig, _make, learns_from="single answers", known_entities="entities")
