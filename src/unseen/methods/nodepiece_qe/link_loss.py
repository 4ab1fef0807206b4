"""The loss of links: a true one against others that are not true.

With z the logit of the true tail and n_j those of negatives:

    bce       1/2 [ softplus(-z) + Σ_j w_j softplus(n_j) ],     w = softmax of n_j / temperature, held fixed
    softmax   log(e^z + Σ_j e^n_j) - z

The first gives logits that a sigmoid can read as memberships; the second only orders.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import softplus

from unseen.methods.nodepiece_qe.token_shape import Loss


def link_losses(
    positive: Float[Tensor, " row"],
    negative: Float[Tensor, "row each"],
    is_true: Bool[Tensor, "row each"],
    temperature: float,
    kind: Loss = "bce",
) -> Float[Tensor, " row"]:
    """The loss of each row; negatives that `is_true` marks do not count."""
    if kind == "softmax":
        others = negative.masked_fill(is_true, -torch.inf)
        return torch.logaddexp(positive, others.logsumexp(dim=1)) - positive
    scores = (negative.detach() / temperature).masked_fill(is_true, -torch.inf)
    weights = scores.softmax(dim=1).nan_to_num(0.0)
    return (softplus(-positive) + (weights * softplus(negative)).sum(dim=1)) / 2


def are_true(
    keys: Int[Tensor, " key"], prefixes: Int[Tensor, " row"], tails: Int[Tensor, "row each"], num_nodes: int
) -> Bool[Tensor, "row each"]:
    """Which of each row's tails are true, by search among the sorted keys prefix * num_nodes + tail of all triples."""
    wanted = prefixes.unsqueeze(1) * num_nodes + tails
    found = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return keys[found] == wanted
