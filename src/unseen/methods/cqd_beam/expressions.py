"""Many logical expressions over atoms, computed together where they are built alike.

`And`, `Or` and `Not` over projections and anchors have a structure, which does not depend on what the leaves are. All
expressions of one structure are one operation on matrices, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.fuzzy import Logic

Structure = tuple[Any, ...]
"""The name of an operator, then the structures of its parts; a leaf is the empty tuple."""


@dataclass(frozen=True, eq=False)
class Alike:
    """Expressions of one structure: their numbers, and the leaves of each in reading order."""

    structure: Structure
    rows: Int[Tensor, " some"]
    leaves: Int[Tensor, "slot some"]
    covers_all: bool
    """Whether these are all expressions, in order."""

    def values(self, leaves: Float[Tensor, "leaf block"], logic: Logic, negation: float) -> Float[Tensor, "some block"]:
        """Their memberships from those of the leaves."""
        return self._combined(self.structure, iter(self.leaves), leaves, (logic, negation))

    def _combined(
        self, structure: Structure, slots: Iterator[Tensor], leaves: Tensor, by: tuple[Logic, float]
    ) -> Tensor:
        if not structure:
            return leaves[next(slots)]
        logic, negation = by
        parts = [self._combined(part, slots, leaves, by) for part in structure[1:]]
        match structure[0]:
            case "and":
                return logic.conjunction(parts)
            case "or":
                return logic.disjunction(parts)
        return logic.negation((negation * parts[0]).clamp_(max=1))


@dataclass(eq=False)
class Expressions:
    """Some expressions, their distinct leaves, and which are built alike."""

    count: int
    leaves: list[Query] = field(default_factory=list)
    alike: list[Alike] = field(default_factory=list)

    @classmethod
    def of(cls, queries: Sequence[Query], leaf_order: Sequence[Query], device: torch.device) -> Expressions:
        """Expressions whose leaves are numbered by `leaf_order`."""
        number = {leaf: position for position, leaf in enumerate(leaf_order)}
        groups: dict[Structure, tuple[list[int], list[list[int]]]] = {}
        for row, query in enumerate(queries):
            found: list[Query] = []
            rows, slots = groups.setdefault(structure_of(query, found), ([], []))
            rows.append(row)
            slots.append([number[leaf] for leaf in found])
        alike = [
            Alike(
                structure, torch.tensor(rows, device=device), torch.tensor(slots, device=device).t(), len(groups) == 1
            )
            for structure, (rows, slots) in groups.items()
        ]
        return cls(len(queries), list(leaf_order), alike)

    def values(self, leaves: Float[Tensor, "leaf block"], logic: Logic, negation: float) -> Float[Tensor, "row block"]:
        """The memberships of all expressions from those of their leaves."""
        if self.alike and self.alike[0].covers_all:
            return self.alike[0].values(leaves, logic, negation)
        values = leaves.new_empty(self.count, leaves.shape[1])
        for group in self.alike:
            values[group.rows] = group.values(leaves, logic, negation)
        return values


def leaves_of(queries: Sequence[Query]) -> list[Query]:
    """The distinct projections and anchors that logical operators join, in order."""
    found: list[Query] = []
    for query in queries:
        structure_of(query, found)
    return list(dict.fromkeys(found))


def structure_of(query: Query, leaves: list[Query]) -> Structure:
    """How operators join the leaves, which are added to the list in reading order."""
    match query:
        case And():
            return ("and", *(structure_of(part, leaves) for part in query.parts))
        case Or():
            return ("or", *(structure_of(part, leaves) for part in query.parts))
        case Not():
            return ("not", structure_of(query.part, leaves))
        case Project(relation=int()) | Anchor(entity=int()):
            leaves.append(query)
            return ()
    raise QueryRefused("it has names where the graph's ids are needed: bind it first", place=str(query)[:80])
