"""CQD-Beam: whole queries answered with a method that scores single links; see `method`."""

from unseen.methods.cqd_beam.cqd_beam import CqdBeam
from unseen.methods.cqd_beam.options import BeamOptions, Choices
from unseen.methods.cqd_beam.tuned_options import Tuning
from unseen.methods.cqd_beam.vector_links import VectorLinks, VectorScorer

__all__ = ["BeamOptions", "Choices", "CqdBeam", "Tuning", "VectorLinks", "VectorScorer"]
