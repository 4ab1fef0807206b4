"""Ranks from blocks are the ranks from whole matrices, on the CPU's way and on the GPU's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation.small_dataset import small_dataset
from tests.methods.cqd_beam.scorers import NamedVectors
from unseen.datasets.query_table import Ragged
from unseen.errors import EvaluationError
from unseen.evaluation import evaluator
from unseen.evaluation.evaluator import Options, evaluate
from unseen.evaluation.ranking import filtered_ranks, scores_at
from unseen.evaluation.streaming import DeviceCounter, Levels, streamed_ranks
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.methods.cqd_beam import BeamOptions, CqdBeam


@dataclass
class Cut:
    """A matrix of scores in blocks."""

    scores: torch.Tensor
    size: int

    def blocks(self) -> Iterator[tuple[int, torch.Tensor]]:
        for start in range(0, self.scores.shape[1], self.size):
            yield start, self.scores[:, start : start + self.size].clone()


@dataclass
class Batch:
    scores: np.ndarray
    wanted: Ragged
    others: Ragged
    candidates: np.ndarray


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Scores with many ties, answers of both kinds, and some entities that are not candidates."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    queries, entities, levels = draw(st.integers(1, 5)), draw(st.integers(1, 40)), draw(st.integers(1, 9))
    scores = random.integers(0, levels, (queries, entities)).astype(np.float32)
    kinds = random.choice(3, (queries, entities), p=[0.6, 0.2, 0.2])
    rows = [Ragged.from_rows([np.flatnonzero(row == kind) for row in kinds]) for kind in (1, 2)]
    return Batch(scores, *rows, np.flatnonzero(random.random(entities) < 0.8).astype(np.int32))


@given(batch=batches(), size=st.integers(1, 50))
def test_ranks_from_blocks_are_those_of_the_matrix(batch: Batch, size: int) -> None:
    expected = filtered_ranks(batch.scores, batch.wanted, batch.others, batch.candidates)
    cut = Cut(torch.from_numpy(batch.scores), size)
    found = streamed_ranks(cut, batch.wanted, batch.others, batch.candidates)
    assert found.ranks.better.tolist() == expected.better.tolist()
    assert found.ranks.equal.tolist() == expected.equal.tolist()
    assert found.wanted_scores.tolist() == scores_at(batch.scores, batch.wanted).tolist()
    assert found.other_scores.tolist() == scores_at(batch.scores, batch.others).tolist()


@given(batch=batches(), size=st.integers(1, 50))
def test_the_gpu_counts_the_same(batch: Batch, size: int) -> None:
    wanted_scores = scores_at(batch.scores, batch.wanted)
    plain, levels = Levels(batch.wanted, wanted_scores), Levels(batch.wanted, wanted_scores)
    counter = DeviceCounter(levels, torch.device("cpu"))
    for start, block in Cut(torch.from_numpy(batch.scores), size).blocks():
        here = batch.candidates[(batch.candidates >= start) & (batch.candidates < start + block.shape[1])] - start
        plain.count_block(block.numpy(), here)
        counter.count_block(block, here)
    counter.finish()
    is_candidate = np.zeros(batch.scores.shape[1], bool)
    is_candidate[batch.candidates] = True
    found = [one.ranks(len(batch.candidates), (batch.wanted, batch.others), is_candidate) for one in (plain, levels)]
    assert found[0].better.tolist() == found[1].better.tolist()
    assert found[0].equal.tolist() == found[1].equal.tolist()


@pytest.mark.parametrize("on_device", [False, True])
def test_nan_is_an_error(on_device: bool) -> None:
    scores, one = torch.tensor([[0.5, torch.nan, 0.25]]), Ragged.from_rows([[2]])
    if on_device:
        counter = DeviceCounter(Levels(one, np.array([0.25], np.float32)), torch.device("cpu"))
        counter.count_block(scores, np.arange(3, dtype=np.int32))
        with pytest.raises(EvaluationError, match="NaN"):
            counter.finish()
    else:
        with pytest.raises(EvaluationError, match=r"NaN.*query 0"):
            streamed_ranks(Cut(scores, 2), one, Ragged.empty(1), np.arange(3, dtype=np.int32))


def test_blocks_with_gaps_are_an_error() -> None:
    with pytest.raises(EvaluationError, match="gaps"):
        streamed_ranks(
            Cut(torch.zeros(1, 3), 2), Ragged.from_rows([[5]]), Ragged.empty(1), np.arange(6, dtype=np.int32)
        )


@dataclass
class OnlyBlocks:
    """Refuses to give all scores at once."""

    method: CqdBeam

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> torch.Tensor:
        raise AssertionError("all scores were asked for")

    def score_blocks(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> object:
        return self.method.score_blocks(graph, queries)


def test_a_large_graph_is_evaluated_block_by_block_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.methods.cqd_beam import graph_links

    dataset, method = small_dataset(), CqdBeam(NamedVectors(), BeamOptions(beam=4, scale="sigmoid"))
    options = Options(strata=True, training_queries=True)
    expected = evaluate(method, dataset, "test", options)
    monkeypatch.setattr(evaluator, "STREAMED_FROM", 10)
    monkeypatch.setitem(graph_links.MOST_CELLS, "cpu", 100)
    monkeypatch.setitem(graph_links.SMALLEST_BLOCK, "cpu", 7)
    found = evaluate(OnlyBlocks(method), dataset, "test", options, name="CqdBeam")
    assert found.to_json() == expected.to_json()
    with_probabilities = evaluate(method, dataset, "test", Options(types=("2p",), probabilities=True))
    assert with_probabilities.types["2p"].calibration is not None
