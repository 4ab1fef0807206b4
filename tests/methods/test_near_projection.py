"""The network on a part of a graph: the same as on all of it where the part is everything."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.conformance.methods import combined
from unseen.errors import Stopped, UnseenError
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, And, Not, Project
from unseen.logic.stopping import stop_when
from unseen.methods.combined import Combined
from unseen.methods.near_projection import NearProjection, members_of
from unseen.methods.zero_shot import effort
from unseen.methods.zero_shot.effort import BUDGETS, Budget

ROOMY = Budget(0, 1_000, 100_000, 10_000, 1_000_000)
TINY = Budget(0, 6, 100_000, 10_000, 1_000_000)


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    """Forty people in a ring who know each other in turn, and where half of them live."""
    ring = [(f"p{n}", "knows", f"p{(n + step) % 40}") for n in range(40) for step in (1, 2)]
    back = [(tail, "is_known_by", head) for head, _, tail in ring[::2]]
    homes = [(f"p{n}", "lives_in", f"t{n % 5}") for n in range(0, 40, 2)]
    return KnowledgeGraph.from_triples([*ring, *back, *homes])


def near(method: Combined, budget: Budget) -> NearProjection:
    return NearProjection(method.network, method.rules, method.combination, budget)


def sets_of(graph: KnowledgeGraph) -> tuple[torch.Tensor, torch.Tensor]:
    """A single member, a fuzzy set, and none at all."""
    sets = torch.zeros(3, graph.num_entities)
    sets[0, 3] = 1
    sets[1, [2, 9, 30]] = torch.tensor([1.0, 0.6, 0.2])
    return sets, torch.tensor([0, 4, 1])


def test_a_part_that_is_everything_gives_the_same(graph: KnowledgeGraph) -> None:
    method, (sets, relations) = combined(), sets_of(graph)
    whole, part = method.project(graph, sets, relations), near(method, ROOMY).project(graph, sets, relations)
    assert torch.allclose(part[:2], whole[:2], atol=1e-4)
    assert not part[2].any()


def test_whole_questions_give_the_same(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    friends = Project(0, Project(0, Anchor(3)))
    queries = [friends, And((Project(4, friends), Not(Project(4, Anchor(2)))))]
    whole = combined().answer(graph, queries)
    monkeypatch.setitem(BUDGETS, "normal", ROOMY)
    assert torch.allclose(combined().answer(graph, queries), whole, atol=1e-3)


def test_who_is_left_out_is_counted(graph: KnowledgeGraph) -> None:
    method = combined()
    source, tiny = members_of(np.eye(graph.num_entities, dtype=np.float32)[3]), near(method, TINY)
    reached = np.zeros(graph.num_entities, np.float32)
    reached[[4, 5, 39]] = 1
    candidates, links = tiny.evidence(graph, source, 0, reached)
    assert len(candidates) < graph.num_entities
    assert links.copies is not None
    assert int(links.copies.sum()) == graph.num_entities
    assert int((links.copies * links.is_known).sum()) == 3
    assert float((links.copies * links.sources)[links.sources >= 0].sum()) == pytest.approx(80, abs=2)


def test_known_answers_stay_whatever_the_limits(graph: KnowledgeGraph) -> None:
    method, (sets, relations) = combined(), sets_of(graph)
    found = near(method, TINY).project(graph, sets, relations)[0]
    assert sorted(found.topk(2).indices.tolist()) == [4, 5]
    assert float(found.topk(2).values[-1]) == 1


def test_candidates_of_rules_are_part_of_it(graph: KnowledgeGraph) -> None:
    method = combined()
    source = members_of(np.eye(graph.num_entities, dtype=np.float32)[3])
    fired = method.rules.fired(graph, source.entities, source.memberships, 0)[0]
    nothing = np.zeros(graph.num_entities, np.float32)
    assert set(fired.tolist()) <= set(near(method, TINY).evidence(graph, source, 0, nothing)[0].tolist())


def test_it_is_the_same_every_time(graph: KnowledgeGraph) -> None:
    method, (sets, relations) = combined(), sets_of(graph)
    first, second = (near(method, TINY).project(graph, sets, relations) for _ in range(2))
    assert torch.equal(first, second)


def test_it_stops(graph: KnowledgeGraph) -> None:
    method, (sets, relations) = combined(), sets_of(graph)
    with pytest.raises(Stopped), stop_when(lambda: True):
        near(method, ROOMY).project(graph, sets, relations)


def test_size_and_effort_decide(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    method = combined()
    assert method.near(graph) is None
    monkeypatch.setitem(BUDGETS, "fast", TINY)
    assert method.at("fast").near(graph) is not None
    assert method.at("full").near(graph) is None
    assert method.at("normal") is method
    assert method.at("fast") is method.at("fast")
    with pytest.raises(UnseenError, match="choose one of fast, normal, full"):
        effort.checked_effort("some")
