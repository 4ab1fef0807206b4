"""Weights of network and rules, and probabilities of links, that suit one graph: fitted to facts hidden from it.

Two problems, one after the other, each drawn towards what was there before:

1. how much each kind of evidence counts: a softmax over the candidates of a question finds what was hidden. First for
   all relations together, drawn towards the shipped weights; then for each directed relation, drawn towards those.
2. how likely a candidate with such a score is. The log-odds are the score, the offset with which the probabilities of a
   question add up to what it is expected to miss, and a weighted sum of the score and of what is the same for all
   candidates of a question; questions count as often as they come. Scale and offset of each relation come last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from unseen.methods.combination import (
    CALIBRATION,
    EVIDENCE,
    LEAST_MISSING,
    LEAST_SCALE,
    LEAST_WEIGHT,
    MOST_MISSING,
    RISES,
    balance,
)
from unseen.methods.own_weights.hidden_rows import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unseen.methods.own_weights.row_candidates import RowCandidates

    Floats = NDArray[np.float64]
    Ids = NDArray[np.int64]

SHARED_PENALTY, OWN_PENALTY = 20.0, 60.0
"""For moving a weight by what changes scores by about 1."""
CALIBRATION_PENALTIES = np.array([1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 1.0])
"""In the order of `CALIBRATION`."""
ROUNDS = 3
"""How often the balance is found again: it depends on the scale."""
RELATION_PENALTIES = np.array([300.0, 40.0])
"""For the scale and the offset of one relation."""
DAMPING = 0.5
"""Questions with n hidden answers count n to this power less: their answers depend on each other."""
KEPT = 1 - MISSING
LEAST_ROWS = 5
"""A relation with fewer questions has the weights of all."""
STEPS, HALVINGS = 30, 20
RISING = np.array([name in RISES for name in EVIDENCE])


class _Tried(NamedTuple):
    """Candidates of questions with known answers, one a row."""

    many: Floats
    """How often each counts."""
    is_true: NDArray[np.bool_]
    hidden: Floats
    """How many targets of the source were hidden, for each that the graph itself misses."""
    absent: Floats
    """How many are not there, likewise: these, and those that the graph itself misses."""


def fitted_weights(
    candidates: RowCandidates, relations: Ids, row_weights: Floats, num_relations: int
) -> tuple[Floats, Floats]:
    """What to add to the shipped weights of evidence, and to score + balance, by directed relation."""
    evidence = _fitted_evidence(candidates, relations, num_relations)
    return evidence, _fitted_calibration(candidates, relations, row_weights, evidence)


def scores_of(candidates: RowCandidates, added: Floats) -> tuple[Floats, Floats]:
    """The score of every candidate with something added to its row's weights, and their total by row."""
    weights = candidates.shipped + added
    weights[:, RISING] = np.maximum(weights[:, RISING], LEAST_WEIGHT)
    scores = np.einsum("rce,re->rc", candidates.kinds, weights)
    with np.errstate(divide="ignore"):
        terms = scores + np.log(candidates.many)
    highest = terms.max(axis=1, keepdims=True)
    totals = highest[:, 0] + np.log(np.exp(terms - highest).sum(axis=1))
    return scores, np.clip(totals, -30, 30)


def _fitted_evidence(candidates: RowCandidates, relations: Ids, num_relations: int) -> Floats:
    """By directed relation what to add to the weights of evidence; the last row is for relations without questions."""
    added = np.zeros((num_relations + 1, len(EVIDENCE)))
    asked = np.flatnonzero((candidates.is_true & (candidates.many > 0)).any(axis=1))
    if not len(asked):
        return added
    rows, of_row = candidates.take(asked), relations[asked]
    spread = _spread(rows)
    shared = _softmax_fit(rows, np.zeros((len(rows.many), len(EVIDENCE))), spread, SHARED_PENALTY)
    added[:] = shared
    for relation in np.unique(of_row):
        chosen = np.flatnonzero(of_row == relation)
        if len(chosen) >= LEAST_ROWS:
            own = np.broadcast_to(shared, (len(chosen), len(EVIDENCE)))
            added[relation] += _softmax_fit(rows.take(chosen), own, spread, OWN_PENALTY)
    return added


