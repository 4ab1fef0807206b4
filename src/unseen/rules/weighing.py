"""How much each kind of evidence counts: fitted on the graph's own facts, each hidden while it is asked for.

The score of a candidate is linear in its features. Coefficients are those with which a softmax over the candidates
finds the hidden target most surely: one vector for all relations, then one for each directed relation that stays near
it. A slope and an offset then turn scores into probabilities: how often a candidate with such a score was the one that
was hidden. How well that works is kept by relation: the mean reciprocal rank of what was hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.rules.evidence import FEATURES, IS_LINKED, LINK_FEATURES, new_state
from unseen.rules.firing import BUDGETS
from unseen.rules.leaving_out import hidden_examples
from unseen.rules.proposing import row_starts, sampled_facts
from unseen.rules.scratch import Scratch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.rules.adjacency import Adjacency
    from unseen.rules.firing import RuleIndex
    from unseen.rules.rounds import Round

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

CANDIDATES = 100
MOST_FACTS, FACTS_OF_EACH, MOST_HIDDEN = 2000, 2, 5000
CHUNK = 16
"""Facts that are hidden in one piece of work."""
LEAST_CHUNKS = 16
"""Pieces of work in any case, a second or two: weights that were fitted to fewer facts are sure of everything."""
LEAST_FACTS = 5
"""A relation with fewer hidden facts takes the coefficients of all."""
SHARED_PENALTY, OWN_PENALTY = 1.0, 25.0
OTHERS_COUNT = 5.0
"""For the quality of a relation's rules, the mean over all relations counts as so many of its own hidden facts."""
STEPS, HALVINGS = 30, 40
LEAST_SLOPE, FIXED = 1e-3, 1e9
"""Scores never speak against a candidate: a slope below this is held there, by a penalty that nothing outweighs."""
ALONE = 0.5
"""Where so many facts are the only link between their ends, other links are left out of the evidence: facts that are
missing from such a graph will hardly have any, and those that have some teach the wrong thing about them."""


@dataclass(frozen=True, eq=False)
class Weights:
    """By directed relation: coefficients of the features, and slope and offset of the logit; the last row is shared."""

    coefficients: Floats
    calibration: Floats
    quality: Floats
    """By directed relation: the mean reciprocal rank of facts that were hidden; 0 where nothing was tried."""

    def for_relations(self, count: int) -> Weights:
        """The same for `count` directed relations: new ones take the shared row."""
        rows = np.minimum(np.arange(count + 1), len(self.coefficients) - 1)
        rows[-1] = len(self.coefficients) - 1
        return Weights(self.coefficients[rows], self.calibration[rows], self.quality[rows])


@dataclass(frozen=True, eq=False)
class Examples:
    """Hidden facts: features of their candidates, the target first, and for how many others each stands."""

    rows: Floats
    stands_for: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: NDArray[np.float32], stands_for: Floats, lengths: Places) -> Examples:
        """Examples of so many candidates each."""
        present = np.arange(rows.shape[1])[None, :] < lengths[:, None]
        return cls(rows.astype(np.float64), stands_for, present)

    def take(self, chosen: Places) -> Examples:
        """Some of the facts."""
        return Examples(self.rows[chosen], self.stands_for[chosen], self.present[chosen])


def untrained(count: int) -> Weights:
    """Weights for a graph that has nothing to learn from: the best three rules, the first most."""
    coefficients, calibration = np.zeros((count + 1, FEATURES)), np.zeros((count + 1, 2))
    coefficients[:, 0], coefficients[:, 2], coefficients[:, 3] = 1.0, 0.1, 0.01
    calibration[:, 0] = 1.0
    return Weights(coefficients, calibration, np.zeros(count + 1))


