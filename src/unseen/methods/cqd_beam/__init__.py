"""CQD-Beam: whole queries answered with a method that scores single links; see `method`."""

from unseen.methods.cqd_beam.method import CqdBeam
from unseen.methods.cqd_beam.options import BeamOptions, Choices
from unseen.methods.cqd_beam.tuning import Tuning
from unseen.methods.cqd_beam.vector_links import VectorLinks, VectorScorer

__all__ = ["BeamOptions", "Choices", "CqdBeam", "Tuning", "VectorLinks", "VectorScorer"]
