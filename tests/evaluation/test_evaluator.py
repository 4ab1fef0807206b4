"""The evaluator against a plain one that knows no batches, and its habits: samples, streaming, errors."""

from __future__ import annotations

import weakref
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.evaluation.small_dataset import TYPES, small_dataset
from unseen.errors import EvaluationError
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.query_sets import sample
from unseen.logic.traverse import answers
from unseen.methods.edge_type import EdgeType
from unseen.methods.exact import Exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return small_dataset()


@dataclass
class Noise:
    """Scores from a few levels, the same for the same query and graph; remembers what it was asked."""

    levels: int = 4
    batches: list[int] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    given: list[weakref.ref] = field(default_factory=list)

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> torch.Tensor:
        rows = [
            np.random.default_rng(zlib.crc32(str(query).encode())).integers(0, self.levels, graph.num_entities)
            for query in queries
        ]
        self.alive.append(sum(one() is not None for one in self.given))
        scores = torch.from_numpy(np.stack(rows)).float()
        self.batches.append(len(queries))
        self.given.append(weakref.ref(scores))
        return scores


@dataclass
class Oracle:
    """Knows the complete graph."""

    complete: KnowledgeGraph

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> torch.Tensor:
        scores = torch.zeros(len(queries), graph.num_entities)
        for row, query in zip(scores, queries, strict=True):
            row[torch.from_numpy(answers(self.complete, query).astype("int64"))] = 1
        return scores


def plainly(method: Noise, dataset: Dataset, name: str) -> dict[str, float]:
    """The definitions, word by word, one query at a time."""
    table, graph, values = dataset.tables["test"][name], dataset.observed("test"), []
    for row in range(len(table)):
        scores = method.answer(graph, [table.query(row)])[0].numpy()
        hard, easy = table.hard.row(row).tolist(), table.easy.row(row).tolist()
        pool = [one for one in dataset.candidates("test").tolist() if one not in hard and one not in easy]
        ranks = []
        for answer in hard:
            better = sum(scores[one] > scores[answer] for one in pool)
            equal = sum(scores[one] == scores[answer] for one in pool)
            places = np.arange(better + 1, better + equal + 2)
            ranks.append((1 / (1 + better + equal / 2), *(np.mean(places <= k) for k in (1, 3, 10, 100))))
        values.append(np.mean(ranks, axis=0))
    return dict(
        zip(("mrr", "hits_at_1", "hits_at_3", "hits_at_10", "hits_at_100"), np.mean(values, axis=0), strict=True)
    )


@pytest.mark.parametrize("name", TYPES)
def test_metrics_are_those_of_the_definitions(dataset: Dataset, name: str) -> None:
    found = evaluate(Noise(), dataset, options=Options(types=(name,))).types[name]
    for metric, value in plainly(Noise(), dataset, name).items():
        assert found.value(metric) == pytest.approx(value), metric


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_size_of_batches_changes_nothing(dataset: Dataset, size: int) -> None:
    options = {"strata": True, "training_queries": True}
    usual = evaluate(EdgeType(), dataset, options=Options(**options))
    other = evaluate(EdgeType(), dataset, options=Options(**options, batch_size=size))
    for name in TYPES:
        assert other.types[name].metrics.mrr == pytest.approx(usual.types[name].metrics.mrr)
        assert other.types[name].strata.keys() == usual.types[name].strata.keys()
        assert other.types[name].metrics.queries == usual.types[name].metrics.queries


def test_scores_stream_through_and_never_pile_up(dataset: Dataset) -> None:
    method = Noise()
    evaluate(method, dataset, options=Options(batch_size=4))
    assert max(method.batches) == 4
    assert max(method.alive) <= 1


def test_a_method_that_knows_the_truth_is_perfect(dataset: Dataset) -> None:
    result = evaluate(Oracle(dataset.complete("test")), dataset)
    positive = [found for name, found in result.types.items() if "n" not in name]
    assert all(found.metrics.mrr == found.metrics.hits_at_1 == 1 for found in positive)


def test_exact_traversal_is_faithful_and_ranks_every_easy_answer_first(dataset: Dataset) -> None:
    result = evaluate(Exact(), dataset, options=Options(training_queries=True))
    assert all(found.metrics.mrr == 1 for found in result.training_queries["train"].values())
    assert all(found.metrics.mrr == 1 for found in result.training_queries["test_all"].values())
    assert all(found.roc_auc == 1 for found in result.types.values())


def test_only_changed_training_queries_count_on_the_larger_graph(dataset: Dataset) -> None:
    result = evaluate(Noise(), dataset, options=Options(training_queries=True, types=("2p",)))
    table, larger = dataset.tables["train"]["2p"], dataset.training_answers["test"]["2p"]
    changed = sum(not np.array_equal(table.easy.row(row), larger.row(row)) for row in range(len(table)))
    groups = {graph: types["2p"].metrics.queries for graph, types in result.training_queries.items()}
    assert groups == {"train": len(table), "test_all": len(table), "test": changed}
    assert changed > 0


def test_strata_part_the_answers_and_1p_needs_its_one_link(dataset: Dataset) -> None:
    types = evaluate(Noise(), dataset, options=Options(strata=True)).types
    assert types["1p"].strata == {"1": types["1p"].metrics}
    for found in types.values():
        assert sum(part.answers for part in found.strata.values()) == found.metrics.answers
        assert "0" not in found.strata
    assert set(types["2p"].strata) == {"1", "2"}


