"""Weights of a `Combination`, fitted to hidden links of several graphs, each of which counts the same.

First the weights of evidence by context: those with which a softmax over the candidates of a row finds its hidden
targets most surely. Then scale and offsets: logistic regression of "was hidden" on the score and what is the same for
the whole row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import softplus

from unseen.methods.combination import CONTEXT, EVIDENCE, OFFSET, Combination

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from torch import Tensor

    Collected = Mapping[str, NDArray[np.float32]]

PENALTY = 1e-3
CONTEXTS = len(CONTEXT)


class Rows:
    """Rows of several graphs; those of a graph weigh 1 together, those from single sources twice those from sets."""

    def __init__(self, graphs: Mapping[str, Collected], device: str = "cpu") -> None:
        def joined(key: str) -> Tensor:
            return torch.from_numpy(np.concatenate([part[key] for part in graphs.values()])).float().to(device)

        self.kinds, self.is_true, self.many, self.offsets = (
            joined(key) for key in ("kinds", "is_true", "many", "offsets")
        )
        counts = [len(part["many"]) for part in graphs.values()]
        self.weight = torch.tensor(np.repeat(1 / np.array(counts) / len(counts), counts)).float().to(device)

    @property
    def context(self) -> Tensor:
        """What weights depend on, by row."""
        return self.offsets[:, :CONTEXTS]


def scores(weights: Tensor, rows: Rows) -> Tensor:
    """The score of every candidate; weights are [evidence, context]."""
    return torch.einsum("rce,ek,rk->rc", rows.kinds, weights, rows.context)


def fit(graphs: Mapping[str, Collected], uses: tuple[str, ...] = EVIDENCE, device: str = "cpu") -> Combination:
    """The combination that finds the hidden links of all graphs best, by these kinds of evidence."""
    rows = Rows(graphs, device)
    mask = torch.tensor([[float(name in uses)] * CONTEXTS for name in EVIDENCE], device=device)
    start = torch.zeros_like(mask)
    start[:2, 0] = 0.5
    weights = _least(lambda w: softmax_loss(w * mask, rows) + PENALTY * (w * w).sum(), start) * mask
    with torch.no_grad():
        score = scores(weights, rows)
        total = ((score + rows.many.clamp(min=1e-9).log()) - 1e9 * (rows.many == 0)).logsumexp(dim=1)
        inputs = torch.cat([rows.offsets, total.clamp(-30, 30).unsqueeze(1)], dim=1)
    begin = torch.tensor([1.0] + [0.0] * len(OFFSET), device=device)
    calibration = _least(
        lambda c: logistic_loss(c[0] * score + (inputs @ c[1:]).unsqueeze(1), rows) + PENALTY * (c * c).sum(), begin
    )
    numbers, scale = weights.cpu().numpy().round(5).tolist(), calibration.cpu().numpy().round(5).tolist()
    evidence = {name: dict(zip(CONTEXT, row, strict=True)) for name, row in zip(EVIDENCE, numbers, strict=True)}
    return Combination(evidence, dict(zip(OFFSET, scale[1:], strict=True)), scale[0])


def softmax_loss(weights: Tensor, rows: Rows) -> Tensor:
    """The mean negative log-likelihood of the hidden targets of a row."""
    score = scores(weights, rows) + rows.many.clamp(min=1e-9).log() - 1e9 * (rows.many == 0)
    chances = score.log_softmax(dim=1)
    own = (chances * rows.is_true).sum(dim=1) / rows.is_true.sum(dim=1)
    return -(own * rows.weight).sum()


def logistic_loss(logits: Tensor, rows: Rows) -> Tensor:
    """The log loss summed over the candidates of a row, averaged over rows."""
    loss = softplus(logits) - logits * rows.is_true
    return ((loss * rows.many).sum(dim=1) * rows.weight).sum()


def ranks(weights: Tensor, rows: Rows) -> tuple[float, float]:
    """Mean reciprocal rank and Hits@10 of hidden targets, other targets filtered."""
    score = scores(weights, rows) - 1e9 * (rows.many == 0)
    worst = rows.many * (1 - rows.is_true)
    found = []
    for row in range(len(score)):
        own = score[row][rows.is_true[row] > 0]
        above = (worst[row] * (score[row] > own.unsqueeze(1))).sum(dim=1)
        level = (worst[row] * (score[row] == own.unsqueeze(1))).sum(dim=1)
        rank = 1 + above + level / 2
        found.append(((1 / rank).mean(), (rank <= 10).float().mean()))
    both = torch.tensor(found).mean(dim=0)
    return float(both[0]), float(both[1])


def weights_of(combination: Combination, device: str = "cpu") -> Tensor:
    """Weights as [evidence, context]."""
    table = [[combination.evidence.get(name, {}).get(key, 0.0) for key in CONTEXT] for name in EVIDENCE]
    return torch.tensor(table, device=device)


def _least(loss: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    weights = start.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe", history_size=20)

    def closure() -> float:
        optimizer.zero_grad()
        value = loss(weights)
        value.backward()  # type: ignore[no-untyped-call]
        return value  # type: ignore[return-value]

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return weights.detach()
