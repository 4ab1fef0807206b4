"""Weights of evidence: that their fit ends where the likelihood is largest."""

from __future__ import annotations

import numpy as np

from unseen.rules.evidence import FEATURES
from unseen.rules.weighing import Examples, Weights, _logistic_fit, _quality


def test_probabilities_of_large_scores_still_come_true_as_often_as_they_say() -> None:
    random = np.random.default_rng(0)
    rows = np.zeros((200, 10, FEATURES))
    rows[:, :, 0] = 12 + random.normal(size=(200, 10))
    rows[:, 0, 0] += 1
    examples = Examples(rows, np.zeros((200, 10)), np.ones((200, 10), bool))
    slope, offset = _logistic_fit(examples, np.eye(FEATURES)[0], np.array([1.0, 0.0]), 1e-3)
    chances = 1 / (1 + np.exp(-(slope * rows[:, :, 0] + offset)))
    assert abs(chances.mean() - 0.1) < 0.01
    assert chances[:, 0].mean() > chances[:, 1:].mean()


def test_a_relation_without_hidden_facts_has_the_quality_of_all() -> None:
    quality = _quality(np.array([1.0, 0.5]), np.array([0, 0]), np.array([2, 0, 2]))
    assert quality[3] == 1.5 / 4
    assert quality[1] == quality[3]
    assert quality[0] > quality[3] > quality[2]


def test_new_relations_take_the_shared_quality() -> None:
    weights = Weights(np.zeros((3, FEATURES)), np.zeros((3, 2)), np.array([0.2, 0.4, 0.3]))
    assert weights.for_relations(4).quality.tolist() == [0.2, 0.4, 0.3, 0.3, 0.3]
