"""Sets of entities as products of Beta distributions (Ren and Leskovec, 2020): operators and distances.

A vector of 2 dim numbers holds the two parameters of dim distributions: all α first, then all β, each in [0.05, 1e9].

    project      x' = regular(MLP([x ; r]))
    and          x = Σ_i a_i x_i,   a = softmax over parts of W₂ relu(W₁ x_i), one weight a dimension
    not          x' = 1 / x
    distance     Σ_d KL(Beta_d of the entity ‖ Beta_d of the query)

**The distance is a matrix product.** With ψ = digamma, u = ψ(α) - ψ(α + β) and v = ψ(β) - ψ(α + β) of an entity,

    KL = ln B(α', β') - ln B(α, β) + (α - α') u + (β - β') v

so that what belongs to the entity alone and to the query alone are numbers, and what is left is [α' ; β'] · [u ; v].
Cost: three digammas and three lgammas for each entity and dimension once, then 4 dim operations a pair.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

SMALLEST, LARGEST = 0.05, 1e9
"""The range of the parameters, as published."""


def regular(raw: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Parameters of Beta distributions from any numbers: one more, cut to the range."""
    return (raw + 1).clamp(SMALLEST, LARGEST)


def negated(parameters: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """High density becomes low and low becomes high."""
    return parameters.reciprocal()


def log_beta(parameters: Float[Tensor, "*rows numbers"]) -> Float[Tensor, "*rows"]:
    """Σ_d ln B(α, β)."""
    alpha, beta = parameters.chunk(2, dim=-1)
    return (alpha.lgamma() + beta.lgamma() - (alpha + beta).lgamma()).sum(dim=-1)


def entity_terms(
    parameters: Float[Tensor, "*rows numbers"],
) -> tuple[Float[Tensor, "*rows numbers"], Float[Tensor, "*rows"]]:
    """What entities bring into the distance: [u ; v], and the number that belongs to each alone."""
    alpha, beta = parameters.chunk(2, dim=-1)
    total = (alpha + beta).digamma()
    directions = torch.cat([alpha.digamma() - total, beta.digamma() - total], dim=-1)
    return directions, (parameters * directions).sum(dim=-1) - log_beta(parameters)


def distances_to_own(
    queries: Float[Tensor, "row numbers"],
    directions: Float[Tensor, "row each numbers"],
    constants: Float[Tensor, "row each"],
) -> Float[Tensor, "row each"]:
    """The distance of each query to entities of its own; never by tensor cores, whose ten bits are too few."""
    return log_beta(queries).unsqueeze(1) + constants - (directions * queries.unsqueeze(1)).sum(dim=-1)


def distances_to_all(
    queries: Float[Tensor, "row numbers"],
    directions: Float[Tensor, "entity numbers"],
    constants: Float[Tensor, " entity"],
) -> Float[Tensor, "row entity"]:
    """The distance of every query to every entity, in float64: sums of large numbers of both signs are small."""
    exact = queries.double()
    return log_beta(exact).unsqueeze(1) + constants.double() - exact @ directions.double().t()


class BetaProjection(nn.Module):
    """Where a relation leads: an MLP over a set and the relation's vector."""

    def __init__(self, dim: int, hidden_dim: int, hidden_layers: int) -> None:
        super().__init__()
        widths = [3 * dim, *[hidden_dim] * hidden_layers, 2 * dim]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        for layer in self.layers:
            nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]

    def forward(
        self, sets: Float[Tensor, "row numbers"], relations: Float[Tensor, "row dim"]
    ) -> Float[Tensor, "row numbers"]:
        """The parameters of what is reached from each set."""
        hidden = torch.cat([sets, relations], dim=-1)
        for layer in self.layers[:-1]:
            hidden = layer(hidden).relu()
        return regular(self.layers[-1](hidden))


class BetaIntersection(nn.Module):
    """What sets have in common: their mean, weighted by attention in each dimension."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2 * dim, 2 * dim), nn.Linear(2 * dim, dim)
        for layer in (self.first, self.second):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, parts: Float[Tensor, "part row numbers"]) -> Float[Tensor, "row numbers"]:
        """The parameters of the intersection; the order of the parts does not matter."""
        weights: Tensor = self.second(self.first(parts).relu()).softmax(dim=0)
        return (torch.cat([weights, weights], dim=-1) * parts).sum(dim=0)
