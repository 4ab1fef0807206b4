"""Tokens of nodes: the relations at them and the anchors near them, from the graph alone."""

from unseen.nn.tokens.anchor_selection import select_anchors
from unseen.nn.tokens.nearest_anchors import NearestAnchors
from unseen.nn.tokens.neighbours import Neighbours
from unseen.nn.tokens.relation_tokens import RelationTokens

__all__ = ["NearestAnchors", "Neighbours", "RelationTokens", "select_anchors"]
