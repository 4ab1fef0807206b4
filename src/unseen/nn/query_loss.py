"""The loss of a batch of queries: binary cross-entropy with hard negatives weighted up.

With z the logit of an entity's membership, P the answers of a query and N all other nodes:

    L = 1/2 [ 1/|P| Σ_P softplus(-z) + Σ_N w softplus(z) ],      w = softmax over N of z / temperature, held fixed

and the mean over queries. With weights, the first mean is a weighted one: answers that edges give away can count less
than those that have to be predicted. A membership of exactly 0 or 1 has a finite logit, about ±23.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import softplus

SMALLEST = 1e-10


def logit(memberships: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """log(m / (1 - m)), finite on the whole of [0, 1]."""
    return ((memberships + SMALLEST) / (1 - memberships + SMALLEST)).log()


def adversarial_loss(
    memberships: Float[Tensor, "query node"],
    answers: Int[Tensor, " answer"],
    temperature: float,
    weights: Float[Tensor, "query node"] | None = None,
) -> Float[Tensor, " query"]:
    """The loss of each query; `answers` are positions in the flattened matrix, `weights` those of all nodes."""
    logits = logit(memberships)
    is_answer = torch.zeros_like(memberships).view(-1).index_fill_(0, answers, 1.0).view_as(memberships)
    counted = is_answer if weights is None else is_answer * weights
    positive = counted / counted.sum(dim=1, keepdim=True).clamp(min=SMALLEST)
    scores = (logits.detach() / temperature).masked_fill(is_answer > 0, -torch.inf)
    negative = scores.softmax(dim=1).nan_to_num(0.0)
    return ((positive * softplus(-logits)).sum(dim=1) + (negative * softplus(logits)).sum(dim=1)) / 2