def _spread(rows: RowCandidates) -> Floats:
    """How far apart the candidates of a row lie in each kind of evidence."""
    share = rows.many / np.maximum(1e-9, rows.many.sum(axis=1, keepdims=True))
    mean = np.einsum("rc,rce->re", share, rows.kinds)
    variance = np.einsum("rc,rce->re", share, (rows.kinds - mean[:, None, :]) ** 2)
    spread: Floats = np.sqrt(variance.mean(axis=0)) + 0.1
    return spread


def _softmax_fit(rows: RowCandidates, base: Floats, spread: Floats, penalty: float) -> Floats:
    """What to add to the weights of all rows together, so that what was hidden is found most surely."""
    start, _ = scores_of(rows, base)
    inputs, many = rows.kinds / spread, rows.many
    wanted = rows.is_true * many
    wanted = wanted / np.maximum(1e-9, wanted.sum(axis=1, keepdims=True))
    target = np.einsum("rc,rce->e", wanted, inputs)

    def chances(at: Floats) -> tuple[float, Floats]:
        scores = start + inputs @ at
        highest = np.where(many > 0, scores, -np.inf).max(axis=1, keepdims=True)
        found = np.exp(np.where(many > 0, scores - highest, -np.inf)) * many
        total = found.sum(axis=1, keepdims=True)
        logs = (np.log(total[:, 0]) + highest[:, 0]) - (wanted * scores).sum(axis=1)
        return float(logs.sum() + penalty / 2 * at @ at), found / total

    def slopes(at: Floats, found: Floats) -> tuple[Floats, Floats]:
        mean = np.einsum("rc,rce->re", found, inputs)
        gradient = mean.sum(axis=0) - target + penalty * at
        square = np.einsum("rc,rce,rcf->ef", found, inputs, inputs) - mean.T @ mean
        return gradient, square + penalty * np.eye(len(at))

    return _newton(np.zeros(len(EVIDENCE)), chances, slopes) / spread


def _fitted_calibration(candidates: RowCandidates, relations: Ids, row_weights: Floats, evidence: Floats) -> Floats:
    """By directed relation what to add to score + balance, beside what is added to the weights of evidence."""
    added, own = np.zeros((len(evidence), len(CALIBRATION))), np.zeros((len(evidence), len(RELATION_PENALTIES)))
    scores, totals = scores_of(candidates, evidence[relations])
    used = candidates.many > 0
    row = np.nonzero(used)[0]
    shares = _shares(candidates)
    counts = row_weights / np.maximum(1.0, candidates.missing) ** DAMPING
    tried = _Tried(candidates.many[used] * counts[row], candidates.is_true[used], *shares[:, row])
    for _ in range(ROUNDS):
        of_rows = added[relations]
        columns = calibration_columns(scores, candidates, totals, of_rows[:, 0], shares[1])
        start = (columns[:, :, 0] + columns[:, :, -1] + np.einsum("rcp,rp->rc", columns, of_rows))[used]
        columns[:, :, 0] += ((1 + of_rows[:, -1]) * _slope(columns, candidates.many, of_rows[:, 0]))[:, None]
        inputs = columns[used]
        step = _logistic_fit(inputs, start, tried, CALIBRATION_PENALTIES, added[-1])
        added, start = added + step, start + inputs @ step
        for relation in np.unique(relations):
            mine = relations[row] == relation
            of_mine = _Tried(*(part[mine] for part in tried))
            moved = _logistic_fit(inputs[mine, :2], start[mine], of_mine, RELATION_PENALTIES, own[relation])
            own[relation] += moved
            added[relation, :2] += moved
    return added


