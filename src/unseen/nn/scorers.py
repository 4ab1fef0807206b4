"""How likely a link is, from the vectors of its head, relation and tail: four scoring functions.

Each turns (head, relation) into one vector that stands for where they lead, and holds it against any tail:

    distmult   Σ h r t                     (Yang et al., 2015)         real vectors
    complex    Re Σ h r conj(t)            (Trouillon et al., 2016)    complex: real parts first, then imaginary ones
    transe     margin - ‖h + r - t‖₁       (Bordes et al., 2013)       real vectors
    rotate     margin - Σ |h e^(i r) - t|  (Sun et al., 2019)          complex; a relation is dim / 2 angles

Shapes: heads, tails [row, dim]; relations [row, relation_dim]. Cost of a matrix of logits: row x tail x dim. The first
two are one matrix product; the others take differences, `MOST_CELLS` at a time.
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

Name = Literal["complex", "distmult", "transe", "rotate"]

MOST_CELLS = 1 << 26
"""Differences (row, tail, dim) that `rotate` holds at a time, when no gradient is wanted."""


@runtime_checkable
class Scorer(Protocol):
    """Logits of links; higher is likelier."""

    def relation_dim(self, dim: int) -> int:
        """Numbers that a relation has when an entity has `dim`."""
        ...

    def towards(
        self, heads: Float[Tensor, "row dim"], relations: Float[Tensor, "row other"]
    ) -> Float[Tensor, "row dim"]:
        """Where each head and relation lead."""
        ...

    def matrix(self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "tail dim"]) -> Float[Tensor, "row tail"]:
        """The logit of every tail for every row."""
        ...

    def pairs(
        self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "row each dim"]
    ) -> Float[Tensor, "row each"]:
        """The logits of each row's own tails."""
        ...


class DistMult:
    """Σ h r t: symmetric in head and tail."""

    def relation_dim(self, dim: int) -> int:
        """As many as an entity."""
        return dim

    def towards(self, heads: Float[Tensor, "row dim"], relations: Float[Tensor, "row dim"]) -> Float[Tensor, "row dim"]:
        """H r."""
        return heads * relations

    def matrix(self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "tail dim"]) -> Float[Tensor, "row tail"]:
        """Inner products."""
        return towards @ tails.t()

    def pairs(
        self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "row each dim"]
    ) -> Float[Tensor, "row each"]:
        """Inner products."""
        return torch.bmm(tails, towards.unsqueeze(2)).squeeze(2)


class ComplEx(DistMult):
    """Re Σ h r conj(t): the inner product of real vectors of h r and t."""

    def towards(self, heads: Float[Tensor, "row dim"], relations: Float[Tensor, "row dim"]) -> Float[Tensor, "row dim"]:
        """H r, as complex numbers."""
        return complex_product(heads, relations)


class TransE:
    """margin - ‖h + r - t‖₁."""

    def __init__(self, margin: float = 12.0) -> None:
        self.margin = margin

    def relation_dim(self, dim: int) -> int:
        """As many as an entity."""
        return dim

    def towards(self, heads: Float[Tensor, "row dim"], relations: Float[Tensor, "row dim"]) -> Float[Tensor, "row dim"]:
        """H + r."""
        return heads + relations

    def matrix(self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "tail dim"]) -> Float[Tensor, "row tail"]:
        """Distances, without their differences in memory."""
        return self.margin - torch.cdist(towards, tails, p=1.0)

    def pairs(
        self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "row each dim"]
    ) -> Float[Tensor, "row each"]:
        """Distances."""
        return self.margin - (towards.unsqueeze(1) - tails).abs().sum(dim=-1)


class RotatE:
    """margin - Σ |h e^(i r) - t|."""

    def __init__(self, margin: float = 12.0) -> None:
        self.margin = margin

    def relation_dim(self, dim: int) -> int:
        """An angle for each complex number."""
        return dim // 2

    def towards(
        self, heads: Float[Tensor, "row dim"], relations: Float[Tensor, "row half"]
    ) -> Float[Tensor, "row dim"]:
        """H turned by the relation's angles."""
        return complex_product(heads, torch.cat([relations.cos(), relations.sin()], dim=-1))

    def matrix(self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "tail dim"]) -> Float[Tensor, "row tail"]:
        """Distances, of some tails at a time."""
        size = max(1, MOST_CELLS // max(1, towards.numel()))
        parts = [self.pairs(towards, part.expand(len(towards), *part.shape)) for part in torch.split(tails, size)]
        return torch.cat(parts, dim=1)

    def pairs(
        self, towards: Float[Tensor, "row dim"], tails: Float[Tensor, "row each dim"]
    ) -> Float[Tensor, "row each"]:
        """Distances; the root of a square is smoothed at zero, where it has no slope."""
        real, imaginary = (towards.unsqueeze(1) - tails).chunk(2, dim=-1)
        return self.margin - (real.square() + imaginary.square() + 1e-12).sqrt().sum(dim=-1)


def complex_product(left: Float[Tensor, "*row dim"], right: Float[Tensor, "*row dim"]) -> Float[Tensor, "*row dim"]:
    """The product of complex numbers, real parts in the first half of `dim`."""
    (a, b), (c, d) = left.chunk(2, dim=-1), right.chunk(2, dim=-1)
    return torch.cat([a * c - b * d, a * d + b * c], dim=-1)


def make_scorer(name: Name, margin: float = 12.0) -> Scorer:
    """The scoring function of a name; only distances have a margin."""
    made: dict[str, Scorer] = {
        "complex": ComplEx(),
        "distmult": DistMult(),
        "transe": TransE(margin),
        "rotate": RotatE(margin),
    }
    return made[name]
