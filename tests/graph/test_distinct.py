"""Distinct numbers are those of numpy."""

from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unseen.graph.distinct import distinct, union

NUMBERS = hnp.arrays(
    st.sampled_from([np.int32, np.int64]),
    hnp.array_shapes(min_dims=1, max_dims=2, min_side=0),
    elements=st.integers(-9, 9),
)


@given(NUMBERS)
def test_each_number_is_there_once(numbers: np.ndarray) -> None:
    found = distinct(numbers)
    assert found.dtype == numbers.dtype
    assert found.tolist() == np.unique(numbers).tolist()


@given(st.lists(st.integers(-9, 9)), st.lists(st.integers(-9, 9)))
def test_a_union_has_the_numbers_of_both(first: list[int], second: list[int]) -> None:
    assert union(np.array(first, np.int64), np.array(second, np.int64)).tolist() == sorted({*first, *second})
