"""From the statistics of a node's messages to its next state; `relational_conv` has the equations.

On a GPU both halves are one kernel each way (`kernels.gpu_update`), around one matrix product; elsewhere they are the
plain torch operations that say what they mean.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from unseen.nn.kernels import EdgeViews, Statistics

SMALLEST_VARIANCE = 1e-6
ROWS, BLOCKS = 32, 8
"""Rows of one program, and blocks of rows of one program of the backward pass."""


class Scales(NamedTuple):
    """What the degrees of one graph (with one edge mask) give to every layer."""

    inverse_degree: Float[Tensor, "node 1 1"]
    amplification: Float[Tensor, "node 1 1"]
    attenuation: Float[Tensor, "node 1 1"]


class KnownScales:
    """Scales by graph and type of number: computed at the first call for a graph, gone when it is."""

    def __init__(self, compute: Callable[[EdgeViews, torch.dtype], Scales]) -> None:
        self._compute = compute
        self._known: WeakKeyDictionary[EdgeViews, dict[torch.dtype, Scales]] = WeakKeyDictionary()

    def of(self, edges: EdgeViews, dtype: torch.dtype) -> Scales:
        """The scales of a graph without a mask."""
        known = self._known.setdefault(edges, {})
        if dtype not in known:
            known[dtype] = self._compute(edges, dtype)
        return known[dtype]


def node_features(x: Float[Tensor, "node batch dim"], found: Statistics, scales: Scales) -> Tensor:
    """[x ; mean ; max ; min ; std] of every node and column: "node batch five_dim"."""
    kind = _FusedFeatures if runs_on_gpu(x) else _Features
    features: Tensor = kind.apply(x, *found, scales.inverse_degree)  # type: ignore[no-untyped-call]
    return features


def next_state(
    products: Float[Tensor, "node batch three_dim"],
    x: Float[Tensor, "node batch dim"],
    norm: nn.LayerNorm,
    scales: Scales,
) -> Float[Tensor, "node batch dim"]:
    """The sum x + relu(layer_norm(plain + s amplified + attenuated / s)) of the three blocks of `products`."""
    if runs_on_gpu(x):
        inputs = (products, x, norm.weight, norm.bias, scales.amplification, scales.attenuation, norm.eps)
        state: Tensor = _FusedUpdate.apply(*inputs)  # type: ignore[no-untyped-call]
        return state
    plain, amplified, attenuated = products.chunk(3, dim=-1)
    update = torch.addcmul(torch.addcmul(plain, amplified, scales.amplification), attenuated, scales.attenuation)
    return x + torch.relu(norm(update))


def runs_on_gpu(x: Tensor) -> bool:
    """Whether the fused kernels take such a tensor."""
    if x.numel() == 0 or x.dtype not in (torch.float32, torch.float64) or find_spec("triton") is None:
        return False
    if x.is_cuda:
        return True
    import triton

    return bool(triton.knobs.runtime.interpret)


class _Features(torch.autograd.Function):
    """The features in one buffer, and their gradients from that buffer alone: nothing else is kept."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Tensor:
        x, total, square_total, maximum, minimum, inverse_degree = inputs
        mean = total * inverse_degree
        variance = torch.addcmul(square_total * inverse_degree, mean, mean, value=-1)
        features = torch.cat([x, mean, maximum, minimum, variance.clamp_(min=SMALLEST_VARIANCE).sqrt_()], dim=-1)
        ctx.save_for_backward(features, inverse_degree)
        return features

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        features, inverse_degree = ctx.saved_tensors
        mean, deviation = (features.chunk(5, dim=-1)[place] for place in (1, 4))
        to_x, to_mean, to_maximum, to_minimum, to_deviation = gradients[0].chunk(5, dim=-1)
        varies = deviation > SMALLEST_VARIANCE**0.5
        to_variance = torch.where(varies, to_deviation / deviation, 0.0).mul_(0.5 * inverse_degree)
        to_total = torch.addcmul(to_mean * inverse_degree, mean, to_variance, value=-2)
        return to_x, to_total, to_variance, to_maximum, to_minimum, None


class _FusedFeatures(torch.autograd.Function):
    """The same by one kernel each way."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Tensor:
        from unseen.nn.kernels.gpu_update import features_pass

        inputs = tuple(each.contiguous() for each in inputs)
        x = inputs[0]
        features = x.new_empty(*x.shape[:2], 5 * x.shape[2])
        _launch(features_pass, x, (*inputs, features), SMALLEST=SMALLEST_VARIANCE)
        ctx.save_for_backward(features, inputs[-1])
        return features

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        from unseen.nn.kernels.gpu_update import features_backward_pass

        features, inverse_degree = ctx.saved_tensors
        nodes, batch, five_dim = features.shape
        found = [features.new_empty(nodes, batch, five_dim // 5) for _ in range(5)]
        operands = (gradients[0].contiguous(), features, inverse_degree, *found)
        _launch(features_backward_pass, found[0], operands, SMALLEST=SMALLEST_VARIANCE)
        return (*found, None)


class _FusedUpdate(torch.autograd.Function):
    """The next state by one kernel each way; the normalised update is kept for the gradients."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        from unseen.nn.kernels.gpu_update import update_pass

        products, x, weight, bias, amplification, attenuation, epsilon = inputs
        products, x = products.contiguous(), x.contiguous()
        track = any(ctx.needs_input_grad)
        state, normal = torch.empty_like(x), torch.empty_like(x) if track else None
        deviation = x.new_empty(x.shape[:2]) if track else None
        operands = (products, x, amplification, attenuation, weight, bias, state, normal, deviation)
        _launch(update_pass, x, operands, EPSILON=epsilon, TRACK=track)
        if track:
            ctx.save_for_backward(normal, deviation, amplification, attenuation, weight, bias)
        return state

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        from unseen.nn.kernels.gpu_update import update_backward_pass

        saved = ctx.saved_tensors  # once: a checkpoint computes them anew for whoever asks, and only once
        normal, weight = saved[0], saved[4]
        nodes, batch, dim = normal.shape
        to_products = normal.new_empty(nodes, batch, 3 * dim)
        programs = -(-nodes * batch // (ROWS * BLOCKS))
        to_weight, to_bias = normal.new_empty(programs, dim), normal.new_empty(programs, dim)
        operands = (gradients[0].contiguous(), *saved, to_products, to_weight, to_bias)
        _launch(update_backward_pass, normal, operands, BLOCKS=BLOCKS)
        return to_products, gradients[0], to_weight.sum(0).to(weight.dtype), to_bias.sum(0), None, None, None


def _launch(kernel: Any, x: Float[Tensor, "node batch dim"], operands: tuple[Any, ...], **constants: Any) -> None:
    """One program for every `ROWS` rows, or for every `BLOCKS` such blocks."""
    import triton

    rows, dim = x.shape[0] * x.shape[1], x.shape[2]
    programs = triton.cdiv(rows, ROWS * constants.get("BLOCKS", 1))
    constants |= {"ROWS": ROWS, "DIM": triton.next_power_of_2(dim)}
    with torch.cuda.device(x.device) if x.is_cuda else torch.no_grad():
        kernel[(programs,)](*operands, rows, x.shape[1], dim, **constants)
