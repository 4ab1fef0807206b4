"""The laws of the three logics on fuzzy sets."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from unseen.logic.fuzzy import GOEDEL, LOGICS, LUKASIEWICZ, PRODUCT, Logic

MEMBERSHIPS = st.lists(st.floats(0, 1), min_size=4, max_size=4).map(
    lambda values: torch.tensor(values, dtype=torch.float64)
)
every_logic = pytest.mark.parametrize("logic", LOGICS.values(), ids=list(LOGICS))


def close(left: Tensor, right: Tensor) -> bool:
    return torch.allclose(left, right, atol=1e-12, rtol=0)


def test_there_are_three_logics() -> None:
    assert {"product": PRODUCT, "goedel": GOEDEL, "lukasiewicz": LUKASIEWICZ} == LOGICS


@every_logic
def test_zeros_and_ones_follow_boolean_logic(logic: Logic) -> None:
    for left, right in product((0.0, 1.0), repeat=2):
        a, b = torch.tensor([left]), torch.tensor([right])
        assert logic.conjunction([a, b]).item() == float(left and right)
        assert logic.disjunction([a, b]).item() == float(left or right)
        assert logic.negation(a).item() == float(not left)


@every_logic
@given(a=MEMBERSHIPS, b=MEMBERSHIPS)
def test_memberships_stay_between_zero_and_one(logic: Logic, a: Tensor, b: Tensor) -> None:
    for result in (logic.conjunction([a, b]), logic.disjunction([a, b]), logic.negation(a)):
        assert bool(((result >= 0) & (result <= 1)).all())


@every_logic
@given(a=MEMBERSHIPS, b=MEMBERSHIPS)
def test_a_conjunction_is_at_most_its_parts_and_a_disjunction_at_least(logic: Logic, a: Tensor, b: Tensor) -> None:
    assert bool((logic.conjunction([a, b]) <= torch.minimum(a, b) + 1e-12).all())
    assert bool((logic.disjunction([a, b]) >= torch.maximum(a, b) - 1e-12).all())


@every_logic
@given(a=MEMBERSHIPS, b=MEMBERSHIPS)
def test_order_does_not_matter(logic: Logic, a: Tensor, b: Tensor) -> None:
    assert close(logic.conjunction([a, b]), logic.conjunction([b, a]))
    assert close(logic.disjunction([a, b]), logic.disjunction([b, a]))


@every_logic
@given(a=MEMBERSHIPS, b=MEMBERSHIPS, c=MEMBERSHIPS)
def test_grouping_does_not_matter(logic: Logic, a: Tensor, b: Tensor, c: Tensor) -> None:
    both, either = logic.conjunction, logic.disjunction
    assert close(both([both([a, b]), c]), both([a, both([b, c])]))
    assert close(either([either([a, b]), c]), either([a, either([b, c])]))
    assert close(both([a, b, c]), both([a, both([b, c])]))
    assert close(either([a, b, c]), either([a, either([b, c])]))


@every_logic
@given(a=MEMBERSHIPS, b=MEMBERSHIPS)
def test_de_morgan(logic: Logic, a: Tensor, b: Tensor) -> None:
    no = logic.negation
    assert close(no(logic.conjunction([a, b])), logic.disjunction([no(a), no(b)]))
    assert close(no(logic.disjunction([a, b])), logic.conjunction([no(a), no(b)]))
    assert close(no(no(a)), a)


@every_logic
@given(a=MEMBERSHIPS)
def test_everything_and_nothing_are_neutral(logic: Logic, a: Tensor) -> None:
    everything, nothing = torch.ones_like(a), torch.zeros_like(a)
    assert close(logic.conjunction([a, everything]), a)
    assert close(logic.disjunction([a, nothing]), a)
    assert close(logic.conjunction([a, nothing]), nothing)
    assert close(logic.disjunction([a, everything]), everything)
    assert logic.conjunction([a]) is a
    assert logic.disjunction([a]) is a


@every_logic
@given(a=MEMBERSHIPS, b=MEMBERSHIPS, c=MEMBERSHIPS)
def test_more_membership_never_gives_less(logic: Logic, a: Tensor, b: Tensor, c: Tensor) -> None:
    low, high = torch.minimum(a, b), torch.maximum(a, b)
    assert bool((logic.conjunction([low, c]) <= logic.conjunction([high, c]) + 1e-12).all())
    assert bool((logic.disjunction([low, c]) <= logic.disjunction([high, c]) + 1e-12).all())


def test_inputs_stay_as_they_are() -> None:
    for logic in LOGICS.values():
        a, b = torch.tensor([0.25, 0.5]), torch.tensor([0.75, 0.5])
        for operator in (logic.conjunction, logic.disjunction):
            operator([a, b])
        logic.negation(a)
        assert (a.tolist(), b.tolist()) == ([0.25, 0.5], [0.75, 0.5])
