"""Probabilities that know their query: order, certainty, files, and a truth that is found again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch

from unseen.errors import EvaluationError
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.execute import Execution
from unseen.logic.fuzzy import PRODUCT
from unseen.logic.traverse import Traversal
from unseen.probability.calibration import Calibrated, Calibration, Curve, read_calibration
from unseen.probability.query_calibration import QueryCalibration, QueryTerms, answer_masks, ceiling_of
from unseen.probability.query_calibration_fit import fit_query_calibration, judged
from unseen.probability.query_samples import QuerySample

ONE = Project(0, Anchor(0))
OTHER = Project(2, Anchor(0))
QUERIES: dict[str, Query] = {
    "1p": ONE,
    "3p": Project(0, Project(0, ONE)),
    "2i": And((ONE, OTHER)),
    "2u": Or((ONE, OTHER)),
    "2in": And((ONE, Not(OTHER))),
    "6p": Project(0, Project(0, Project(0, Project(0, Project(0, ONE))))),
}
SIZE = 400
KNOWN = QueryTerms({"offset": {"one": 1.0}, "membership": {"one": 0.5}})
PREDICTED = QueryTerms(
    {
        "offset": {"one": -1.0, "log_known": 0.3, "largest": 0.1, "union": -0.5},
        "membership": {"one": 0.6, "negation": -0.2},
        "rank": {"one": 0.4, "depth": 0.1},
        "relative_rank": {"one": 0.3},
    }
)
MADE_UP = QueryCalibration(PREDICTED, KNOWN, about={"graphs": ["small"]})


def star(known: int = 7) -> KnowledgeGraph:
    """Entity 0 leads to the first few by relation 0 and to others by relation 1; the rest lies on a chain."""
    chain = np.arange(1, SIZE - 1)
    heads = np.concatenate([np.zeros(2 * known, int), chain])
    tails = np.concatenate([np.arange(1, known + 1), np.arange(5, 5 + known), chain + 1])
    relations = np.concatenate([np.zeros(known, int), np.ones(known, int), np.full(len(chain), 2)])
    names = [f"e{number}" for number in range(SIZE)], ["a", "b", "c"]
    return KnowledgeGraph(heads, relations, tails, Vocabulary.of(*names))


def memberships(graph: KnowledgeGraph, query: Query, seed: int = 0) -> torch.Tensor:
    """Random ones, and 1 for what is known."""
    logits = torch.randn(SIZE, generator=torch.Generator().manual_seed(seed)) * 3 - 3
    is_known, _ = answer_masks(Traversal(graph), query, torch.device("cpu"))
    return torch.where(is_known, torch.tensor(1.0), ceiling_of(query, 0.9) * logits.sigmoid())


class Fixed:
    """A method that says the same memberships about every query."""

    def estimate(self, graph: KnowledgeGraph, queries: Any) -> Execution:
        execution = Execution(graph, PRODUCT)
        execution._sets = {query: memberships(graph, query, seed) for seed, query in enumerate(queries)}
        return execution

    def answer(self, graph: KnowledgeGraph, queries: Any) -> torch.Tensor:
        return self.estimate(graph, queries).stacked(queries)


@pytest.mark.parametrize("name", list(QUERIES))
def test_the_order_of_predictions_stays_and_known_answers_come_first(name: str) -> None:
    graph, query = star(), QUERIES[name]
    given = memberships(graph, query)
    found = MADE_UP.probabilities(Traversal(graph), query, given)
    is_known, is_rival = answer_masks(Traversal(graph), query, torch.device("cpu"))
    order = given[is_rival].argsort()
    assert bool((found[is_rival][order].diff() >= -1e-7).all())
    assert bool(((found >= 0) & (found <= 1)).all())
    if name != "2in":
        assert bool((found[is_known] >= 1 - 1e-5).all())
    elif bool(is_known.any()):
        assert float(found[is_known].min()) > float(found[is_rival].median())


def test_slopes_never_turn_the_order_round() -> None:
    turned = QueryCalibration(QueryTerms({"membership": {"one": -3.0}, "rank": {"one": -2.0}}), KNOWN)
    graph = star()
    given = memberships(graph, ONE)
    found = turned.probabilities(Traversal(graph), ONE, given)
    _, is_rival = answer_masks(Traversal(graph), ONE, torch.device("cpu"))
    assert bool((found[is_rival][given[is_rival].argsort()].diff() >= -1e-7).all())


def test_more_known_answers_make_the_same_rank_likelier() -> None:
    rank_only = QueryCalibration(QueryTerms({"relative_rank": {"one": 1.0}}), KNOWN)
    few, many = (
        rank_only.probabilities(Traversal(graph), ONE, memberships(graph, ONE)) for graph in (star(3), star(90))
    )
    assert float(many[100:].sum()) > 2 * float(few[100:].sum())


def test_a_batch_says_what_each_query_says_alone() -> None:
    graph, method = star(), Calibrated(Fixed(), MADE_UP)
    queries = list(QUERIES.values())
    together = method.estimate(graph, queries)
    for seed, query in enumerate(queries):
        alone = MADE_UP.probabilities(Traversal(graph), query, memberships(graph, query, seed))
        assert torch.allclose(together.memberships(query), alone)
    assert together.expected_count(ONE) == pytest.approx(float(together.memberships(ONE).sum()), rel=1e-3)


def test_the_largest_membership_of_a_prediction_follows_the_operators() -> None:
    assert [round(ceiling_of(QUERIES[name], 0.9), 6) for name in ("1p", "2i", "2u", "2in")] == [0.9, 0.9, 0.99, 0.9]
    assert ceiling_of(Project(0, QUERIES["2u"]), 0.9) == 0.9


class TestFiles:
    def test_it_survives_json(self) -> None:
        found = read_calibration(json.loads(json.dumps(MADE_UP.to_json())))
        assert isinstance(found, QueryCalibration)
        assert found == MADE_UP

    def test_older_files_are_read(self) -> None:
        older = Calibration({"p1": Curve("isotonic", (-25.0, 25.0), (0.0, 1.0))})
        assert read_calibration(older.to_json()) == older

    @pytest.mark.parametrize(
        "value",
        [
            {"version": 2},
            {"version": 2, "ceiling": 0.9, "predicted": {"offset": 3}, "known": {}},
            {"version": 2, "ceiling": 0.9, "predicted": {"offset": {"colour": 3.0}}, "known": {}},
            {"version": 3},
        ],
    )
    def test_anything_else_is_refused(self, value: Any) -> None:
        with pytest.raises(EvaluationError, match="not a calibration"):
            read_calibration(value)


class TestFitting:
    def drawn(self, count: int = 40) -> list[QuerySample]:
        """Queries whose truth is drawn by the made-up probabilities."""
        found = []
        for number in range(count):
            graph, query = star(3 + number % 30), QUERIES[("1p", "2i", "2u", "2in")[number % 4]]
            given = memberships(graph, query, seed=number)
            chance = MADE_UP.probabilities(Traversal(graph), query, given)
            true = torch.rand(SIZE, generator=torch.Generator().manual_seed(1000 + number)) < chance
            found.append(QuerySample.of(graph, query, given, true, 0.9))
        return found

    def test_what_was_fitted_is_a_frequency_on_other_queries(self) -> None:
        samples = self.drawn(200)
        report = judged(fit_query_calibration(samples[:160], 0.9), samples[160:])
        assert report["calibration_error"] < 0.08
        assert report["expected_missing"] == pytest.approx(report["true_missing"], rel=0.2)
        best = judged(MADE_UP, samples[160:])
        assert report["log_loss"] < best["log_loss"] + 0.02

    def test_no_entity_is_lost_or_counted_twice(self) -> None:
        graph = star()
        sample = QuerySample.of(graph, ONE, memberships(graph, ONE), torch.arange(SIZE) % 5 == 0, 0.9)
        _, is_rival = answer_masks(Traversal(graph), ONE, torch.device("cpu"))
        assert sample.predicted.counts.sum() == pytest.approx(int(is_rival.sum()))
        assert sample.predicted.true.sum() == pytest.approx(int((is_rival & (torch.arange(SIZE) % 5 == 0)).sum()))
        assert sample.predicted.first(10).counts.sum() == pytest.approx(10)
        assert bool((np.diff(sample.predicted.values) > 0).all())

    def test_without_negation_and_without_anything_there_is_a_calibration_all_the_same(self) -> None:
        positive = [sample for sample in self.drawn(12) if not sample.features["negation"]]
        for samples in (positive, positive[:1]):
            found = fit_query_calibration(samples, 0.9).probabilities(
                Traversal(star()), QUERIES["2in"], torch.rand(SIZE)
            )
            assert bool(found.isfinite().all())
