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
from unseen.probability import answer_counts
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


@pytest.mark.parametrize("most_counted", [MOST_COUNTED, 0])
def test_many_likely_candidates_are_counted_as_a_normal_number(
    most_counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_counts, "MOST_COUNTED", most_counted)
    found = expected_number(np.full(256, 0.5), shared=0)
    assert (found.low, found.median, found.high) == (118, 128, 138)
    found = expected_number(np.full(512, 0.5))
    assert (found.low, found.high) == (50, 462)


def test_the_interval_is_that_of_drawn_shifts_and_numbers() -> None:
    random = np.random.default_rng(3)
    probabilities = np.concatenate([random.beta(0.3, 2, 20), np.full(400, 0.003)])
    shifts = 1.5 * random.standard_normal((20_000, 1))
    likely = probabilities[probabilities >= 0.05]
    shifted = 1 / (1 + np.exp(np.log(1 / likely - 1) - shifts))
    rest = probabilities[probabilities < 0.05].sum() * np.exp(shifts[:, 0] - 1.5**2 / 2)
    numbers = (random.random(shifted.shape) < shifted).sum(axis=1) + random.poisson(rest)
    found = expected_number(probabilities, shared=1.5)
    assert [found.low, found.median, found.high] == pytest.approx(np.quantile(numbers, [0.1, 0.5, 0.9]), abs=1)


@pytest.mark.parametrize("size", [30, 3_000])
def test_groups_of_any_size_have_the_quantiles_of_their_number(size: int) -> None:
    random = np.random.default_rng(4)
    carried = np.repeat(random.uniform(0.01, 0.3, 20), size)
    numbers = (random.random((20_000, 20)) < carried[::size]).sum(axis=1) * size
    found = expected_number(carried, carried, shared=0)
    assert [found.low, found.median, found.high] == pytest.approx(np.quantile(numbers, [0.1, 0.5, 0.9]), rel=0.01)


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