def fitted(this: Round, index: RuleIndex, share: float) -> Weights:
    """The weights that find hidden facts of a graph best."""
    adjacency, count = this.adjacency, this.adjacency.num_relations
    sources, relations, targets = _sampled(adjacency, this.seed)
    scratch = Scratch(lambda: new_state(adjacency.num_entities))

    def examples_from(low: int) -> tuple[NDArray[np.float32], Floats, Places]:
        part = slice(low, low + CHUNK)
        facts = sources[part], relations[part], targets[part]
        with scratch.lent() as state:
            found: tuple[NDArray[np.float32], Floats, Places] = hidden_examples(
                adjacency, index, *facts, BUDGETS, CANDIDATES, state
            )
        return found

    pieces = list(this.each("weighing", examples_from, range(0, len(sources), CHUNK), share, LEAST_CHUNKS))
    if not pieces:
        return untrained(count)
    rows, stands_for, lengths = (np.concatenate([piece[i] for piece in pieces]) for i in range(3))
    useful = lengths > 1
    if not useful.any():
        return untrained(count)
    examples = Examples.of(rows[useful], stands_for[useful], lengths[useful])
    tried = np.bincount(relations[: len(lengths)], minlength=count)
    return _weights(examples, relations[: len(lengths)][useful], tried)


def _sampled(adjacency: Adjacency, seed: int) -> tuple[Places, Places, Places]:
    """Facts in both directions, evenly from all, and some more of every directed relation; in no order."""
    starts, count = row_starts(adjacency), adjacency.num_relations
    facts = np.diff(starts[adjacency.relation_rows])
    wanted = MOST_FACTS * facts // max(1, facts.sum()) + FACTS_OF_EACH
    found = [sampled_facts(adjacency, r, starts, wanted[r], np.uint64(seed + 31 * r)) for r in range(count)]
    sources, targets = (np.concatenate([np.empty(0, np.int64), *(pair[way] for pair in found)]) for way in (0, 1))
    relations = np.repeat(np.arange(count), [len(pair[0]) for pair in found])
    order = np.random.default_rng(seed).permutation(len(sources))[:MOST_HIDDEN]
    return sources[order], relations[order], targets[order]


def _weights(examples: Examples, relations: Places, tried: Places) -> Weights:
    """Weights from the facts that rules led to; `tried` says how many facts of each directed relation were hidden."""
    count = len(tried)
    if (examples.rows[:, 0, IS_LINKED] == 0).mean() >= ALONE:
        examples.rows[:, :, LINK_FEATURES] = 0
    scale = np.sqrt((examples.rows**2).sum(axis=(0, 1)) / examples.present.sum()) + 1e-6
    examples.rows[:] /= scale
    zero = np.zeros(FEATURES)
    shared = _softmax_fit(examples, zero, zero, SHARED_PENALTY)
    slope = _logistic_fit(examples, shared, np.array([1.0, 0.0]), 1e-3)
    coefficients, calibration = np.tile(shared, (count + 1, 1)), np.tile(slope, (count + 1, 1))
    order = np.argsort(relations, kind="stable")
    edges = np.searchsorted(relations[order], np.arange(count + 1))
    for relation in range(count):
        chosen = order[edges[relation] : edges[relation + 1]]
        if len(chosen) >= LEAST_FACTS:
            own = examples.take(chosen)
            coefficients[relation] = _softmax_fit(own, shared, shared, OWN_PENALTY)
            calibration[relation] = _logistic_fit(own, coefficients[relation], slope, OWN_PENALTY)
    quality = _quality(_reciprocal_ranks(examples, coefficients[relations]), relations, tried)
    return Weights(coefficients / scale, calibration, quality)


def _reciprocal_ranks(examples: Examples, coefficients: Floats) -> Floats:
    """Of each hidden target among the other candidates, ties counted half."""
    scores = np.einsum("ecf,ef->ec", examples.rows, coefficients)
    many = np.where(examples.present, np.exp(examples.stands_for), 0.0)
    above = (many * (scores > scores[:, :1])).sum(axis=1)
    level = (many * (scores == scores[:, :1])).sum(axis=1)
    ranks: Floats = 1 / (1 + above + (level - 1) / 2)
    return ranks


