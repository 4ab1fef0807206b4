from __future__ import annotations

import json

import pytest

from unseen.errors import EvaluationError
from unseen.evaluation.results import AnswerCount, RankMetrics, ReliabilityCurve, Result, TypeResult, averages


def metrics(value: float, queries: int = 10) -> RankMetrics:
    return RankMetrics(queries, 3 * queries, value, value, value, value, value)


FULL = TypeResult(
    metrics(0.25),
    by_rank={"expected": metrics(0.2), "optimistic": metrics(0.9), "pessimistic": metrics(0.1)},
    roc_auc=0.75,
    roc_auc_queries=8,
    strata={"1": metrics(0.3), "2": metrics(0.1, 2)},
    half_links={"both": metrics(0.4)},
    by_change={"changed": metrics(0.5)},
    answer_count=AnswerCount(0.5, None, 3.0, 4.0),
    calibration=ReliabilityCurve(0.01, (5, 1), (0.1, 0.9), (0.0, 1.0)),
)


def result(**types: TypeResult) -> Result:
    return Result(
        "m", "d", "test", types, {"train": {"1p": TypeResult(metrics(1.0))}}, 175.0, 99, 4, 10, {"version": "0"}
    )


def test_a_result_survives_json() -> None:
    before = result(**{"1p": FULL, "2in": TypeResult(metrics(0.5))})
    assert Result.from_json(json.loads(json.dumps(before.to_json()))) == before


def test_json_has_the_promised_layout() -> None:
    plain = result(**{"1p": FULL, "2in": TypeResult(metrics(0.5))}).to_json()
    assert {"method", "dataset", "split", "types", "avg_p", "avg_n"} <= plain.keys()
    assert plain["types"]["1p"]["queries"] == 10
    assert plain["types"]["1p"]["hits_at_10"] == plain["avg_p"]["hits_at_10"] == 0.25
    assert plain["avg_n"]["mrr"] == 0.5
    assert "strata" not in plain["types"]["2in"]
    assert plain["training_queries"]["train"]["avg_p"]["mrr"] == 1.0


def test_averages_are_means_over_types_not_over_queries() -> None:
    types = {"1p": TypeResult(metrics(0.9, 1000)), "2p": TypeResult(metrics(0.1, 1)), "2in": TypeResult(metrics(0.4))}
    means = averages(types)
    assert means["avg_p"]["mrr"] == pytest.approx(0.5)
    assert means["avg_p"]["types"] == ["1p", "2p"]
    assert means["avg_n"]["mrr"] == pytest.approx(0.4)


def test_types_without_a_query_and_types_of_ones_own_are_not_averaged() -> None:
    types = {"1p": TypeResult(metrics(0.9)), "2p": TypeResult(metrics(0.0, 0)), "4p": TypeResult(metrics(0.1))}
    assert averages(types)["avg_p"]["mrr"] == 0.9
    assert averages(types)["avg_n"] == {}


@pytest.mark.parametrize("value", [[], "text", 3, {}, {"types": {"1p": {"queries": 1}}}, {"types": []}])
def test_anything_else_is_refused_with_its_source(value: object) -> None:
    with pytest.raises(EvaluationError, match=r"there\.json"):
        Result.from_json(value, "there.json")
