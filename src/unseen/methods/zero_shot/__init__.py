"""One model for any graph: relations are known by how they share entities; the method itself is in `method`."""

from unseen.methods.zero_shot.zero_shot import Architecture, ZeroShot

__all__ = ["Architecture", "ZeroShot"]
