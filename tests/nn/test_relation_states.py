"""Relation vectors from states of entities: the linear form against the sum over pairs, and what they depend on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.nn.kernels import EdgeViews
from unseen.nn.kernels.sparse_table import Incidence
from unseen.nn.relation_states import Meeting, RelationStates, RelationStep

DIM, NODES, RELATIONS = 4, 9, 6


@pytest.fixture
def edges() -> EdgeViews:
    random = np.random.default_rng(0)
    columns = (random.integers(limit, size=30) for limit in (NODES, RELATIONS // 2, NODES))
    return EdgeViews.of(KnowledgeGraph(*columns, Vocabulary.numbered(NODES, RELATIONS // 2)))


def with_random_outputs(states: RelationStates) -> RelationStates:
    for step in states.steps:
        torch.nn.init.normal_(step.output.weight)
    return states.double()


def test_two_products_are_the_sum_over_all_pairs_that_meet_at_an_entity(edges: EdgeViews) -> None:
    torch.manual_seed(0)
    incidence = Incidence.of(edges)
    step, meeting = RelationStep(DIM).double(), Meeting.of(incidence, None, torch.float64)
    state, vectors = torch.randn(NODES, 1, DIM).double(), torch.randn(RELATIONS, 1, DIM).double()
    found = meeting.at_relations(
        step.weigh(state) * meeting.at_nodes(torch.cat([vectors, vectors[[1, 0, 3, 2, 5, 4]]], dim=-1))
    )
    meets = torch.zeros(NODES, RELATIONS).double()
    meets[edges.by_target.source.long(), edges.by_target.relation.long()] = 1
    weighed = step.weigh(state)[:, 0]
    for relation in range(RELATIONS):
        expected = torch.zeros(2 * DIM).double()
        for node in range(NODES):
            for other in range(RELATIONS):
                share = meets[node, relation] * meets[node, other] / meets[node].sum().clamp(min=1)
                both = torch.cat([vectors[other, 0], vectors[other ^ 1, 0]])
                expected += share * weighed[node] * both
        assert torch.allclose(found[relation, 0], expected)


def test_it_begins_as_if_it_were_not_there(edges: EdgeViews) -> None:
    states, incidence = RelationStates(DIM, 2), Incidence.of(edges)
    vectors = torch.randn(RELATIONS, 3, DIM)
    assert torch.equal(states(edges, incidence, vectors, torch.randn(NODES, 3, DIM)), vectors)


def test_rows_do_not_depend_on_one_another(edges: EdgeViews) -> None:
    torch.manual_seed(0)
    states, incidence = with_random_outputs(RelationStates(DIM, 2)), Incidence.of(edges)
    vectors, boundary = torch.randn(RELATIONS, 3, DIM).double(), torch.randn(NODES, 3, DIM).double()
    together = states(edges, incidence, vectors, boundary)
    for row in range(3):
        alone = states(edges, incidence, vectors[:, [row]], boundary[:, [row]])
        assert torch.allclose(together[:, [row]], alone)


def test_under_a_mask_it_is_that_of_the_edges_left(edges: EdgeViews) -> None:
    torch.manual_seed(0)
    states = with_random_outputs(RelationStates(DIM, 2))
    vectors, boundary = torch.randn(RELATIONS, 1, DIM).double(), torch.randn(NODES, 1, DIM).double()
    mask = edges.mask_without(torch.arange(0, edges.num_edges, 4))
    view = edges.by_target
    columns = (view.source[mask], view.relation[mask], view.target[mask])
    left = EdgeViews.from_edges(*columns, size=(NODES, RELATIONS))
    masked = states(edges, Incidence.of(edges), vectors, boundary, mask)
    assert torch.allclose(masked, states(left, Incidence.of(left), vectors, boundary))


def test_ends_mark_heads_and_tails_of_the_query_relation(edges: EdgeViews) -> None:
    states, view = RelationStates(DIM, 1), edges.by_target
    marked = states.ends_of(Incidence.of(edges), torch.tensor([3, 0]))
    for column, query in enumerate((3, 0)):
        expected = torch.zeros(NODES, DIM)
        expected[view.source[view.relation == query].unique().long()] += states.ends[0]
        expected[view.target[view.relation == query].unique().long()] += states.ends[1]
        assert torch.allclose(marked[:, column], expected)


def test_gradients_reach_every_weight(edges: EdgeViews) -> None:
    torch.manual_seed(0)
    states, incidence = with_random_outputs(RelationStates(DIM, 2)), Incidence.of(edges)
    boundary = states.ends_of(incidence, torch.tensor([1, 4]))
    vectors = states(edges, incidence, torch.randn(RELATIONS, 2, DIM).double(), boundary)
    (vectors * torch.randn_like(vectors)).sum().backward()
    assert all(weight.grad is not None and bool((weight.grad != 0).any()) for weight in states.parameters())
