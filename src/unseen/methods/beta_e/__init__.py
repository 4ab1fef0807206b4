"""BetaE, the transductive control: vectors that belong to the entities of the training graph."""

from unseen.methods.beta_e.beta_e import BetaE
from unseen.methods.beta_e.beta_shape import Architecture, Objective

__all__ = ["Architecture", "BetaE", "Objective"]
