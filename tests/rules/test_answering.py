"""Answering by rules takes memory and time for what is touched, and ends when it is told to."""

from __future__ import annotations

import pytest
import torch

from tests.rules.worlds import family
from unseen.errors import Stopped
from unseen.logic.stopping import stop_when
from unseen.methods.mined_rules import BUDGETS, MEMBERS, MinedRules, _members
from unseen.rules.evidence import NUM, new_state
from unseen.rules.scratch import scratch_of


def test_a_state_takes_eight_bytes_an_entity() -> None:
    sizes = [sum(part.nbytes for part in new_state(count)) for count in (1_000_000, 2_000_000)]
    assert sizes[1] - sizes[0] == 8_000_000
    assert sizes[0] < 60_000_000


def test_a_state_is_clean_again_after_an_answer() -> None:
    graph, method = family().graph, MinedRules(samples=5)
    sets = torch.zeros(2, graph.num_entities)
    sets[0, :3] = sets[1, 5] = 1.0
    first = method.project(graph, sets, torch.tensor([0, 2]))
    with scratch_of(graph).lent() as state:
        assert not state.slots.any()
        assert not state.counts.any()
        assert state.numbers[NUM] == 0
    assert torch.equal(method.project(graph, sets, torch.tensor([0, 2])), first)
    alone = method.project(graph, sets[1:], torch.tensor([2]))
    assert torch.equal(alone[0], first[1])


def test_an_answer_stops_between_two_members() -> None:
    graph, method = family().graph, MinedRules(samples=5)
    method.rules_of(graph)
    with stop_when(lambda: True), pytest.raises(Stopped):
        method.project(graph, torch.ones(1, graph.num_entities), torch.tensor([0]))


def test_members_of_a_large_set_share_its_budgets() -> None:
    members = _members(torch.ones(1, 1000).numpy(), MEMBERS)
    assert len(members) == MEMBERS
    assert sum(member.budgets[0] for member in members) <= BUDGETS[0]
    assert sum(member.budgets[1] for member in members) <= BUDGETS[1]
