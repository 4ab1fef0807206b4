"""Logistic regression on counted rows: maximum likelihood, with a small ridge penalty.

With rows x_i, of which n_i were seen and t_i of them were true, the loss

    Σ n_i softplus(w x_i) - t_i w x_i + 1/2 Σ_j ridge_j (s_j w_j)²,        s_j = the size of column j

is convex; Newton's method with halved steps finds its only minimum. Cost a step: rows x columns².
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_STEPS = 60
SMALLEST_STEP = 1e-7


def fit_logistic(rows: Floats, counts: Floats, true: Floats, ridge: float | Floats = 1.0) -> Floats:
    """The weights of all columns, each drawn towards zero by its own ridge; a column of zeros has weight 0."""
    scale = np.sqrt((rows**2).mean(axis=0)) if len(rows) else np.zeros(rows.shape[1])
    scaled = rows / np.where(scale > 0, scale, 1)
    weights, drawn = np.zeros(rows.shape[1]), np.broadcast_to(np.asarray(ridge, np.float64), rows.shape[1:])
    for _ in range(MOST_STEPS if len(rows) else 0):
        step = _newton_step(weights, scaled, counts, true, drawn)
        size = _step_size(weights, step, scaled, counts, true, drawn)
        weights = weights + size * step
        if np.abs(size * step).max(initial=0) < SMALLEST_STEP:
            break
    found: Floats = weights / np.where(scale > 0, scale, 1)
    return found


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + exp(-v)), for values of any size."""
    found: Floats = (1 + np.tanh(values / 2)) / 2
    return found


def _newton_step(weights: Floats, rows: Floats, counts: Floats, true: Floats, ridge: Floats) -> Floats:
    p = sigmoid(rows @ weights)
    gradient = rows.T @ (true - counts * p) - ridge * weights
    curvature = (rows * (counts * p * (1 - p))[:, None]).T @ rows + np.diag(ridge)
    return np.asarray(np.linalg.solve(curvature, gradient), np.float64)


def _step_size(weights: Floats, step: Floats, rows: Floats, counts: Floats, true: Floats, ridge: Floats) -> float:
    """A whole step, or half of it, or half of that, until the loss does not rise."""

    def loss(at: Floats) -> float:
        logits = rows @ at
        return float((counts * np.logaddexp(0, logits) - true * logits).sum() + (ridge * at**2).sum() / 2)

    before, size = loss(weights), 1.0
    while size > SMALLEST_STEP and loss(weights + size * step) > before + 1e-9:
        size /= 2
    return size
