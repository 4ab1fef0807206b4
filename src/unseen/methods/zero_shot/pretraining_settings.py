"""The settings of pre-training: the zero-shot model learns from many graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unseen.errors import ConfigError
from unseen.methods.training_settings import (
    BELOW_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    TYPES,
    fixed_setting,
    one_of,
    setting,
)
from unseen.methods.zero_shot.zero_shot_settings import ZERO_SHOT, ZeroShotConfig


@dataclass(frozen=True)
class PretrainingConfig(ZeroShotConfig):
    """Settings of pre-training: those of the zero-shot model, and how worlds are cut out of graphs."""

    batch_size: int = fixed_setting(32, "Queries in a step, all on one world.", POSITIVE)
    types: tuple[str, ...] = fixed_setting(TYPES, "Types of queries to train on.")
    known_weight: float = setting(0.1, "Weight of an answer that visible edges give; 1 is the paper's.", SHARE)
    schedule: str = setting(
        "cosine", "How it falls to zero: constant, linear, cosine.", one_of("constant", "linear", "cosine")
    )
    warmup: int = setting(200, "Steps in which it rises from zero.", NOT_NEGATIVE)
    validation_queries: int = setting(50, "Queries a type and graph in a validation, always the same ones.", POSITIVE)
    validation_types: tuple[str, ...] = setting(
        ("1p", "2p", "2i", "pi", "2in", "pin"), "Types of queries in a validation."
    )
    calibration_queries: int = setting(
        200, "Queries a type and graph that probabilities are fitted to at the end; 0 is none.", NOT_NEGATIVE
    )
    worlds_at_once: int = fixed_setting(4, "Worlds that take turns, step by step.", POSITIVE)
    steps_per_world: int = fixed_setting(32, "Steps in each world before it is replaced.", POSITIVE)
    smallest_world: int = fixed_setting(5_000, "Edges of the smallest worlds, about.", POSITIVE)
    largest_world: int = fixed_setting(300_000, "Edges of the largest worlds.", POSITIVE)
    queries_per_type: int = fixed_setting(400, "Most queries of a type that a world is asked.", POSITIVE)
    whole_worlds: float = fixed_setting(0.3, "Share of the worlds in which no edge is hidden beforehand.", SHARE)
    hidden_share: float = fixed_setting(0.4, "In the others, the largest share of all edges that is hidden.", SHARE)
    growing_worlds: float = fixed_setting(
        0.6, "Of these worlds, the share in which only edges of new entities are hidden.", SHARE
    )
    rare_relations: float = fixed_setting(
        0.3, "And the largest share of relations that keep a handful of edges.", SHARE
    )
    dense_worlds: float = fixed_setting(0.0, "Share of the worlds that are a few entities with many edges.", SHARE)
    few_relation_worlds: float = fixed_setting(
        0.0, "Share of the worlds that are small and keep only a few of the relations.", SHARE
    )
    hub_worlds: float = fixed_setting(
        0.0, "Share of the worlds that are nearly complete and mostly asked from hubs with many known answers.", SHARE
    )
    made_up_relations: float = fixed_setting(
        0.0, "Largest share of relations that are cut into pieces in a world, and of shortcuts added to it.", SHARE
    )
    held_out: float = fixed_setting(0.1, "Share of entities and relations set aside for validation.", BELOW_ONE)
    sampler_threads: int = setting(0, "Threads that make worlds; 0 is all cores but one, at most 8.", NOT_NEGATIVE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.relation_memory:
            raise ConfigError("relation_memory is for a dataset of one's own; worlds are to be answered without names")


PRETRAINING = replace(ZERO_SHOT, name="pretraining", settings=PretrainingConfig, model_name=ZERO_SHOT.name)
