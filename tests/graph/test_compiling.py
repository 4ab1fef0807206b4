"""Machine code on disk belongs to a function with all that it refers to."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numba
import pytest

from unseen.graph.compiling import compiled, meaning_of

FACTOR = 3


def _scaled(number: int) -> int:
    return FACTOR * number


def _twice(number: int) -> int:
    return 2 * number


def _calling(number: int) -> int:
    return helper(number)  # type: ignore[name-defined,no-any-return]  # noqa: F821


def _with(function: Any, **names: Any) -> Any:
    return FunctionType(function.__code__, function.__globals__ | names)


def test_a_function_with_another_constant_means_something_else() -> None:
    assert meaning_of(_with(_scaled, FACTOR=3)) == meaning_of(_scaled)
    assert meaning_of(_with(_scaled, FACTOR=4)) != meaning_of(_scaled)


def test_what_it_calls_belongs_to_a_function() -> None:
    scaled, other, twice = (numba.njit(one) for one in (_scaled, _with(_scaled, FACTOR=4), _twice))
    assert meaning_of(_with(_calling, helper=scaled)) != meaning_of(_with(_calling, helper=twice))
    assert meaning_of(_with(_calling, helper=scaled)) != meaning_of(_with(_calling, helper=other))


def test_functions_that_call_each_other_have_a_meaning() -> None:
    calling = _with(_calling)
    calling.__globals__["helper"] = numba.njit(calling)
    assert meaning_of(calling) == meaning_of(calling)


def test_kept_code_is_found_again_by_its_meaning(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    made = [compiled(_with(_scaled, FACTOR=factor)) for factor in (3, 3, 4)]
    assert [one(2) for one in made] == [6, 6, 8]
    assert [sum(one.stats.cache_hits.values()) for one in made] == [0, 1, 0]