def _slope(columns: Floats, many: Floats, scales: Floats) -> Floats:
    """By row how fast the balance rises with the scale."""
    scores, balances = columns[:, :, 0], columns[:, :, -1]
    balanced = np.clip((1 + scales)[:, None] * scores + balances, -60, 60)
    uncertain = many / np.cosh(balanced / 2) ** 2
    slope: Floats = -(uncertain * scores).sum(axis=1) / np.maximum(1e-9, uncertain.sum(axis=1))
    return slope


def _shares(candidates: RowCandidates) -> Floats:
    """By row what candidates of `_Tried` have in common: `hidden` and `absent`.

    A source was asked about because the graph has one of its targets. Of its n targets so n - 1 may be missing.
    """
    known = np.expm1(candidates.offsets[:, 4])
    others = np.maximum(1.0, known + candidates.missing) - 1
    shares: Floats = np.stack([1 + KEPT * others, 1 + (1 + KEPT) * others]) / (1 + others)
    return shares


def calibration_columns(
    scores: Floats, candidates: RowCandidates, totals: Floats, scales: Floats, absent: Floats | float = 1.0
) -> Floats:
    """What log-odds are a weighted sum of: [row, candidate, one of `CALIBRATION`].

    `scales` are added to the scale of each row. So many times as many targets as are expected to be missing are
    `absent` from among those that are known.
    """
    known, tails = candidates.offsets[:, 4:6].T
    scaled = np.maximum(LEAST_SCALE, 1 + scales)[:, None] * scores
    wanted = (scaled, candidates.many, candidates.missing * absent)
    balances = balance(*(torch.from_numpy(part) for part in wanted)).numpy() - np.log(absent)
    missing = np.log(candidates.missing.clip(LEAST_MISSING, MOST_MISSING))
    rest = np.stack([np.ones(len(totals)), known, tails, totals, missing, balances], axis=1)
    return np.concatenate(
        [scores[:, :, None], np.broadcast_to(rest[:, None, :], (*scores.shape, rest.shape[1]))], axis=2
    )


def _logistic_fit(inputs: Floats, start: Floats, tried: _Tried, penalties: Floats, before: Floats) -> Floats:
    """What to add to the logits, by column, so that what was hidden is likeliest; `before` was added earlier.

    What the graph misses looks like what was hidden. With odds a of a fact missing, h times as many hidden, and r times
    as many not there (`_shares`), a candidate was hidden with probability h a / (1 + r a).
    """
    many, truth, hidden_share, absent_share = tried
    beside = absent_share - hidden_share

    def chances(at: Floats) -> tuple[float, Floats]:
        odds = np.exp(np.clip(start + inputs @ at, -30, 30))
        all_of = 1 + absent_share * odds
        loss = -(many * np.log(np.where(truth, hidden_share * odds, 1 + beside * odds) / all_of)).sum()
        return float(loss + penalties @ (before + at) ** 2 / 2), odds

    def slopes(at: Floats, odds: Floats) -> tuple[Floats, Floats]:
        either, missed = (share * odds / (1 + share * odds) for share in (absent_share, beside))
        gradient = inputs.T @ (many * (either - missed - truth * (1 - missed))) + penalties * (before + at)
        information = hidden_share * odds / (1 + beside * odds) / (1 + absent_share * odds) ** 2
        return gradient, (inputs * (many * information)[:, None]).T @ inputs + np.diag(penalties)

    return _newton(np.zeros(inputs.shape[1]), chances, slopes)


def _newton(
    start: Floats,
    losses: Callable[[Floats], tuple[float, Floats]],
    slopes: Callable[[Floats, Floats], tuple[Floats, Floats]],
) -> Floats:
    """Newton's method; steps are halved until the loss falls."""
    found = start
    loss, chances = losses(found)
    for _ in range(STEPS):
        gradient, curvature = slopes(found, chances)
        step = np.linalg.solve(curvature, gradient)
        for _halving in range(HALVINGS):
            trial, trial_chances = losses(found - step)
            if trial < loss:
                break
            step = step / 2
        else:
            break
        found, loss, chances = found - step, trial, trial_chances
        if np.abs(step).max() < 1e-5:
            break
    return found
