"""The zero-shot model whose relations learn from states of entities: same promises as without."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.methods.test_zero_shot import batch_of, graph, some_queries  # noqa: F401  # a fixture
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project
from unseen.methods.fuzzy_gnn.neural_projector import Answering
from unseen.methods.zero_shot.zero_shot import ZeroShot, ZeroShotShape


def model(kind: str, memory: int | None = None, remembers: tuple[str, ...] = (), **answering: bool) -> ZeroShot:
    torch.manual_seed(0)
    shape = ZeroShotShape(8, 2, 2, 8, relation_states=kind, statistics=True)  # type: ignore[arg-type]
    made = ZeroShot(shape, answering=Answering(**answering), memory=memory, remembers=remembers, memory_width=3)
    for step in made.relation_states.steps if made.relation_states is not None else ():
        torch.nn.init.normal_(step.output.weight)
    for table in () if made.relation_memory is None else made.relation_memory.parameters():
        torch.nn.init.normal_(table, std=0.1)
    return made.eval()


KINDS = pytest.mark.parametrize("kind", ["by_relation", "by_source"])


@KINDS
def test_renumbering_relations_changes_nothing(graph: KnowledgeGraph, kind: str) -> None:  # noqa: F811
    number = np.array([2, 0, 3, 1])
    moved = KnowledgeGraph(graph.heads, number[graph.relations], graph.tails, graph.vocabulary)
    method = model(kind, known_facts=False)
    for way in (0, 1):
        before = method.answer(graph, [Project(2 + way, Anchor(3))])
        after = method.answer(moved, [Project(way, Anchor(3))])
        assert torch.allclose(before, after, atol=1e-5)
        assert not torch.allclose(before, model("none", known_facts=False).answer(graph, [Project(2 + way, Anchor(3))]))


@KINDS
@pytest.mark.parametrize("remembers", [(), ("0", "2")])
def test_a_batch_is_its_queries_and_little_memory_changes_nothing(
    graph: KnowledgeGraph,  # noqa: F811
    kind: str,
    remembers: tuple[str, ...],
) -> None:
    method, queries = model(kind, remembers=remembers), some_queries()
    together = method.answer(graph, queries)
    alone = torch.cat([model(kind, 1, remembers).answer(graph, [query]) for query in queries])
    assert torch.allclose(together, alone, atol=1e-5)


@KINDS
def test_a_relation_asked_for_again_needs_no_pass_over_relations(graph: KnowledgeGraph, kind: str) -> None:  # noqa: F811
    method, passes, rounds = model(kind), [], []
    method.relation_network.register_forward_hook(lambda *_: passes.append(1))
    method.relation_states.register_forward_hook(lambda *_: rounds.append(1))  # type: ignore[union-attr]
    first = method.answer(graph, [Project(2, Anchor(3))])
    assert torch.equal(method.answer(graph, [Project(2, Anchor(3))]), first)
    assert len(passes) == 1
    assert len(rounds) == (1 if kind == "by_relation" else 2)
    with torch.no_grad():
        method.relation_states.layers[0].linear.weight.mul_(-2)  # type: ignore[union-attr,operator]
    assert not torch.allclose(method.answer(graph, [Project(2, Anchor(3))]), first)


@KINDS
def test_gradients_reach_every_weight_and_do_not_depend_on_memory(graph: KnowledgeGraph, kind: str) -> None:  # noqa: F811
    gradients = []
    for memory in (None, 1):
        method = model(kind, memory).train()
        method.losses(batch_of(method, graph), torch.Generator().manual_seed(0)).mean().backward()
        gradients.append([weight.grad for weight in method.parameters()])
        assert not [name for name, weight in method.named_parameters() if weight.grad is None]
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other, atol=1e-5)
