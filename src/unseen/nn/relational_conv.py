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

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from unseen.nn.kernels import EdgeViews, cpu_layer, degrees, relational_statistics
from unseen.nn.kernels.definitions import Message
from unseen.nn.node_update import SMALLEST_VARIANCE, KnownScales, Scales, next_state, node_features

STATISTICS, SCALES = 4, 3
SMALLEST_SCALE = 1e-2


def node_scales(edges: EdgeViews, edge_mask: Bool[Tensor, " edge"] | None, dtype: torch.dtype) -> Scales:
    """Computed once for all layers, and without a mask once for all calls. Cost: one pass over the edges."""
    return _UNMASKED.of(edges, dtype) if edge_mask is None else _scales(edges, dtype, edge_mask)


def _scales(edges: EdgeViews, dtype: torch.dtype, edge_mask: Bool[Tensor, " edge"] | None = None) -> Scales:
    own = degrees(edges, edge_mask)  # of a part of a graph: messages are those that come, scales those of all of it
    degree = (own if edges.whole is None else edges.whole.of_nodes).to(dtype).view(-1, 1, 1) + 1
    logarithm = degree.log()
    mean = logarithm.mean() if edges.whole is None else logarithm.new_tensor(edges.whole.mean_logarithm)
    scale = logarithm / mean.clamp(min=SMALLEST_SCALE)
    messages = own.to(dtype).view(-1, 1, 1) + 1
    return Scales(1 / messages, scale, 1 / scale.clamp(min=SMALLEST_SCALE))


_UNMASKED = KnownScales(_scales)


class RelationalConv(nn.Module):
    """Message passing over all edges at once; nothing in it belongs to a node or a graph."""

    def __init__(self, dim: int, message: Message = "distmult") -> None:
        super().__init__()
        self.dim, self.message = dim, message
        self.linear = nn.Linear((1 + STATISTICS * SCALES) * dim, dim)
        self.norm = nn.LayerNorm(dim)
        self._kept: tuple[object, Tensor, Tensor] | None = None

    def forward(
        self,
        edges: EdgeViews,
        x: Float[Tensor, "node batch dim"],
        relation: Float[Tensor, "relation batch dim"],
        boundary: Float[Tensor, "node batch dim"],
        scales: Scales,
        edge_mask: Bool[Tensor, " edge"] | None = None,
    ) -> Float[Tensor, "node batch dim"]:
        """The next state of every node; `relation` holds the vector of each directed relation for each column."""
        if edge_mask is None and self.message == "distmult" and cpu_layer.takes(x):
            inputs = (x, relation, boundary)
            return cpu_layer.layer(edges, inputs, scales, self.linear, self.norm, SMALLEST_VARIANCE)
        found = relational_statistics(edges, x, relation, boundary, message=self.message, edge_mask=edge_mask)
        features = node_features(x, found, scales)
        bias, weight = self._folded(x.is_cuda)
        products = torch.addmm(bias, features.flatten(0, 1), weight)
        return next_state(products.view(*x.shape[:2], SCALES * self.dim), x, self.norm, scales)

    def _folded(self, on_gpu: bool) -> tuple[Float[Tensor, " three_dim"], Float[Tensor, "five_dim three_dim"]]:
        """Bias and weight as the product wants them; without gradients made again only when they have changed.

        What a CUDA graph records must read the weights where they lie, so there they are folded in any case.
        """
        own = (self.linear.bias, self.linear.weight)
        if torch.is_grad_enabled() or (on_gpu and torch.cuda.is_current_stream_capturing()):
            return self._folded_bias(), self._folded_weight()
        version = tuple((each.data_ptr(), each._version) for each in own)
        if self._kept is None or self._kept[0] != version:
            self._kept = (version, self._folded_bias(), self._folded_weight())
        return self._kept[1], self._kept[2]

    def _folded_bias(self) -> Float[Tensor, " three_dim"]:
        return torch.nn.functional.pad(self.linear.bias, (0, (SCALES - 1) * self.dim))

    def _folded_weight(self) -> Float[Tensor, "five_dim three_dim"]:
        """The weight as [5 dim, 3 dim]: a column block for each scale; x takes part in the first only."""
        own, *scaled = torch.split(self.linear.weight.t(), [self.dim] + [STATISTICS * self.dim] * SCALES)
        nothing = torch.zeros_like(own)
        return torch.cat([torch.cat([own, nothing, nothing], dim=1), torch.cat(scaled, dim=1)])
