"""Curves of probability on a dataset: by group of queries, or by type for a method that answers each in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from experiments.tiny import tiny_dataset
from unseen.datasets.dataset import Dataset
from unseen.errors import TrainingError
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Or, Query
from unseen.logic.traverse import answers
from unseen.training.calibrating import fit_calibration


@dataclass(frozen=True)
class Given:
    """Memberships as an execution has them."""

    memberships: Tensor

    def stacked(self, _queries: Sequence[Query]) -> Tensor:
        return self.memberships


class TwoWays:
    """Knows the answers of one step, 0.6 against 0.4; of unions it knows nothing and says 0.4 of everything."""

    def __init__(self, truth: KnowledgeGraph) -> None:
        self.truth = truth

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Given:
        memberships = torch.full((len(queries), graph.num_entities), 0.4)
        for row, query in enumerate(queries):
            if not isinstance(query, Or):
                memberships[row, torch.from_numpy(answers(self.truth, query).astype(int))] = 0.6
        return Given(memberships)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    everything = tiny_dataset(175)
    tables = {name: everything.tables["valid"][name] for name in ("1p", "2u")}
    return everything.with_queries({"valid": tables}, {})


def expected_and_true(dataset: Dataset, name: str, by_type: bool) -> tuple[float, float]:
    """The expected number of answers of a query on the mean, and the true one."""
    truth, table = dataset.complete("valid"), dataset.tables["valid"][name]
    method, candidates = TwoWays(truth), torch.from_numpy(dataset.candidates("valid").astype(int))
    calibration = fit_calibration(method, dataset, 100, by_type=by_type)  # type: ignore[arg-type]
    queries = [table.query(row) for row in range(len(table))]
    memberships = method.estimate(dataset.observed("valid"), queries).memberships[:, candidates]
    rows = zip(queries, memberships, strict=True)
    expected = sum(float(calibration.curve_of(query)(row).sum()) for query, row in rows)
    true = sum(len(answers(truth, query)) for query in queries)
    return expected / len(queries), true / len(queries)


@pytest.mark.parametrize("name", ["1p", "2u"])
def test_types_that_are_answered_in_two_ways_are_right_only_with_curves_of_their_own(
    dataset: Dataset, name: str
) -> None:
    expected, true = expected_and_true(dataset, name, by_type=True)
    assert expected == pytest.approx(true, rel=0.02)
    shared, _ = expected_and_true(dataset, name, by_type=False)
    assert shared != pytest.approx(true, rel=0.2)


def test_a_type_without_queries_has_no_curve(dataset: Dataset) -> None:
    tables = dataset.tables["valid"]
    some = dataset.with_queries({"valid": {"1p": tables["1p"], "2u": tables["2u"].take([])}}, {})
    calibration = fit_calibration(TwoWays(dataset.complete("valid")), some, 5, by_type=True)  # type: ignore[arg-type]
    assert (set(calibration.curves), set(calibration.types)) == ({"p1"}, {"1p"})


def test_nothing_to_fit_to_is_said(dataset: Dataset) -> None:
    empty = dataset.with_queries({"valid": {"1p": dataset.tables["valid"]["1p"].take([])}}, {})
    with pytest.raises(TrainingError, match="has no valid queries to calibrate on"):
        fit_calibration(TwoWays(dataset.complete("valid")), empty, 1)  # type: ignore[arg-type]
