"""The zero-shot model: what it knows of relations, what it keeps, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, Project
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import answers as traversed
from unseen.methods.fuzzy_gnn.captured import Input
from unseen.methods.fuzzy_gnn.neural_projector import Answering
from unseen.methods.fuzzy_gnn.training_batch import ReadyPlan
from unseen.methods.fuzzy_gnn.training_pass import execute_plan
from unseen.methods.zero_shot.zero_shot import ZeroShot, ZeroShotShape

SHAPE = ZeroShotShape(dim=8, num_layers=2, relation_layers=2, hidden_dim=8)


def model(memory: int | None = None, **answering: bool) -> ZeroShot:
    torch.manual_seed(0)
    return ZeroShot(SHAPE, answering=Answering(**answering), memory=memory).eval()


@pytest.fixture
def graph() -> KnowledgeGraph:
    random = np.random.default_rng(0)
    columns = [random.integers(limit, size=60) for limit in (20, 4, 20)]
    return KnowledgeGraph(*columns, Vocabulary.numbered(20, 4))


def some_queries(names: tuple[str, ...] = ("1p", "2p", "2i", "pin")) -> list:
    random = np.random.default_rng(1)
    limits = {"e": 20, "r": 8}
    return [SHAPES[name].fill([int(random.integers(limits[slot])) for slot in SHAPES[name].slots]) for name in names]


def batch_of(method: ZeroShot, graph: KnowledgeGraph):
    queries = some_queries()
    return method.prepare(graph, queries, [np.array([1, 2])] * len(queries))


def test_renumbering_relations_changes_nothing(graph: KnowledgeGraph) -> None:
    number = np.array([2, 0, 3, 1])
    moved = KnowledgeGraph(graph.heads, number[graph.relations], graph.tails, graph.vocabulary)
    method = model(known_facts=False)
    for relation in range(4):
        for way in (0, 1):
            before = method.answer(graph, [Project(2 * relation + way, Anchor(3))])
            after = method.answer(moved, [Project(2 * int(number[relation]) + way, Anchor(3))])
            assert torch.allclose(before, after, atol=1e-5)


def test_turning_a_relation_around_and_asking_for_its_inverse_changes_nothing(graph: KnowledgeGraph) -> None:
    turned = graph.relations == 1
    heads, tails = np.where(turned, graph.tails, graph.heads), np.where(turned, graph.heads, graph.tails)
    other, method = KnowledgeGraph(heads, graph.relations, tails, graph.vocabulary), model(known_facts=False)
    before, after = (
        method.answer(*each) for each in ((graph, [Project(2, Anchor(3))]), (other, [Project(3, Anchor(3))]))
    )
    assert torch.allclose(before, after, atol=1e-5)


def test_relations_that_nothing_uses_change_nothing(graph: KnowledgeGraph) -> None:
    more = KnowledgeGraph(graph.heads, graph.relations, graph.tails, Vocabulary.numbered(20, 9))
    method, query = model(known_facts=False), Project(2, Anchor(3))
    assert torch.allclose(method.answer(graph, [query]), method.answer(more, [query]), atol=1e-5)


def test_a_question_asked_again_needs_no_pass_over_relations(graph: KnowledgeGraph) -> None:
    method, passes = model(), []
    method.relation_network.register_forward_hook(lambda _module, inputs, _output: passes.append(len(inputs[1])))
    queries = [SHAPES["3p"].fill([3, 0, 2, 4]), SHAPES["2i"].fill([1, 0, 2, 6])]
    first = method.answer(graph, queries)
    assert passes == [4]  # one for the relations of all levels
    assert torch.equal(method.answer(graph, queries), first)
    assert passes == [4]


def test_vectors_are_made_again_when_the_weights_have_changed(graph: KnowledgeGraph) -> None:
    method, query = model(known_facts=False), Project(0, Anchor(3))
    before = method.answer(graph, [query])
    with torch.no_grad():
        method.relation_network.kinds.mul_(-2)
    after = method.answer(graph, [query])
    assert not torch.allclose(before, after)
    fresh = model(known_facts=False)
    fresh.load_state_dict(method.state_dict())
    assert torch.allclose(fresh.answer(graph, [query]), after, atol=1e-6)


def test_little_memory_means_parts_not_other_answers(graph: KnowledgeGraph) -> None:
    assert torch.allclose(
        model().answer(graph, some_queries()), model(memory=1).answer(graph, some_queries()), atol=1e-5
    )


def test_the_plan_of_a_batch_gives_what_execution_gives(graph: KnowledgeGraph) -> None:
    method = ZeroShot(SHAPE, answering=Answering(known_facts=False, sharpness=1.0)).eval()
    compact, queries = method.compact(graph), some_queries()
    planned = execute_plan(compact, ReadyPlan.of(compact, queries), [None] * 9, method.project_nodes)
    assert torch.allclose(planned, method.answer(graph, queries)[:, compact.entity_of_node], atol=1e-5)


def test_one_pass_over_relations_with_gradients_and_one_without_serve_a_batch(graph: KnowledgeGraph) -> None:
    method, widths = model().train(), []
    method.relation_network.register_forward_hook(lambda _module, inputs, _output: widths.append(len(inputs[1])))
    batch = batch_of(method, graph)
    method.losses(batch, torch.Generator().manual_seed(0)).mean().backward()
    assert widths == [len(batch.outer), len(batch.inner)]
    assert len(set(batch.condition_of_relation[torch.cat([batch.outer, batch.inner])].tolist())) == sum(widths)


def test_gradients_reach_every_weight_and_do_not_depend_on_memory(graph: KnowledgeGraph) -> None:
    gradients = []
    for memory in (None, 1):
        method = model(memory).train()
        method.losses(batch_of(method, graph), torch.Generator().manual_seed(0)).mean().backward()
        assert all(weight.grad is not None for weight in method.parameters())
        gradients.append([weight.grad for weight in method.parameters()])
    assert all(torch.allclose(left, right, atol=1e-5) for left, right in zip(*gradients, strict=True))


def test_it_learns_that_one_relation_is_another_read_backwards() -> None:
    random, method = np.random.default_rng(0), model().train()
    heads, tails = random.integers(0, 20, (2, 40))
    both = (np.concatenate([heads, tails]), np.repeat([0, 1], 40), np.concatenate([tails, heads]))
    graph = KnowledgeGraph(*both, Vocabulary.numbered(20, 2))
    queries = [Project(relation, Anchor(entity)) for relation in range(4) for entity in range(20)]
    answers = [traversed(graph, query) for query in queries]
    optimizer, losses = torch.optim.Adam(method.parameters(), lr=0.01), []
    for step in range(80):
        chosen = np.random.default_rng(step).choice(len(queries), 16, replace=False)
        asked, true = [queries[row] for row in chosen], [answers[row] for row in chosen]
        loss = method.loss(graph, asked, true, torch.Generator().manual_seed(step))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])


def test_the_published_shape_is_at_most_two_megabytes_in_half_precision() -> None:
    weights = sum(weight.numel() for weight in ZeroShot().parameters())
    assert 2 * weights <= 2_000_000


def test_inputs_of_a_recording_are_padded_along_their_rows() -> None:
    given = Input(torch.arange(6.0).view(2, 3), 1)
    room = given.widened(4)
    room.take(given)
    assert room.value.tolist() == [[0, 1, 2, 0], [3, 4, 5, 0]]
