"""Queries as Beta distributions: all queries of one form together, and of all forms those at the same depth.

A form is a template of `logic.shapes`. Unions go outwards (`branches_of`), so that a query is one or more branches of
projections, intersections and negations; a union under a negated projection, which cannot, becomes ¬(¬a ∧ ¬b).

Level by level, from the anchors: one call of the projection for all projections of that depth, one of the intersection
for all of as many parts. The fourteen shapes of the paper take five calls of each at the most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, rebuild, walk
from unseen.logic.rewrite import disjunctive_normal_form
from unseen.logic.shapes import Shape
from unseen.logic.stopping import check_stop
from unseen.nn.beta import BetaIntersection, BetaProjection, negated

Node = tuple[int, Query]
"""The number of a group and a node of its skeleton."""


@dataclass(frozen=True, eq=False)
class FormGroup:
    """Queries of one form: a skeleton of slot numbers, and what stands in the slots of each query."""

    skeleton: Query
    slots: Int[Tensor, "row slot"]
    """Rows of the tables of entities and of relations."""


@dataclass(frozen=True, eq=False)
class Networks:
    """What embeds: the two networks, and the tables they read."""

    projection: BetaProjection
    intersection: BetaIntersection
    entities: Float[Tensor, "entity numbers"]
    relations: Float[Tensor, "relation dim"]


@lru_cache(maxsize=4096)
def branches_of(template: str) -> tuple[Query, ...]:
    """The branches of a form without any union; their slots keep the numbers that they have in the template."""
    normal = disjunctive_normal_form(Shape(template, template).skeleton)
    parts = normal.parts if isinstance(normal, Or) else (normal,)
    return tuple(_without_unions(part) for part in parts)


def embed(groups: Sequence[FormGroup], networks: Networks) -> list[Float[Tensor, "row numbers"]]:
    """The parameters of every query of every group."""
    values: dict[Node, Tensor] = {}
    nodes = [(number, node) for number, group in enumerate(groups) for node in walk(group.skeleton)]
    for depth in range(1, 1 + max((node.depth for _, node in nodes), default=0)):
        check_stop()
        level = [(number, node) for number, node in nodes if node.depth == depth]
        _embed_level(level, groups, networks, values)
    return [values[number, group.skeleton] for number, group in enumerate(groups)]


def _embed_level(
    level: Sequence[Node], groups: Sequence[FormGroup], networks: Networks, values: dict[Node, Tensor]
) -> None:
    """All nodes of one depth, whose children are there; nodes of one kind together."""
    kinds: dict[tuple[type[Query], int], list[Node]] = {}
    for number, node in level:
        kinds.setdefault((type(node), len(node.children)), []).append((number, node))
    for (kind, _), same in kinds.items():
        found = _KINDS[kind](same, groups, networks, values)
        lengths = [len(groups[number].slots) for number, _ in same]
        values.update(zip(same, torch.split(found, lengths), strict=True))


def _anchors(same: Sequence[Node], groups: Sequence[FormGroup], networks: Networks, _: Mapping[Node, Tensor]) -> Tensor:
    return networks.entities.index_select(0, _column(same, groups, lambda node: node.entity))  # type: ignore[attr-defined]


def _projections(
    same: Sequence[Node], groups: Sequence[FormGroup], networks: Networks, values: Mapping[Node, Tensor]
) -> Tensor:
    relations = networks.relations.index_select(0, _column(same, groups, lambda node: node.relation))  # type: ignore[attr-defined]
    reached: Tensor = networks.projection(_children(same, 0, values), relations)
    return reached


def _conjunctions(
    same: Sequence[Node], _groups: Sequence[FormGroup], networks: Networks, values: Mapping[Node, Tensor]
) -> Tensor:
    parts = [_children(same, part, values) for part in range(len(same[0][1].children))]
    common: Tensor = networks.intersection(torch.stack(parts))
    return common


def _negations(
    same: Sequence[Node], _groups: Sequence[FormGroup], _n: Networks, values: Mapping[Node, Tensor]
) -> Tensor:
    return negated(_children(same, 0, values))


_KINDS = {Anchor: _anchors, Project: _projections, And: _conjunctions, Not: _negations}


def _column(same: Sequence[Node], groups: Sequence[FormGroup], slot_of: Callable[[Query], int]) -> Int[Tensor, " row"]:
    """What stands in one slot of each of some nodes, one group after the other."""
    return torch.cat([groups[number].slots[:, slot_of(node)] for number, node in same])


def _children(same: Sequence[Node], place: int, values: Mapping[Node, Tensor]) -> Tensor:
    return torch.cat([values[number, node.children[place]] for number, node in same])


def _without_unions(query: Query) -> Query:
    """De Morgan where no union may stay."""
    children = tuple(_without_unions(child) for child in query.children)
    if isinstance(query, Or):
        return Not(And(tuple(Not(child) for child in children)))
    return rebuild(query, children)
