"""BetaE, the transductive control: vectors that belong to the entities of the training graph."""

from unseen.methods.beta_e.method import BetaE
from unseen.methods.beta_e.settings import Architecture, Objective

__all__ = ["Architecture", "BetaE", "Objective"]
