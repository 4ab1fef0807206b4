"""A batch of mixed queries as a few steps over matrices of fuzzy sets: what training runs instead of a walk.

All sets of a batch stand in one *pool* [row, node]. A step takes some rows, applies one operator to all of them at
once, and appends its results as new rows. Equal sub-queries are one row. Sixty-four queries of the ten training shapes
need about ten steps, so the host has little to launch.

Memberships that enter a further projection are detached (the paper's code does so), hence the plan has two halves:

    inner   everything below an outermost projection: no gradients
    outer   all outermost projections, of whatever depth, in ONE call: gradients
    top     the logic above them

The plan of a 2p and an inp query: inner = anchors, two projections, not, and; outer = two projections; top = nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, Project, Query

Ids = NDArray[np.int64]
Rows = dict[Query, int]


@dataclass(frozen=True, eq=False)
class Step:
    """One operator on some rows of the pool.

    `operands` [result, part] are rows; `values` are the entities of anchors or the directed relations of projections.
    """

    kind: type[Query]
    operands: Ids
    values: Ids


@dataclass(frozen=True, eq=False)
class Plan:
    """The steps of a batch; see the module."""

    inner: tuple[Step, ...]
    outer: Step
    top: tuple[Step, ...]
    roots: Ids

    @classmethod
    def of(cls, queries: Sequence[Query]) -> Plan:
        """The plan of queries with ids."""
        outer = list(dict.fromkeys(node for query in queries for node in outermost_projections(query)))
        inner_rows: Rows = {}
        inner = _steps([projection.source for projection in outer], inner_rows)
        top_rows: Rows = {projection: row for row, projection in enumerate(outer)}
        top = _steps(queries, top_rows)
        roots = np.array([top_rows[query] for query in queries], np.int64)
        return cls(tuple(inner), _step(outer, inner_rows), tuple(top), roots)


def outermost_projections(query: Query) -> Iterator[Project]:
    """The projections that are not below another one, left to right."""
    if isinstance(query, Project):
        yield query
    else:
        for child in query.children:
            yield from outermost_projections(child)


def _steps(queries: Sequence[Query], rows: Rows) -> list[Step]:
    """The steps that make the sets of all queries; `rows` says which are there, and learns where the others will be."""
    groups = _groups(queries, rows)
    steps = []
    for key in sorted(groups, key=lambda key: key[:2]):
        steps.append(_step(groups[key], rows))
        rows.update(zip(groups[key], range(len(rows), len(rows) + len(groups[key])), strict=True))
    return steps


def _groups(queries: Sequence[Query], known: Rows) -> dict[tuple[int, int, type[Query], int], list[Query]]:
    """The distinct nodes that are not known yet, by what may run together.

    The key is (projections below, logical operators since the last of them, kind, number of parts); sorted by the
    first two, every node comes after its parts.
    """
    place: dict[Query, tuple[int, int]] = dict.fromkeys(known, (0, 0))
    groups: dict[tuple[int, int, type[Query], int], list[Query]] = {}
    for query in queries:
        for node in _unknown(query, place):
            place[node] = _place(node, [place[child] for child in node.children])
            groups.setdefault((*place[node], type(node), len(node.children)), []).append(node)
    return groups


def _unknown(query: Query, known: dict[Query, tuple[int, int]]) -> Iterator[Query]:
    """The nodes of a query that are not known, children before parents; what stands below a known node is not met."""
    if query in known:
        return
    for child in query.children:
        yield from _unknown(child, known)
    yield query


def _place(node: Query, below: list[tuple[int, int]]) -> tuple[int, int]:
    level = max((place[0] for place in below), default=0)
    if isinstance(node, Project):
        return level + 1, 0
    return level, max((depth + 1 for place, depth in below if place == level), default=0)


def _step(nodes: Sequence[Query], rows: Rows) -> Step:
    """One step for nodes of the same kind and number of parts, whose parts have rows."""
    kind = type(nodes[0]) if nodes else Project
    num_parts = len(nodes[0].children) if nodes else 1
    operands = np.array([rows[child] for node in nodes for child in node.children], np.int64)
    values = [_value(node) for node in nodes] if kind in (Anchor, Project) else []
    return Step(kind, operands.reshape(len(nodes), num_parts), np.array(values, np.int64))


def _value(node: Query) -> int:
    match node:
        case Anchor(entity=int(value)) | Project(relation=int(value)):
            return value
    raise QueryRefused("it has names where the graph's ids are needed: bind it first", place=str(node)[:80])