def _quality(ranks: Floats, relations: Places, tried: Places) -> Floats:
    """The mean reciprocal rank by relation, near that of all; a fact that no rule led to counts as not found."""
    found = np.bincount(relations, ranks, len(tried))
    shared = found.sum() / max(1, tried.sum())
    return np.append((found + OTHERS_COUNT * shared) / (tried + OTHERS_COUNT), shared)


def _softmax_fit(examples: Examples, start: Floats, prior: Floats, penalty: float) -> Floats:
    """Newton's method on the log-likelihood of the first candidate of every row, with a quadratic penalty."""
    rows, weights = examples.rows, start.copy()
    loss, chances = _softmax_loss(examples, weights, prior, penalty)
    for _ in range(STEPS):
        mean = np.matmul(chances[:, None, :], rows)[:, 0]
        gradient = (mean - rows[:, 0]).sum(axis=0) + penalty * (weights - prior)
        spread = (rows * chances[:, :, None]).reshape(-1, FEATURES).T @ rows.reshape(-1, FEATURES)
        step = np.linalg.solve(spread - mean.T @ mean + penalty * np.eye(FEATURES), gradient)
        for _halving in range(10):
            trial, trial_chances = _softmax_loss(examples, weights - step, prior, penalty)
            if trial < loss:
                break
            step = step / 2
        else:
            return weights
        is_close = loss - trial < 1e-4 * len(rows)
        weights, loss, chances = weights - step, trial, trial_chances
        if is_close:
            break
    return weights


def _softmax_loss(examples: Examples, weights: Floats, prior: Floats, penalty: float) -> tuple[float, Floats]:
    scores = examples.rows @ weights + examples.stands_for
    scores[~examples.present] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    chances = np.exp(scores)
    total = chances.sum(axis=1, keepdims=True)
    loss = float((np.log(total[:, 0]) - scores[:, 0]).sum() + penalty / 2 * ((weights - prior) ** 2).sum())
    return loss, chances / total


def _logistic_fit(examples: Examples, weights: Floats, prior: Floats, penalty: float) -> Floats:
    """Slope and offset of the logit by which a candidate's score says how likely it was the hidden one."""
    scores = (examples.rows @ weights)[examples.present]
    truth = np.zeros(examples.present.shape)
    truth[:, 0] = 1
    wanted, many = truth[examples.present], np.exp(examples.stands_for[examples.present])
    inputs = np.stack([scores, np.ones_like(scores)], axis=1)
    found = _likeliest(inputs, wanted, many, prior, np.array([penalty, penalty]))
    if found[0] >= LEAST_SLOPE:
        return found
    flat = np.array([LEAST_SLOPE, found[1]])
    return _likeliest(inputs, wanted, many, flat, np.array([FIXED, 0.0]))


def _likeliest(inputs: Floats, wanted: Floats, many: Floats, prior: Floats, penalties: Floats) -> Floats:
    """Logistic regression by Newton's method; steps are halved until the penalised likelihood rises."""

    def loss_of(trial: Floats) -> float:
        logits = inputs @ trial
        return float((many * (np.logaddexp(0, logits) - wanted * logits)).sum() + penalties @ (trial - prior) ** 2 / 2)

    found, loss = prior.copy(), loss_of(prior)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ found, -30, 30)))
        gradient = inputs.T @ (many * (chance - wanted)) + penalties * (found - prior)
        curvature = (inputs * (many * chance * (1 - chance))[:, None]).T @ inputs + np.diag(penalties + 1e-6)
        step = np.linalg.solve(curvature, gradient)
        for _halving in range(HALVINGS):
            trial = loss_of(found - step)
            if trial < loss:
                break
            step = step / 2
        else:
            break
        found, loss = found - step, trial
        if np.abs(step).max() < 1e-4:
            break
    return found
