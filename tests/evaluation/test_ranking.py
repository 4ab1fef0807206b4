"""Ranks by hand, by brute force, and by trying every order of ties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.datasets.query_table import Ragged
from unseen.errors import EvaluationError
from unseen.evaluation.ranking import Ranks, filtered_ranks, mean_by_row, roc_auc


def ranks_of(scores: list[float], wanted: list[int], others: list[int], candidates: list[int] | None = None) -> Ranks:
    everyone = list(range(len(scores))) if candidates is None else candidates
    matrix = np.array([scores], np.float32)
    return filtered_ranks(matrix, Ragged.from_rows([wanted]), Ragged.from_rows([others]), np.array(everyone, np.int32))


def test_without_ties_all_ranks_are_the_place_among_non_answers() -> None:
    ranks = ranks_of([0.9, 0.8, 0.7, 0.6, 0.5], wanted=[2, 4], others=[0])
    assert ranks.expected.tolist() == [2, 3]
    assert ranks.optimistic.tolist() == ranks.pessimistic.tolist() == [2, 3]
    assert ranks.hits_at(2).tolist() == [1, 0]


def test_other_answers_are_filtered_easy_and_hard_alike() -> None:
    assert ranks_of([5, 4, 3, 2, 1], wanted=[3], others=[0, 1, 2]).expected.tolist() == [1]
    assert ranks_of([5, 4, 3, 2, 1], wanted=[0, 1, 2, 3], others=[]).expected.tolist() == [1, 1, 1, 1]


def test_a_tie_with_two_others_shares_three_places() -> None:
    ranks = ranks_of([2, 1, 1, 1, 0], wanted=[2], others=[])
    assert (ranks.optimistic[0], ranks.expected[0], ranks.pessimistic[0]) == (2, 3, 4)
    assert ranks.hits_at(1)[0] == 0
    assert ranks.hits_at(2)[0] == pytest.approx(1 / 3)
    assert ranks.hits_at(3)[0] == pytest.approx(2 / 3)
    assert ranks.hits_at(4)[0] == ranks.hits_at(10)[0] == 1


def test_an_even_tie_has_a_half_rank() -> None:
    ranks = ranks_of([1, 1], wanted=[0], others=[])
    assert ranks.expected[0] == 1.5
    assert ranks.hits_at(1)[0] == 0.5


def test_answers_that_tie_with_each_other_do_not_disturb_each_other() -> None:
    assert ranks_of([1, 1, 1, 1], wanted=[0, 1], others=[2]).expected.tolist() == [1.5, 1.5]


def test_a_method_that_scores_everything_the_same_gets_the_middle_rank() -> None:
    ranks = ranks_of([0.0] * 101, wanted=[7], others=[])
    assert ranks.expected[0] == 51
    assert ranks.hits_at(10)[0] == pytest.approx(10 / 101)


def test_entities_that_are_no_candidates_do_not_count() -> None:
    assert ranks_of([9, 9, 1, 0], wanted=[2], others=[], candidates=[2, 3]).expected.tolist() == [1]


def test_an_answer_that_is_no_candidate_comes_after_all_candidates() -> None:
    ranks = ranks_of([9, 1, 1, 0], wanted=[0], others=[1], candidates=[1, 2, 3])
    assert (ranks.better[0], ranks.equal[0]) == (2, 0)


def test_infinite_scores_have_ranks() -> None:
    assert ranks_of([-np.inf, np.inf, -np.inf, 0], wanted=[0, 3], others=[]).expected.tolist() == [2.5, 2]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_nan_is_an_error_and_never_a_rank(place: int) -> None:
    scores = [0.3, 0.2, 0.1]
    scores[place] = np.nan
    with pytest.raises(EvaluationError, match="NaN"):
        ranks_of(scores, wanted=[1], others=[])


def test_rows_without_wanted_answers_give_no_ranks() -> None:
    wanted = Ragged.from_rows([[], [1], []])
    ranks = filtered_ranks(np.eye(3), wanted, Ragged.empty(3), np.arange(3, dtype=np.int32))
    assert ranks.expected.tolist() == [1]


@st.composite
def questions(draw: st.DrawFn) -> tuple[np.ndarray, Ragged, Ragged, np.ndarray]:
    rows, entities = draw(st.integers(1, 4)), draw(st.integers(2, 12))
    levels = draw(st.integers(1, 6))
    scores = draw(st.lists(st.integers(0, levels), min_size=rows * entities, max_size=rows * entities))
    roles = draw(st.lists(st.sampled_from("wo.."), min_size=rows * entities, max_size=rows * entities))
    candidates = draw(st.lists(st.integers(0, entities - 1), min_size=1, unique=True))
    kinds = np.array(roles).reshape(rows, entities)
    wanted, others = (Ragged.from_rows([np.flatnonzero(row == sign) for row in kinds]) for sign in "wo")
    matrix = np.array(scores, np.float32).reshape(rows, entities) / 3
    return matrix, wanted, others, np.array(sorted(candidates), np.int32)


@given(questions())
def test_ranks_are_those_of_brute_force(question: tuple[np.ndarray, Ragged, Ragged, np.ndarray]) -> None:
    scores, wanted, others, candidates = question
    expected = []
    for row, line in enumerate(scores):
        pool = set(candidates.tolist()) - set(wanted.row(row).tolist()) - set(others.row(row).tolist())
        for answer in wanted.row(row).tolist():
            better = sum(line[one] > line[answer] for one in pool)
            equal = sum(line[one] == line[answer] for one in pool)
            expected.append((better, equal) if answer in candidates else (len(pool), 0))
    ranks = filtered_ranks(scores, wanted, others, candidates)
    assert list(zip(ranks.better.tolist(), ranks.equal.tolist(), strict=True)) == expected


@given(st.integers(0, 4), st.integers(0, 5), st.integers(1, 10))
def test_hits_are_the_share_of_tie_orders_that_hit(better: int, equal: int, k: int) -> None:
    ranks = Ranks(np.array([better]), np.array([equal]))
    tied = ["answer", *range(equal)]
    places = [better + 1 + order.index("answer") for order in permutations(tied)]
    assert ranks.hits_at(k)[0] == pytest.approx(np.mean([place <= k for place in places]))
    assert ranks.expected[0] == pytest.approx(np.mean(places))


def test_adding_a_constant_or_scaling_scores_changes_no_rank() -> None:
    scores = np.random.default_rng(0).integers(0, 5, (6, 40)).astype(np.float64)
    wanted = Ragged.from_rows([[row, row + 3] for row in range(6)])
    candidates = np.arange(40, dtype=np.int32)
    plain = filtered_ranks(scores, wanted, Ragged.empty(6), candidates)
    moved = filtered_ranks((7 * scores - 2).astype(np.float32), wanted, Ragged.empty(6), candidates)
    assert plain.expected.tolist() == moved.expected.tolist()


def test_means_by_row_leave_empty_rows_out() -> None:
    values, lengths = np.array([[1.0, 3.0, 5.0], [0.0, 0.0, 6.0]]), np.array([2, 0, 1])
    assert mean_by_row(values, lengths).tolist() == [[2, 5], [0, 6]]
    assert mean_by_row(values[:, :0], np.array([0, 0])).shape == (2, 0)


def test_roc_auc_counts_pairs_in_order_and_ties_half() -> None:
    scores = np.array([[0.9, 0.5, 0.5, 0.1]], np.float32)
    easy, hard = Ragged.from_rows([[0, 1]]), Ragged.from_rows([[2, 3]])
    assert roc_auc(scores, easy, hard).tolist() == [(1 + 1 + 0.5 + 1) / 4]


def test_roc_auc_follows_the_example_of_the_paper() -> None:
    ranks = np.array([[5, 6, 7, 32, 8]])
    easy, hard = Ragged.from_rows([[0, 1, 2, 3]]), Ragged.from_rows([[4]])
    assert roc_auc(-ranks.astype(np.float32), easy, hard).tolist() == [0.75]


def test_roc_auc_needs_both_kinds() -> None:
    values = roc_auc(np.zeros((2, 3)), Ragged.from_rows([[0], []]), Ragged.from_rows([[], [1]]))
    assert np.isnan(values).all()


@given(questions())
def test_roc_auc_is_that_of_brute_force(question: tuple[np.ndarray, Ragged, Ragged, np.ndarray]) -> None:
    scores, hard, easy, _ = question
    for row, value in enumerate(roc_auc(scores, easy, hard)):
        left, right = scores[row, easy.row(row)][:, None], scores[row, hard.row(row)][None]
        if left.size and right.size:
            assert value == pytest.approx(((left > right) + (left == right) / 2).mean())
        else:
            assert np.isnan(value)
