"""Relational message passing, the hot loop of every graph neural network here, in one pass over the edges.

Three implementations stand behind one call: `reference` (plain torch, the definition), `cpu` (numba) and `gpu`
(triton). Nothing is compiled at import.
"""

from unseen.nn.kernels.definitions import Statistics, Wanted, unit_rotations
from unseen.nn.kernels.dispatch import available, degrees, relational_aggregate, relational_statistics
from unseen.nn.kernels.edge_views import EdgeViews

__all__ = [
    "EdgeViews",
    "Statistics",
    "Wanted",
    "available",
    "degrees",
    "relational_aggregate",
    "relational_statistics",
    "unit_rotations",
]
