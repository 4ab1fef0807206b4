"""Scorers against their definitions, one link at a time in complex numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from unseen.nn.scorers import Name, make_scorer

ROWS, TAILS, DIM, MARGIN = 3, 5, 6, 2.5


def as_complex(vector: Tensor) -> Tensor:
    real, imaginary = vector.chunk(2, dim=-1)
    return torch.complex(real, imaginary)


def by_rotation(h: Tensor, r: Tensor, t: Tensor) -> Tensor:
    return MARGIN - (as_complex(h) * torch.polar(torch.ones_like(r), r) - as_complex(t)).abs().sum()


DEFINITIONS: dict[Name, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "distmult": lambda h, r, t: (h * r * t).sum(),
    "complex": lambda h, r, t: (as_complex(h) * as_complex(r) * as_complex(t).conj()).real.sum(),
    "transe": lambda h, r, t: MARGIN - (h + r - t).abs().sum(),
    "rotate": by_rotation,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_scorer_is_its_definition(name: Name) -> None:
    torch.manual_seed(0)
    scorer, define = make_scorer(name, MARGIN), DEFINITIONS[name]
    heads, tails = torch.randn(ROWS, DIM).double(), torch.randn(TAILS, DIM).double()
    relations = torch.randn(ROWS, scorer.relation_dim(DIM)).double()
    towards = scorer.towards(heads, relations)
    expected = torch.stack(
        [torch.stack([define(h, r, t) for t in tails]) for h, r in zip(heads, relations, strict=True)]
    )
    assert torch.allclose(scorer.matrix(towards, tails), expected, atol=1e-5)
    assert torch.allclose(scorer.pairs(towards, tails.expand(ROWS, TAILS, DIM)), expected, atol=1e-5)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_gradients_flow_to_everything_also_where_head_and_tail_agree(name: Name) -> None:
    scorer = make_scorer(name, MARGIN)
    heads = torch.ones(2, DIM, requires_grad=True)
    relations = torch.zeros(2, scorer.relation_dim(DIM)).add(0.0 if name in ("transe", "rotate") else 1.0)
    relations.requires_grad_()
    scorer.matrix(scorer.towards(heads, relations), torch.ones(3, DIM)).sum().backward()
    for leaf in (heads, relations):
        assert leaf.grad is not None
        assert bool(leaf.grad.isfinite().all())


def test_distances_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer, towards, tails = make_scorer("rotate"), torch.randn(4, 8), torch.randn(9, 8)
    whole = scorer.matrix(towards, tails)
    monkeypatch.setattr("unseen.nn.scorers.MOST_CELLS", 64)
    assert torch.allclose(scorer.matrix(towards, tails), whole)
