"""Ranks without sorting: right to a cell, smooth, and never turned round."""

from __future__ import annotations

import pytest
import torch

from unseen.probability.soft_rank import CELLS, LARGEST, grid, others_above, spread

CELL = 2 * LARGEST / CELLS


def values(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 4


def test_values_further_apart_than_a_cell_have_their_ranks() -> None:
    found = values(50).sort(descending=True).values
    apart = torch.arange(50, dtype=torch.float64) * 3 * CELL
    ranked = -apart + 7.3
    assert torch.allclose(others_above(ranked, ranked), torch.arange(50, dtype=torch.float64), atol=1e-9)
    close = others_above(found, found)
    assert bool((close.diff() >= 0).all())
    assert torch.allclose(close, torch.arange(50, dtype=torch.float64), atol=3)


def test_equal_values_share_their_places() -> None:
    tied = torch.tensor([1.0, 1.0, 1.0, -5.0])
    assert others_above(tied, tied).tolist() == pytest.approx([1, 1, 1, 3])


@pytest.mark.parametrize("where", [0.0, 0.25 * CELL, 0.999 * CELL, LARGEST, -LARGEST, 99.0])
def test_a_value_alone_is_first_wherever_it_lies(where: float) -> None:
    alone = torch.tensor([where])
    assert others_above(alone, alone).item() == pytest.approx(0, abs=1e-9)


def test_a_rounding_error_changes_next_to_nothing() -> None:
    first = values(1000)
    moved = first + 1e-7 * values(1000, seed=1)
    assert torch.allclose(others_above(first, first), others_above(moved, moved), atol=1e-2)


def test_a_larger_value_has_no_more_above_it() -> None:
    among = values(300)
    asked = torch.linspace(-30, 30, 4001, dtype=torch.float64)
    assert bool((others_above(asked, among).diff() <= 1e-9).all())


def test_nothing_is_lost_on_the_grid() -> None:
    found = values(200)
    points = spread(found, found > 1)
    assert float(points.sum()) == pytest.approx(int((found > 1).sum()))
    assert float(spread(found) @ grid()) == pytest.approx(float(found.sum()))
    assert others_above(found[:0], found[:0]).shape == (0,)
