"""One layer of relational message passing with PNA: message -> aggregate -> update.

For node v and column (batch, dim), with degree d counting the boundary as one more message (Corso et al., 2020):

    F(v)  = [mean ; max ; min ; std] of the messages of v
    s(v)  = log d(v) / mean over nodes of log d                 "amplification", and 1 / s(v) "attenuation"
    y(v)  = W [x(v) ; F(v) ; s(v) F(v) ; F(v) / s(v)] + b       13 dim -> dim
    x'(v) = x(v) + relu(layer_norm(y(v)))

The twelve scaled features are never written out: W is cut into the four blocks W_x, W_1, W_s, W_i, and

    y = W_x x + W_1 F + s (W_s F) + (W_i F) / s + b,

one product of [x ; F] (5 dim) with a matrix of 3 dim columns. Cost beside the messages: 2 * 15 dim² operations and the
reading or writing of about 14 numbers a cell, where a cell is one (node, batch, dim).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from unseen.nn.kernels import EdgeViews, Statistics, degrees, relational_statistics
from unseen.nn.kernels.definitions import Message

STATISTICS, SCALES = 4, 3
SMALLEST_VARIANCE = 1e-6
SMALLEST_SCALE = 1e-2


class NodeScales(NamedTuple):
    """What the degrees of one graph (with one edge mask) give to every layer."""

    inverse_degree: Float[Tensor, "node 1 1"]
    amplification: Float[Tensor, "node 1 1"]
    attenuation: Float[Tensor, "node 1 1"]

    @classmethod
    def of(cls, edges: EdgeViews, edge_mask: Bool[Tensor, " edge"] | None, dtype: torch.dtype) -> NodeScales:
        """Computed once for all layers. Cost: one pass over the edges."""
        degree = degrees(edges, edge_mask).to(dtype).view(-1, 1, 1) + 1
        logarithm = degree.log()
        scale = logarithm / logarithm.mean().clamp(min=SMALLEST_SCALE)
        return cls(1 / degree, scale, 1 / scale.clamp(min=SMALLEST_SCALE))


class RelationalConv(nn.Module):
    """Message passing over all edges at once; nothing in it belongs to a node or a graph."""

    def __init__(self, dim: int, message: Message = "distmult") -> None:
        super().__init__()
        self.dim, self.message = dim, message
        self.linear = nn.Linear((1 + STATISTICS * SCALES) * dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(
        self,
        edges: EdgeViews,
        x: Float[Tensor, "node batch dim"],
        relation: Float[Tensor, "relation batch dim"],
        boundary: Float[Tensor, "node batch dim"],
        scales: NodeScales,
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "node batch dim"]:
        """The next state of every node; `relation` holds the vector of each directed relation for each column."""
        found = relational_statistics(edges, x, relation, boundary, message=self.message, edge_mask=edge_mask)
        update = self._combined(node_features(x, found, scales.inverse_degree), scales)
        return x + torch.relu(self.norm(update))

    def _combined(
        self, features: Float[Tensor, "node batch five_dim"], scales: NodeScales
    ) -> Float[Tensor, "node batch dim"]:
        """The linear layer over all thirteen blocks, from the five that differ by more than a factor."""
        bias = torch.nn.functional.pad(self.linear.bias, (0, (SCALES - 1) * self.dim))
        products = torch.addmm(bias, features.flatten(0, 1), self._folded_weight())
        plain, amplified, attenuated = products.view(*features.shape[:2], SCALES, self.dim).unbind(dim=2)
        return torch.addcmul(torch.addcmul(plain, amplified, scales.amplification), attenuated, scales.attenuation)

    def _folded_weight(self) -> Float[Tensor, "five_dim three_dim"]:
        """The weight as [5 dim, 3 dim]: a column block for each scale; x takes part in the first only."""
        own, *scaled = torch.split(self.linear.weight.t(), [self.dim] + [STATISTICS * self.dim] * SCALES)
        nothing = torch.zeros_like(own)
        return torch.cat([torch.cat([own, nothing, nothing], dim=1), torch.cat(scaled, dim=1)])


def node_features(
    x: Float[Tensor, "node batch dim"], found: Statistics, inverse_degree: Float[Tensor, "node 1 1"]
) -> Float[Tensor, "node batch five_dim"]:
    """[x ; mean ; max ; min ; std] of every node and column."""
    features: Tensor = _NodeFeatures.apply(x, *found, inverse_degree)  # type: ignore[no-untyped-call]
    return features


class _NodeFeatures(torch.autograd.Function):
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
