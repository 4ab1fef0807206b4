"""Two graphs that a tiny model learns from in seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.training.pretraining.source_graphs import NamedGraph

SETTINGS: dict[str, Any] = {
    "steps": 6,
    "batch_size": 6,
    "dim": 4,
    "layers": 2,
    "relation_layers": 2,
    "hidden_dim": 4,
    "types": ("1p", "2p", "2i", "2in"),
    "validation_types": ("1p", "2i"),
    "validate_every": 3,
    "validation_queries": 5,
    "calibration_queries": 5,
    "checkpoint_every": 2,
    "log_every": 1,
    "threads": 1,
    "device": "cpu",
    "worlds_at_once": 2,
    "steps_per_world": 2,
    "smallest_world": 60,
    "largest_world": 200,
    "queries_per_type": 10,
    "sampler_threads": 2,
    "warmup": 0,
}


def ring(name: str, entities: int, steps: tuple[int, ...], seed: int = 0, share: float = 0.8) -> NamedGraph:
    """Relation i leads `steps[i]` places on along a ring; a share of its edges is there."""
    random = np.random.default_rng(seed)
    heads = np.tile(np.arange(entities), len(steps))
    relations = np.repeat(np.arange(len(steps)), entities)
    tails = (heads + np.array(steps)[relations]) % entities
    kept = random.random(len(heads)) < share
    names = (
        [f"{name} entity {number}" for number in range(entities)],
        [f"{name} {number}" for number in range(len(steps))],
    )
    return NamedGraph(name, KnowledgeGraph(heads[kept], relations[kept], tails[kept], Vocabulary.of(*names)))


def small_graphs() -> list[NamedGraph]:
    """A ring of steps of 1, 2, 3, 4, -1 and one of 1, 3, -3, 4."""
    return [ring("first", 60, (1, 2, 3, 4, -1)), ring("second", 80, (1, 3, -3, 4))]
