"""Relation tokens: the distinct directed relations that leave a node, at most so many, in ascending order.

An edge (h, r, t) gives its head the token of r and its tail the token of r read backwards. A node with more relations
than it may have tokens keeps those that come first in a fixed random order of all relations, drawn from the seed. Its
tokens so depend on its own set of relations and on nothing else: neither on its number nor on the rest of the graph;
and a new relation displaces at most one token. A node without edges has only padding.

Cost: one sort of the directed edges: 3 s for 34 million on two cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nn.tokens import loops
from unseen.nn.tokens.neighbours import spread

Ids = NDArray[np.int32]


@dataclass(frozen=True)
class RelationTokens:
    """How nodes are tokenised by their relations.

    With `by_direction` a node has `per_node` tokens of relations that it is the head of, then as many of those that it
    is the tail of; else `per_node` of both kinds together.
    """

    num_relations: int
    """Directed relations; the number one past the last is padding."""
    per_node: int = 20
    by_direction: bool = False
    seed: int = 0

    @property
    def padding(self) -> int:
        """The token of an empty slot."""
        return self.num_relations

    @property
    def slots(self) -> int:
        """Tokens of a node, padding included."""
        return self.per_node * (2 if self.by_direction else 1)

    @cached_property
    def priority(self) -> Ids:
        """The place of each directed relation in the order that decides who stays."""
        return np.argsort(np.random.default_rng(self.seed).permutation(self.num_relations)).astype(np.int32)

    def of(self, sources: NDArray[Any], relations: NDArray[Any], num_nodes: int) -> Ids:
        """The tokens [node, slot] of nodes with these directed edges; both directions of every edge are given."""
        chosen = np.full((num_nodes, self.slots), self.padding, np.int32)
        offsets, tokens = self._distinct(sources, relations, num_nodes)
        for column, way in enumerate((0, 1) if self.by_direction else (-1,)):
            part = np.full((num_nodes, self.per_node), self.padding, np.int32)
            spread(loops.choose_tokens, offsets, tokens, self.priority, way, part)
            chosen[:, column * self.per_node : (column + 1) * self.per_node] = part
        return chosen

    def _distinct(self, sources: NDArray[Any], relations: NDArray[Any], num_nodes: int) -> tuple[Any, Ids]:
        """The distinct relations of each node, ascending, as rows."""
        keys = np.sort(sources.astype(np.int64) * self.num_relations + relations)
        keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
        offsets = np.zeros(num_nodes + 1, np.int64)
        nodes, tokens = np.divmod(keys, max(1, self.num_relations))
        np.cumsum(np.bincount(nodes, minlength=num_nodes), out=offsets[1:])
        return offsets, tokens.astype(np.int32)
