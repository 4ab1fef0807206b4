"""The average of weights: what it is, what it leaves alone, and that a checkpoint carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from unseen.models.checkpoint import Progress, load_checkpoint, save_checkpoint
from unseen.training.averaging import WeightAverage

if TYPE_CHECKING:
    from pathlib import Path


def stepped(decay: float, steps: int = 3) -> tuple[nn.Linear, torch.optim.AdamW, WeightAverage, list[torch.Tensor]]:
    """A model after some steps, and its weight after each."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    average, weights = WeightAverage(optimizer, decay), []
    for step in range(1, steps + 1):
        model(torch.randn(4, 3)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        average.update(step)
        weights.append(model.weight.detach().clone())
    return model, optimizer, average, weights


def test_the_average_follows_its_equation_and_the_weights_come_back() -> None:
    model, _, average, weights = stepped(decay=0.2)
    expected = weights[0]
    for step, weight in enumerate(weights[1:], start=2):
        decay = min(0.2, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * weight
    with average.shown():
        assert torch.allclose(model.weight, expected)
    assert torch.equal(model.weight, weights[-1])


def test_without_a_decay_the_weights_are_shown() -> None:
    model, optimizer, average, weights = stepped(decay=0.0)
    with average.shown():
        assert torch.equal(model.weight, weights[-1])
    assert all("average" not in state for state in optimizer.state.values())


def test_a_checkpoint_carries_the_average(tmp_path: Path) -> None:
    model, optimizer, average, _ = stepped(decay=0.9)
    save_checkpoint(tmp_path, Progress(step=3), model, optimizer)
    with average.shown():
        expected = model.weight.detach().clone()
    other = nn.Linear(3, 2)
    restored = torch.optim.AdamW(other.parameters(), lr=0.1)
    assert load_checkpoint(tmp_path, other, restored) == Progress(step=3)
    with WeightAverage(restored, 0.9).shown():
        assert torch.equal(other.weight, expected)
    assert torch.equal(other.weight, model.weight)
