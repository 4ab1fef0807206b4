"""Which rules with constants are listed: the best of the most frequent heads of every directed relation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.rules.constant_rules import count_properties
from unseen.rules.rule_set import SMOOTHING, ConstantRules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency
    from unseen.rules.rounds import Round

    Ids = NDArray[np.int32]
    Values = NDArray[np.float32]
    Counted = tuple[Ids, Ids, Values, Values]

HEADS_PER_RELATION, MEMBERS, BODIES_PER_HEAD, LEAST_MEMBERS = 50, 50, 10, 3


CHUNK = 100
"""Heads that are counted in one piece of work."""


def mined_constants(this: Round, share: float, heads: NDArray[np.int64] | None = None) -> ConstantRules:
    """Rules with constants, of all directed relations or of some, by head, the most confident first."""
    adjacency, seed = this.adjacency, this.seed
    rows = _frequent_rows(adjacency, np.arange(adjacency.num_relations) if heads is None else heads ^ 1)
    parts = [rows[low : low + CHUNK] for low in range(0, len(rows), CHUNK)]

    def count(part: NDArray[np.int32]) -> Counted:
        found: Counted = count_properties(adjacency, part, MEMBERS, BODIES_PER_HEAD, SMOOTHING, 2.0, seed)
        return found

    pieces = list(this.each("counting constants", count, parts, share))
    ids, values = np.empty(0, np.int32), np.empty(0, np.float32)
    found, bodies = (np.concatenate([ids, *(piece[i] for piece in pieces)]) for i in (0, 1))
    support, confidence = (np.concatenate([values, *(piece[i] for piece in pieces)]) for i in (2, 3))
    return _named(adjacency, found, bodies, support, confidence)


def _frequent_rows(adjacency: Adjacency, relations: NDArray[np.int64]) -> NDArray[np.int32]:
    """The longest rows of each directed relation: constants with many members."""
    sizes = np.diff(adjacency.row_edges)
    rows = []
    for relation in relations.tolist():
        own = adjacency.rows_by_relation[adjacency.relation_rows[relation] : adjacency.relation_rows[relation + 1]]
        own = own[sizes[own] >= LEAST_MEMBERS]
        rows.append(own[np.argsort(-sizes[own], kind="stable")[:HEADS_PER_RELATION]])
    return np.concatenate([np.empty(0, np.int32), *rows])


def _named(adjacency: Adjacency, heads: Ids, bodies: Ids, support: Values, confidence: Values) -> ConstantRules:
    """The rules by relations and entities in place of rows."""
    if not len(heads):
        return ConstantRules(heads, heads, heads, heads, support, confidence)
    is_property = bodies >= 0
    row = np.where(is_property, bodies, 0)
    relations = np.where(is_property, adjacency.row_relation[row] ^ 1, -1 - bodies).astype(np.int32)
    values = np.where(is_property, adjacency.row_entity[row], -1).astype(np.int32)
    pairs = (support / confidence - SMOOTHING).astype(np.float32)
    head_relations, constants = adjacency.row_relation[heads] ^ 1, adjacency.row_entity[heads]
    order = np.lexsort((-confidence, head_relations))
    ids = (head_relations[order], constants[order], relations[order], values[order])
    return ConstantRules(*ids, support[order], pairs[order])
