"""Beams: for each inner variable the entities that are likeliest, and how likely they are; never all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.logic.algebra import Query


class RunningTop:
    """The k largest values of every row and where they are, over blocks that come one after the other."""

    def __init__(self, count: int, k: int, device: torch.device) -> None:
        self.k = k
        self.values: Float[Tensor, "row kept"] = torch.empty(count, 0, device=device)
        self.entities: Int[Tensor, "row kept"] = torch.empty(count, 0, dtype=torch.int64, device=device)

    def add(self, values: Float[Tensor, "row block"], start: int) -> None:
        """Take a block whose first entity is `start`."""
        best, place = values.topk(min(self.k, values.shape[1]), dim=1)
        if self.values.shape[1]:
            merged = torch.cat([self.values, best], dim=1)
            entities = torch.cat([self.entities, place + start], dim=1)
            self.values, chosen = merged.topk(min(self.k, merged.shape[1]), dim=1)
            self.entities = entities.gather(1, chosen)
        else:
            self.values, self.entities = best, place + start


@dataclass(eq=False)
class Beams:
    """The beams of all inner variables of a batch, as rows of two tables."""

    entities: Int[Tensor, "variable beam"]
    memberships: Float[Tensor, "variable beam"]
    row_of: dict[Query, int] = field(default_factory=dict)

    @classmethod
    def empty(cls, width: int, device: torch.device) -> Beams:
        """No variable yet."""
        return cls(torch.empty(0, width, dtype=torch.int64, device=device), torch.empty(0, width, device=device))

    def add(self, variables: Sequence[Query], top: RunningTop) -> None:
        """The beams of more variables; values below 0 mark entities that are not candidates."""
        self.row_of |= {variable: len(self.row_of) + row for row, variable in enumerate(variables)}
        self.entities = torch.cat([self.entities, top.entities])
        self.memberships = torch.cat([self.memberships, top.values.clamp(min=0)])

    def of(self, variables: Sequence[Query]) -> tuple[Int[Tensor, "row beam"], Float[Tensor, "row beam"]]:
        """Entities and memberships of some variables."""
        rows = torch.tensor([self.row_of[variable] for variable in variables], device=self.entities.device)
        return self.entities[rows], self.memberships[rows]
