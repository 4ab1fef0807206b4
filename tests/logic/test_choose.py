"""The largest values of many rows at once are those that a plain sort finds in each row alone."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.logic import choose
from unseen.logic.choose import largest, largest_in_rows, largest_of


def by_sorting(row: np.ndarray, count: int) -> list[tuple[int, float]]:
    order = sorted(range(len(row)), key=lambda place: (-row[place], place))
    return [(place, float(row[place])) for place in order[: max(count, 0)] if row[place] > 0]


@pytest.mark.parametrize("num_columns", [1, 7, 200])
@pytest.mark.parametrize("digits", [1, 6])
def test_rows_together_give_what_sorting_each_gives(num_columns: int, digits: int) -> None:
    chance = np.random.default_rng(num_columns + digits)
    values = np.round(chance.random((40, num_columns)) ** 3, digits).astype(np.float32)
    counts = chance.integers(-2, 25, 40).tolist()
    expected = [by_sorting(row, count) for row, count in zip(values, counts, strict=True)]
    assert largest_in_rows(values, counts) == expected
    alone = [largest_in_rows(values[row : row + 1], counts[row : row + 1])[0] for row in range(40)]
    assert alone == expected


def test_nothing_is_found_where_nothing_is_positive_or_wanted() -> None:
    zeros = np.zeros((2, 3), np.float32)
    assert largest_in_rows(zeros, [2, 5]) == [[], []]
    assert largest_in_rows(zeros + 1, [0, -1]) == [[], []]
    assert largest_in_rows(np.zeros((0, 3), np.float32), []) == []
    assert largest_in_rows(np.zeros((2, 0), np.float32), [1, 1]) == [[], []]


def test_equal_values_come_by_position() -> None:
    values = np.array([0.5, 0.9, 0.5, 0.9], np.float32)
    assert largest(values, 3).tolist() == [1, 3, 0]
    assert largest(values, 9).tolist() == [1, 3, 0, 2]
    assert largest_of(np.array([4, 6, 8, 9], np.int32), values, 2) == [(6, float(values[1])), (9, float(values[1]))]


def test_many_zeros_are_passed_over_and_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    values = np.round(random.random((6, 40)) * (random.random((6, 40)) < 0.3), 1).astype(np.float32)
    values[5] = 0
    counts = [3, 10, 1, 40, 0, 5]
    expected = choose.largest_in_rows(values, counts)
    monkeypatch.setattr(choose, "MANY", 0)
    assert choose.largest_in_rows(values, counts) == expected
