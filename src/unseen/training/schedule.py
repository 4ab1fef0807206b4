"""The learning rate as a function of the step alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unseen.methods.training_settings import TrainingConfig


def learning_rate(config: TrainingConfig, step: int) -> float:
    """Rises over `warmup` steps, then stays, or falls to zero along a line or a cosine at the last step.

    Whatever it does, over the last `decay_steps` steps it is multiplied by a factor that falls from one to zero.
    """
    return _scheduled(config, step) * min(1.0, (config.steps - step) / max(1, config.decay_steps))


def _scheduled(config: TrainingConfig, step: int) -> float:
    if step < config.warmup:
        return config.learning_rate * (step + 1) / config.warmup
    done = (step - config.warmup) / max(1, config.steps - config.warmup)
    share = {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}[config.schedule]
    return config.learning_rate * share
