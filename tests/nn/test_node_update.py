"""Features and next states of nodes: gradients, and the fused kernels against the plain operations."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
import torch
from torch import Tensor, nn

from unseen.nn import node_update
from unseen.nn.kernels import Statistics
from unseen.nn.node_update import Scales, next_state, node_features

NODES, BATCH = 5, 3


def random_inputs(dim: int) -> tuple[list[Tensor], Scales]:
    """Statistics whose variances are positive, zero and in between, and the scales of some degrees."""
    generator = torch.Generator().manual_seed(dim)
    x, mean, maximum, minimum = torch.randn(4, NODES, BATCH, dim, dtype=torch.float64, generator=generator)
    variance = torch.rand(NODES, BATCH, dim, dtype=torch.float64, generator=generator)
    variance[0] = 0
    degree = torch.arange(1, NODES + 1, dtype=torch.float64).view(-1, 1, 1)
    statistics = [mean * degree, (variance + mean**2) * degree, maximum, minimum]
    return [each.requires_grad_() for each in (x, *statistics)], Scales(1 / degree, degree.log(), 1 / (1 + degree))


def results(inputs: list[Tensor], scales: Scales) -> list[Tensor]:
    """The next states by one layer with fixed weights, and all gradients."""
    dim = inputs[0].shape[2]
    torch.manual_seed(0)
    weight = torch.randn(5 * dim, 3 * dim, dtype=torch.float64, requires_grad=True)
    norm = nn.LayerNorm(dim).double()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    features = node_features(inputs[0], Statistics(*inputs[1:]), scales)
    state = next_state(features @ weight, inputs[0], norm, scales)
    loss = (state * torch.randn_like(state)).sum()
    return [features, state, *torch.autograd.grad(loss, [*inputs, weight, norm.weight, norm.bias])]


def test_the_features_have_the_right_gradients() -> None:
    inputs, scales = random_inputs(4)
    inputs = [each[1:].detach().requires_grad_() for each in inputs]
    scales = Scales(*(each[1:] for each in scales))
    assert torch.autograd.gradcheck(lambda x, *found: node_features(x, Statistics(*found), scales), inputs)


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_the_fused_kernels_equal_the_plain_operations_in_the_interpreter() -> None:
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    script = "from tests.nn.test_node_update import compare; compare()"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=250, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


def compare() -> None:
    """Called in triton's interpreter: both ways, for a power of two and another width."""
    is_fused = node_update.runs_on_gpu
    for dim in (4, 6):
        inputs, scales = random_inputs(dim)
        assert is_fused(inputs[0])
        fused = results(inputs, scales)
        node_update.runs_on_gpu = lambda _: False
        plain = results(inputs, scales)
        node_update.runs_on_gpu = is_fused
        for one, other in zip(fused, plain, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
