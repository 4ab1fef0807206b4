"""What the graph says ranks first, whatever a method predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, Query
from unseen.methods import known_facts
from unseen.methods.known_facts import KnownFactsProjector, follow_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

Triples = list[tuple[str, str, str]]
SCORES = st.sampled_from([0.0, 1.0]) | st.floats(0, 1, width=32)


@dataclass(frozen=True)
class Fixed:
    """A method with a mind of its own: the same scores for every question."""

    scores: tuple[float, ...]

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Tensor:
        return torch.tensor([self.scores] * len(queries)).reshape(len(queries), graph.num_entities)

    def project(self, graph: KnowledgeGraph, sets: Tensor, relations: Tensor) -> Tensor:
        return self.answer(graph, [Anchor(0)] * len(sets))


class TestProjector:
    """The same inside one projection."""

    def test_observed_edges_carry_the_membership_of_their_head(self, family: KnowledgeGraph) -> None:
        sets = torch.tensor([[0.5, 0.25, 0.75, 0, 0, 0, 0]])
        assert follow_edges(family, sets, torch.tensor([0])).tolist() == [[0, 0.5, 0.5, 0.25, 0.75, 0, 0]]

    def test_the_largest_membership_among_several_heads_is_carried(self, family: KnowledgeGraph) -> None:
        sets = torch.tensor([[0, 0.25, 0, 0.5, 0, 0, 0]])
        assert follow_edges(family, sets, torch.tensor([2]))[0, 5].item() == 0.5

    def test_a_backward_step_reads_edges_backwards(self, family: KnowledgeGraph) -> None:
        ben = torch.zeros(1, 7).index_fill(1, torch.tensor([1]), 1.0)
        assert follow_edges(family, ben, torch.tensor([1])).tolist() == [[1, 0, 0, 0, 0, 0, 0]]

    def test_predictions_stay_below_the_ceiling(self, family: KnowledgeGraph) -> None:
        ada = torch.zeros(1, 7).index_fill(1, torch.tensor([0]), 1.0)
        projector = KnownFactsProjector(Fixed((1.0, 1.0, 0.0, 0.5, 0, 0, 0)), ceiling=0.8)
        assert projector.project(family, ada, torch.tensor([0])).tolist() == [pytest.approx([0.8, 1, 1, 0.4, 0, 0, 0])]


def test_edges_are_followed_alike_from_all_heads_and_from_the_members_of_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    ends, relations = random.integers(0, 30, (2, 200)), random.integers(0, 2, 200)
    graph = KnowledgeGraph(ends[0], relations, ends[1], Vocabulary.numbered(30, 2))
    sets = torch.from_numpy((random.random((4, 30)) * (random.random((4, 30)) < 0.3)).astype(np.float32))
    sets[3] = 0
    asked = torch.tensor([0, 1, 0, 3])
    expected = known_facts.follow_edges(graph, sets, asked)
    assert expected.any()
    monkeypatch.setattr(known_facts, "MANY", 0)
    assert torch.equal(known_facts.follow_edges(graph, sets, asked), expected)


def test_edges_are_written_onto_predictions_of_a_large_graph(
    family: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_facts, "MANY", 0)
    sets, asked = torch.tensor([[0.0, 0.5, 0.25, 0.75, 0, 0, 0]]), torch.tensor([0])
    predictions = (0.1, 0.9, 0.2, 0.3, 0, 0, 0.4)
    expected = KnownFactsProjector(Fixed(predictions), ceiling=1.0).project(family, sets, asked)
    found = KnownFactsProjector(Fixed(predictions), ceiling=1.0, in_place=True).project(family, sets, asked)
    assert torch.equal(found, expected)
