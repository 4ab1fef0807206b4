from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import EvaluationError
from unseen.evaluation.reliability import Reliability, answer_count, checked_probabilities, spearman


def test_reliability_of_probabilities_that_come_true_as_often_as_they_say_has_no_error() -> None:
    reliability = Reliability(bins=2)
    reliability.add(np.array([0.25, 0.25, 0.25, 0.25]), np.array([True, False, False, False]))
    reliability.add(np.array([1.0, 1.0]), np.array([True, True]))
    result = reliability.result()
    assert result.ece == 0
    assert result.counts == (4, 2)
    assert result.frequency == (0.25, 1.0)


def test_the_calibration_error_weighs_bins_by_their_counts() -> None:
    reliability = Reliability(bins=10)
    reliability.add(np.array([0.05, 0.05, 0.05, 0.95]), np.array([False, False, False, False]))
    assert reliability.result().ece == pytest.approx(0.75 * 0.05 + 0.25 * 0.95)


def test_probability_one_belongs_to_the_last_bin() -> None:
    reliability = Reliability(bins=4)
    reliability.add(np.array([0.0, 0.25, 1.0]), np.array([False, False, True]))
    assert reliability.result().counts == (1, 1, 0, 1)


def test_without_any_probability_there_is_no_error() -> None:
    assert Reliability().result().ece == 0


def test_answer_counts_err_in_percent_of_the_true_number() -> None:
    result = answer_count(np.array([2.0, 9.0, 30.0]), np.array([4.0, 10.0, 20.0]))
    assert result.mape == pytest.approx((0.5 + 0.1 + 0.5) / 3)
    assert result.spearman == pytest.approx(1)


@pytest.mark.parametrize(
    ("left", "right", "rho"),
    [([1, 2, 3], [10, 20, 30], 1), ([1, 2, 3], [3, 2, 1], -1), ([1, 2, 2, 4], [1, 3, 2, 4], 0.9486832980505138)],
)
def test_spearman_is_the_correlation_of_ranks_with_ties_at_their_mean(
    left: list[float], right: list[float], rho: float
) -> None:
    assert spearman(np.array(left, float), np.array(right, float)) == pytest.approx(rho)


def test_spearman_of_a_constant_is_unknown() -> None:
    assert spearman(np.ones(3), np.arange(3.0)) is None


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12))
def test_spearman_is_the_same_after_any_growing_change(values: list[int]) -> None:
    left, right = np.array(values, float), np.arange(len(values), dtype=float)
    before, after = spearman(left, right), spearman(np.exp(left), right**3)
    assert before == pytest.approx(after) if before is not None else after is None


@pytest.mark.parametrize("value", [np.nan, -0.1, 1.1])
def test_what_is_no_probability_is_an_error(value: float) -> None:
    with pytest.raises(EvaluationError, match="probability"):
        checked_probabilities(np.array([0.5, value]))


def test_rounding_errors_are_cut() -> None:
    assert checked_probabilities(np.array([-1e-7, 1 + 1e-7])).tolist() == [0, 1]


def test_the_error_of_what_is_likely_leaves_the_rest_out() -> None:
    reliability = Reliability()
    reliability.add(np.array([0.001, 0.005, 0.05, 0.9]), np.array([True, False, False, True]))
    assert reliability.result().ece_likely == pytest.approx((0.05 + 0.1) / 2)
    assert reliability.result().ece == pytest.approx((abs(0.056 - 1) + 0.1) / 4)