def test_half_links_part_the_answers_of_1p(dataset: Dataset) -> None:
    types = evaluate(Noise(), dataset).types
    assert sum(part.answers for part in types["1p"].half_links.values()) == types["1p"].metrics.answers
    assert set(types["1p"].half_links) <= {"both", "head", "tail", "neither"}
    assert not types["2p"].half_links


def test_an_answer_without_its_half_link_is_not_of_the_right_edge_type(dataset: Dataset) -> None:
    found = evaluate(EdgeType(), dataset, options=Options(types=("1p",))).types["1p"]
    for name in {"head", "neither"} & found.half_links.keys():
        assert found.half_links[name].mrr < found.half_links["both"].mrr


def test_optimistic_and_pessimistic_ranks_enclose_the_headline(dataset: Dataset) -> None:
    for found in evaluate(EdgeType(), dataset).types.values():
        low, high = found.by_rank["pessimistic"], found.by_rank["optimistic"]
        assert low.mrr <= found.metrics.mrr <= high.mrr
        assert low.hits_at_10 <= found.metrics.hits_at_10 <= high.hits_at_10
        assert found.by_rank["expected"].mrr == found.metrics.mrr


def test_numbers_of_answers_are_sums_of_probabilities(dataset: Dataset) -> None:
    found = evaluate(Exact(), dataset, options=Options(probabilities=True, types=("2p",))).types["2p"].answer_count
    easy, hard = (column.lengths for column in (dataset.tables["test"]["2p"].easy, dataset.tables["test"]["2p"].hard))
    assert found is not None
    assert found.mape == pytest.approx(np.mean(hard / (easy + hard)))
    assert (found.predicted, found.actual) == pytest.approx((np.mean(easy), np.mean(easy + hard)))


@pytest.mark.parametrize("name", ["2in", "pni"])
def test_probabilities_are_held_against_the_complete_graph_not_against_easy_answers(
    dataset: Dataset, name: str
) -> None:
    found = evaluate(Exact(), dataset, options=Options(probabilities=True, types=(name,))).types[name].calibration
    table, complete = dataset.tables["test"][name], dataset.complete("test")
    true = [np.isin(table.easy.row(row), answers(complete, table.query(row))) for row in range(len(table))]
    assert found is not None
    assert found.frequency[-1] == pytest.approx(np.concatenate(true).mean())
    assert sum(found.counts) == len(table) * len(dataset.candidates("test"))


def test_the_sample_depends_on_seed_and_type_alone_and_smaller_samples_lie_in_larger_ones() -> None:
    large, small = (set(sample(100, limit, 5, "2p").tolist()) for limit in (40, 10))
    assert small < large
    assert sample(100, 10, 5, "2p").tolist() == sample(100, 10, 5, "2p").tolist()
    assert sample(100, 10, 5, "2p").tolist() != sample(100, 10, 6, "2p").tolist()
    assert sample(100, 10, 5, "3p").tolist() != sample(100, 10, 5, "2p").tolist()
    assert sample(7, 10, 5, "2p").tolist() == list(range(7))


def test_limit_and_types_are_kept_and_told(dataset: Dataset) -> None:
    calls = []
    options = Options(types=("2u", "1p"), limit=9, batch_size=4)
    result = evaluate(Noise(), dataset, options=options, name="noise", progress=lambda *call: calls.append(call))
    assert [(name, found.metrics.queries) for name, found in result.types.items()] == [("1p", 9), ("2u", 9)]
    assert calls[-1] == ("2u", 18, 18)
    assert (result.method, result.dataset, result.ratio, result.limit) == ("noise", "small-175", 175, 9)


def test_training_queries_can_be_evaluated_on_their_own(dataset: Dataset) -> None:
    result = evaluate(Exact(), dataset, "train")
    assert all(found.metrics.mrr == 1 and found.roc_auc is None for found in result.types.values())


@dataclass
class Wrong:
    scores: torch.Tensor

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> torch.Tensor:
        return self.scores


def test_scores_of_the_wrong_shape_are_refused(dataset: Dataset) -> None:
    with pytest.raises(EvaluationError, match=r"\(3, 2\)"):
        evaluate(Wrong(torch.zeros(3, 2)), dataset)


def test_nan_scores_are_refused(dataset: Dataset) -> None:
    entities = dataset.vocabulary.num_entities
    with pytest.raises(EvaluationError, match="NaN"):
        evaluate(Wrong(torch.full((1, entities), torch.nan)), dataset, options=Options(batch_size=1))


def test_half_precision_and_gradients_are_no_hindrance(dataset: Dataset) -> None:
    scores = torch.zeros(1, dataset.vocabulary.num_entities, dtype=torch.bfloat16, requires_grad=True)
    result = evaluate(Wrong(scores), dataset, options=Options(batch_size=1, types=("1p",)))
    assert result.types["1p"].by_rank["optimistic"].mrr == 1


def test_what_the_dataset_lacks_is_said(dataset: Dataset) -> None:
    with pytest.raises(EvaluationError, match=r"3i.*1p, 2p"):
        evaluate(Noise(), dataset, options=Options(types=("3i",)))
    with pytest.raises(EvaluationError, match="no valid queries"):
        evaluate(Noise(), dataset, "valid")
    with pytest.raises(EvaluationError, match="no probabilities"):
        evaluate(Noise(), dataset, options=Options(probabilities=True))
    with pytest.raises(EvaluationError, match="larger graph"):
        evaluate(Noise(), dataset, "train", Options(training_queries=True))
