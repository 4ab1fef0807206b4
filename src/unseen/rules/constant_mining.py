"""Which rules with constants are listed: the best of the most frequent heads of every directed relation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.rules.compiling import available_cores, in_order
from unseen.rules.constant_rules import count_properties
from unseen.rules.rule_set import SMOOTHING, ConstantRules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency

HEADS_PER_RELATION, MEMBERS, BODIES_PER_HEAD, LEAST_MEMBERS = 50, 50, 10, 3


def mined_constants(adjacency: Adjacency, seed: int) -> ConstantRules:
    """Rules with constants, by head, the most confident first."""
    rows = _frequent_rows(adjacency)
    parts = np.array_split(rows, 4 * available_cores()) if len(rows) else []

    def count(part: NDArray[np.int32]) -> tuple[NDArray[np.generic], ...]:
        found: tuple[NDArray[np.generic], ...] = count_properties(
            adjacency, part, MEMBERS, BODIES_PER_HEAD, SMOOTHING, 2.0, seed
        )
        return found

    empty = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32))
    pieces = [empty, *in_order(count, parts)]
    heads, bodies, support, confidence = (np.concatenate([piece[i] for piece in pieces]) for i in range(4))
    return _named(adjacency, heads, bodies, support, confidence)


def _frequent_rows(adjacency: Adjacency) -> NDArray[np.int32]:
    """The longest rows of every directed relation: constants with many members."""
    sizes = np.diff(adjacency.row_edges)
    rows = []
    for relation in range(adjacency.num_relations):
        own = adjacency.rows_by_relation[adjacency.relation_rows[relation] : adjacency.relation_rows[relation + 1]]
        own = own[sizes[own] >= LEAST_MEMBERS]
        rows.append(own[np.argsort(-sizes[own], kind="stable")[:HEADS_PER_RELATION]])
    return np.concatenate([np.empty(0, np.int32), *rows])


def _named(
    adjacency: Adjacency,
    heads: NDArray[np.generic],
    bodies: NDArray[np.generic],
    support: NDArray[np.generic],
    confidence: NDArray[np.generic],
) -> ConstantRules:
    """The rules by relations and entities in place of rows."""
    body, head = bodies.astype(np.int64), heads.astype(np.int64)
    is_property = body >= 0
    row = np.where(is_property, body, 0)
    relations = np.where(is_property, adjacency.row_relation[row] ^ 1 if len(row) else row, -1 - body).astype(np.int32)
    values = np.where(is_property, adjacency.row_entity[row] if len(row) else row, -1).astype(np.int32)
    pairs = support / np.maximum(confidence, 1e-9) - SMOOTHING
    columns = (adjacency.row_relation[head] ^ 1, adjacency.row_entity[head], relations, values)
    order = np.lexsort((-confidence, columns[0]))
    floats = (support.astype(np.float32), pairs.astype(np.float32))
    return ConstantRules(*(column[order].astype(np.int32) for column in columns), *(v[order] for v in floats))
