"""Beta operators against torch's own distributions, in float64."""

from __future__ import annotations

import pytest
import torch
from torch.distributions import Beta, kl_divergence

from unseen.nn.beta import (
    BetaIntersection,
    BetaProjection,
    distances_to_all,
    distances_to_own,
    entity_terms,
    negated,
    regular,
)

DIM = 7


def parameters(*shape: int, seed: int = 0, largest: float = 30.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(*shape, 2 * DIM, generator=generator) * 6 - 3).exp().clamp(0.05, largest)


def plain_distance(entity: torch.Tensor, query: torch.Tensor) -> float:
    sides = [Beta(*one.double().chunk(2)) for one in (entity, query)]
    return float(kl_divergence(*sides).sum())


def test_the_distance_is_the_sum_of_divergences() -> None:
    queries, entities = parameters(4), parameters(9, seed=1)
    found = distances_to_all(queries, *entity_terms(entities.double()))
    expected = [[plain_distance(entity, query) for entity in entities] for query in queries]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-5, atol=1e-5)
    assert bool((found >= -1e-4).all())


def test_distances_in_float32_are_near_those_in_float64() -> None:
    queries, entities = parameters(5), parameters(5, 3, seed=1)
    near = distances_to_own(queries, *entity_terms(entities))
    expected = [[plain_distance(entity, query) for entity in own] for query, own in zip(queries, entities, strict=True)]
    torch.testing.assert_close(near.double(), torch.tensor(expected, dtype=torch.float64), rtol=1e-3, atol=1e-2)


def test_an_entity_is_nowhere_nearer_than_at_its_own_place() -> None:
    entities = parameters(6)
    found = distances_to_all(entities, *entity_terms(entities.double()))
    assert torch.allclose(found.diagonal(), torch.zeros(6, dtype=torch.float64), atol=1e-4)
    assert found.argmin(dim=1).tolist() == list(range(6))


def test_gradients_are_those_of_the_plain_divergence() -> None:
    query, entity = (parameters(1, seed=seed).double().requires_grad_() for seed in (0, 1))
    distances_to_own(query, *entity_terms(entity.unsqueeze(1))).sum().backward()
    found = (query.grad.clone(), entity.grad.clone())
    query.grad, entity.grad = None, None
    kl_divergence(*(Beta(*one[0].chunk(2)) for one in (entity, query))).sum().backward()
    torch.testing.assert_close(found, (query.grad, entity.grad))


def test_parameters_stay_in_their_range_and_negation_is_its_own_inverse() -> None:
    assert regular(torch.tensor([-5.0, 0.0, 1e12])).tolist() == [pytest.approx(0.05), 1.0, 1e9]
    some = parameters(3)
    assert torch.allclose(negated(negated(some)), some)


def test_the_intersection_is_a_mean_that_does_not_mind_the_order() -> None:
    torch.manual_seed(0)
    network, parts = BetaIntersection(DIM), parameters(3, 4)
    common = network(parts)
    assert torch.allclose(network(parts[[2, 0, 1]]), common, atol=1e-6)
    assert bool(((common >= parts.amin(dim=0) - 1e-5) & (common <= parts.amax(dim=0) + 1e-5)).all())
    assert torch.allclose(network(parts[:1]), parts[0])


def test_a_projection_is_the_mlp_that_was_published() -> None:
    torch.manual_seed(0)
    network, sets, relations = BetaProjection(DIM, 11, 2), parameters(4), torch.randn(4, DIM)
    assert [tuple(layer.weight.shape) for layer in network.layers] == [(11, 3 * DIM), (11, 11), (2 * DIM, 11)]
    hidden = torch.cat([sets, relations], dim=1)
    for layer in network.layers[:2]:
        hidden = (hidden @ layer.weight.t() + layer.bias).clamp(min=0)
    last = network.layers[2]
    expected = (hidden @ last.weight.t() + last.bias + 1).clamp(0.05, 1e9)
    assert torch.allclose(network(sets, relations), expected, atol=1e-6)
