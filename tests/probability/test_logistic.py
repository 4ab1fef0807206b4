"""Logistic regression: it finds what made the data, and stays sane where there is nothing to find."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.probability.logistic import fit_logistic, sigmoid


def rows(count: int = 20_000) -> np.ndarray:
    random = np.random.default_rng(0)
    return np.stack([np.ones(count), random.normal(size=count) * 5, random.random(count)], axis=1)


def test_the_weights_that_made_the_data_are_found() -> None:
    design, truth = rows(), np.array([-1.0, 0.4, 2.0])
    counts = np.full(len(design), 50.0)
    found = fit_logistic(design, counts, counts * sigmoid(design @ truth), ridge=1e-6)
    assert found == pytest.approx(truth, abs=1e-3)


def test_a_count_is_as_good_as_so_many_rows() -> None:
    design = rows(300)
    true = (np.random.default_rng(1).random(300) < sigmoid(design[:, 1])).astype(float)
    twice = fit_logistic(np.concatenate([design, design]), np.ones(600), np.concatenate([true, true]))
    assert fit_logistic(design, np.full(300, 2.0), 2 * true) == pytest.approx(twice, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_what_is_separable_stays_finite(share: float) -> None:
    design = rows(200)
    assert np.isfinite(fit_logistic(design, np.ones(200), np.full(200, share))).all()


def test_a_column_of_zeros_and_no_rows_at_all_have_weight_zero() -> None:
    design = np.concatenate([rows(100), np.zeros((100, 1))], axis=1)
    assert fit_logistic(design, np.ones(100), np.ones(100))[-1] == 0
    assert fit_logistic(design[:0], np.ones(0), np.ones(0)).tolist() == [0] * 4
