"""What a BetaE model is, and what it learns from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BetaShape:
    """The shape of a model; defaults are the paper's and, where it is silent, the published ones for FB15k-237."""

    dim: int = 400
    """Beta distributions of an entity, numbers of a relation."""
    hidden_dim: int = 1600
    """Of the projection's MLP."""
    hidden_layers: int = 2
    margin: float = 60.0
    """The distance at which an entity is as likely an answer as not."""
    seed: int = 0
    """Of the vectors of entities by name: where training begins, and where an entity that it never met stays."""

    @property
    def spread(self) -> float:
        """The largest number in a fresh vector, as published."""
        return (self.margin + 2) / self.dim


@dataclass(frozen=True)
class BetaObjective:
    """What is learned from."""

    negatives: int = 32
    """Drawn for each query among the entities that do not answer it."""
    rare_first: bool = True
    """Weigh a query by 1 / sqrt(4 + its answers), as published, so that broad questions do not drown the others."""
