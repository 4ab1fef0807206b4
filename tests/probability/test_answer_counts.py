"""The expected number of answers, and how often the true number lies in its interval."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unseen
from unseen.client import Client
from unseen.graph import KnowledgeGraph
from unseen.probability.answer_counts import MOST_COUNTED, ExpectedNumber, expected_number


@pytest.mark.parametrize(("count", "alpha", "beta"), [(20, 0.5, 0.5), (300, 0.05, 1), (40, 5, 1)])
def test_independent_candidates_have_the_quantiles_of_their_number(count: int, alpha: float, beta: float) -> None:
    random = np.random.default_rng(1)
    probabilities = random.beta(alpha, beta, count)
    numbers = (random.random((20_000, count)) < probabilities).sum(axis=1)
    found = expected_number(probabilities, shared=0)
    assert found.mean == pytest.approx(probabilities.sum())
    assert abs(found.low - np.quantile(numbers, 0.1)) <= 1
    assert abs(found.high - np.quantile(numbers, 0.9)) <= 1


def test_candidates_that_err_together_have_a_wider_interval_around_the_same_number() -> None:
    probabilities = np.random.default_rng(2).beta(0.3, 2, 150)
    apart, together = (expected_number(probabilities, shared=shared) for shared in (0, 0.7))
    assert together.mean == apart.mean
    assert together.low <= apart.low < together.mean < apart.high <= together.high
    assert together.high - together.low > apart.high - apart.low


def test_many_likely_candidates_are_counted_as_a_normal_number() -> None:
    probabilities = np.full(2 * MOST_COUNTED, 0.5)
    few, many = (expected_number(probabilities[:count], shared=0) for count in (MOST_COUNTED, None))
    assert (few.low, few.high) == (118, 138)
    assert (many.low, many.high) == (242, 270)


def test_candidates_that_come_together_are_there_or_not() -> None:
    together = np.array([0.2] * 100 + [1.0, 1.0])
    found, apart = expected_number(together, together, shared=0), expected_number(together, shared=0)
    assert (round(found.mean), found.median, found.low, found.high) == (22, 2, 2, 102)
    assert (round(apart.mean), apart.median) == (22, 22)
    halved = expected_number(np.where(together < 1, together / 2, 1), together, shared=0)
    assert (round(halved.mean), halved.median, halved.high) == (12, 2, 52)


@given(st.lists(st.floats(0, 1), max_size=30))
def test_an_interval_lies_between_what_is_certain_and_all_candidates(probabilities: list[float]) -> None:
    found = expected_number(np.array(probabilities))
    assert sum(one == 1 for one in probabilities) <= found.low <= found.high
    assert found.mean == pytest.approx(sum(probabilities))


def test_what_is_certain_has_no_width() -> None:
    assert expected_number(np.array([1.0, 1.0, 0.0])) == ExpectedNumber(2.0, 2, 2, 2)
    assert expected_number(np.zeros(0)) == ExpectedNumber(0.0, 0, 0, 0)


def test_every_ask_has_an_expected_number_that_counts_known_answers(countries: KnowledgeGraph) -> None:
    found = unseen.ask(countries, "?x : borders(France, x)", method="edge-type", top=3)
    everyone = unseen.ask(countries, "?x : borders(France, x)", method="edge-type", top=countries.num_entities)
    assert found.expected is not None
    assert found.expected.mean == pytest.approx(sum(one.probability for one in everyone), abs=1e-3)
    assert found.expected.low >= found.known
    assert f"{found.expected}" in found._repr_html_()
    assert ExpectedNumber.from_json(found.as_json()["expected"]).low == found.expected.low
    assert unseen.ask(countries, "?x : borders(France, x)", method="exact").expected is None


def test_a_client_reads_it(countries: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = unseen.ask(countries, "?x : borders(France, x)", method="edge-type").as_json()
    client = Client("http://127.0.0.1:1")
    monkeypatch.setattr(client, "_send", lambda *_: json.dumps(plain).encode())
    assert client.ask("?x : borders(France, x)").expected == ExpectedNumber.from_json(plain["expected"])
