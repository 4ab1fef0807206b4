"""GNN-QE, from the plan of a batch to the trained projector; the method itself is in `method`."""

from unseen.methods.gnn_qe.gnn_qe import Answering, Architecture, GnnQe, KnownEdges, Objective

__all__ = ["Answering", "Architecture", "GnnQe", "KnownEdges", "Objective"]
