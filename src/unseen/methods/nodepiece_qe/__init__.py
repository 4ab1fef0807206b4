"""NodePiece-QE, from the tokens of a graph to scores of its links; the method itself is in `method`."""

from unseen.methods.nodepiece_qe.entity_vectors import EntityVectors
from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
from unseen.methods.nodepiece_qe.token_shape import Architecture, Objective
from unseen.methods.nodepiece_qe.training_graph import TrainingGraph

__all__ = ["Architecture", "EntityVectors", "NodePieceQe", "Objective", "TrainingGraph"]
