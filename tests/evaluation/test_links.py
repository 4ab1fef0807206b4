"""Link prediction against its definition, one triple and one direction at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.evaluation.small_dataset import small_dataset
from tests.evaluation.test_evaluator import Noise, Oracle
from unseen.datasets.dataset import Dataset
from unseen.errors import EvaluationError
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.links import hidden_triples, link_questions
from unseen.evaluation.results import Result
from unseen.logic.shapes import SHAPES


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return small_dataset()


def plainly(method: Noise, dataset: Dataset, triples: np.ndarray) -> dict[str, list[float]]:
    """Reciprocal expected ranks by direction, with the filter of all that is true and all entities as candidates."""
    graph, complete = dataset.observed("test"), dataset.complete("test")
    true = set(zip(complete.heads.tolist(), complete.relations.tolist(), complete.tails.tolist(), strict=True))
    entities = sorted({end for head, _, tail in true for end in (head, tail)})
    found: dict[str, list[float]] = {"tails": [], "heads": []}
    for head, relation, tail in triples.tolist():
        tails = method.answer(graph, [SHAPES["1p"].fill([head, 2 * relation])])[0].tolist()
        heads = method.answer(graph, [SHAPES["1p"].fill([tail, 2 * relation + 1])])[0].tolist()
        pools = {
            "tails": (tails, tail, [one for one in entities if (head, relation, one) not in true]),
            "heads": (heads, head, [one for one in entities if (one, relation, tail) not in true]),
        }
        for direction, (scores, answer, pool) in pools.items():
            better = sum(scores[one] > scores[answer] for one in pool)
            equal = sum(scores[one] == scores[answer] for one in pool)
            found[direction].append(1 / (1 + better + equal / 2))
    return found


def test_every_hidden_triple_is_ranked_from_both_ends(dataset: Dataset) -> None:
    expected = plainly(Noise(), dataset, dataset.split.test_predict)
    result = evaluate(Noise(), dataset, "test", Options(types=(), links=True, batch_size=7)).links
    assert result is not None
    assert result.metrics.answers == 2 * len(dataset.split.test_predict)
    assert result.metrics.mrr == pytest.approx(np.mean(expected["tails"] + expected["heads"]))
    for direction, values in expected.items():
        assert result.directions[direction].mrr == pytest.approx(np.mean(values))
        assert result.directions[direction].answers == len(values)
    assert result.by_rank["optimistic"].mrr > result.metrics.mrr > result.by_rank["pessimistic"].mrr


def test_an_oracle_finds_every_link_first(dataset: Dataset) -> None:
    oracle = Oracle(dataset.complete("test"))
    result = evaluate(oracle, dataset, "test", Options(types=(), links=True)).links
    assert result is not None
    assert (result.metrics.mrr, result.metrics.hits_at_1) == (1.0, 1.0)


def test_what_is_only_filtered_is_neither_observed_nor_asked_for(dataset: Dataset) -> None:
    split = dataset.split
    fewer = replace(split, test_predict=split.test_predict[::2], test_filter=split.test_predict[1::2])
    filtered = Dataset("filtered", fewer)
    expected = plainly(Noise(), dataset, split.test_predict[::2])
    result = evaluate(Noise(), filtered, "test", Options(types=(), links=True)).links
    assert result is not None
    assert result.metrics.mrr == pytest.approx(np.mean(expected["tails"] + expected["heads"]))


def test_a_limit_takes_triples_not_questions(dataset: Dataset) -> None:
    questions = link_questions(dataset, "test", 9, seed=1)
    assert len(questions.wanted.values) == 18
    everything = link_questions(dataset, "test")
    assert len(everything.wanted.values) == 2 * len(hidden_triples(dataset, "test"))
    assert (np.diff(everything.table.slots[:, 1]) >= 0).all(), "questions of a relation stand together"


def test_links_and_queries_can_be_measured_together(dataset: Dataset) -> None:
    result = evaluate(Noise(), dataset, "test", Options(types=("1p",), links=True, limit=5))
    assert set(result.types) == {"1p"}
    again = Result.from_json(result.to_json())
    assert again == result
    assert evaluate(Noise(), dataset, "test", Options(types=("1p",), limit=5)).links is None


def test_what_only_questions_have_is_not_asked_of_links_alone(dataset: Dataset) -> None:
    with pytest.raises(EvaluationError, match=r"no strata, probabilities.*all,links"):
        Options(types=(), links=True, strata=True, probabilities=True)
    with pytest.raises(EvaluationError, match="no training queries"):
        Options(types=(), links=True, training_queries=True)
    with pytest.raises(EvaluationError, match="nothing is asked for"):
        Options(types=())
    beside = evaluate(Noise(), dataset, "test", Options(types=("1p",), links=True, strata=True, limit=5))
    assert beside.links is not None
    assert beside.types["1p"].strata


def test_without_anything_hidden_there_are_no_links(dataset: Dataset) -> None:
    with pytest.raises(EvaluationError, match="nothing is hidden in the train split"):
        evaluate(Noise(), dataset, "train", Options(types=(), links=True))
    with pytest.raises(EvaluationError, match="--types links"):
        evaluate(Noise(), Dataset("bare", dataset.split), "test")
