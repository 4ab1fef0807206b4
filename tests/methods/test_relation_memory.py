"""What a fine-tuned model remembers of relations by name."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, Project, Query
from unseen.methods.fuzzy_gnn.neural_projector import Answering
from unseen.methods.zero_shot.relation_memory import RelationMemory
from unseen.methods.zero_shot.zero_shot import ZeroShot, ZeroShotShape

SHAPE = ZeroShotShape(dim=8, num_layers=2, relation_layers=2, hidden_dim=8)


@pytest.fixture
def graph() -> KnowledgeGraph:
    random = np.random.default_rng(0)
    columns = [random.integers(limit, size=60) for limit in (20, 4, 20)]
    return KnowledgeGraph(*columns, Vocabulary.numbered(20, 4))


def names(graph: KnowledgeGraph, *relations: int) -> list[str]:
    return [graph.vocabulary.relations.name(relation) for relation in relations]


def model(remembers: list[str]) -> ZeroShot:
    torch.manual_seed(0)
    return ZeroShot(SHAPE, answering=Answering(known_facts=False), remembers=remembers, memory_width=4).eval()


def questions() -> list[Query]:
    return [Project(relation, Anchor(3)) for relation in range(8)]


def memory_of(method: ZeroShot) -> RelationMemory:
    assert method.relation_memory is not None
    return method.relation_memory


def test_it_begins_with_the_very_model(graph: KnowledgeGraph) -> None:
    plain, remembering = model([]), model(names(graph, 0, 1, 2, 3))
    assert plain.relation_memory is None
    assert torch.equal(plain.answer(graph, questions()), remembering.answer(graph, questions()))


@pytest.mark.parametrize("table", ["own", "paired", "maps"])
def test_what_is_remembered_belongs_to_a_name_and_is_seen_at_once(graph: KnowledgeGraph, table: str) -> None:
    method = model(names(graph, 2))
    before = method.answer(graph, questions())
    with torch.no_grad():
        getattr(memory_of(method), table).add_(1.0)
    after = method.answer(graph, questions())
    assert not torch.allclose(before[4], after[4])  # readings from before are not found again
    moved = np.array([1, 2, 3, 0])
    entities = [graph.vocabulary.entities.name(number) for number in range(20)]
    renumbered = Vocabulary.of(entities, names(graph, 3, 0, 1, 2))
    other = KnowledgeGraph(graph.heads, moved[graph.relations], graph.tails, renumbered)
    assert torch.allclose(method.answer(other, [Project(6, Anchor(3))])[0], after[4], atol=1e-5)
    renamed = KnowledgeGraph(graph.heads, moved[graph.relations], graph.tails, graph.vocabulary)
    assert not torch.allclose(method.answer(renamed, [Project(6, Anchor(3))])[0], after[4])


def test_a_relation_that_was_not_there_is_read_from_mapping(graph: KnowledgeGraph) -> None:
    method = model(names(graph, 0, 1, 2, 3))
    with torch.no_grad():
        for table in memory_of(method).parameters():
            table.add_(1.0)
    unknown = KnowledgeGraph(
        graph.heads, graph.relations, graph.tails, Vocabulary.of([f"e{n}" for n in range(20)], list("wxyz"))
    )
    assert torch.allclose(method.answer(unknown, questions()), model([]).answer(unknown, questions()), atol=1e-6)


def test_readings_with_dropout_are_not_those_without(graph: KnowledgeGraph) -> None:
    method = model(names(graph, 0, 1, 2, 3))
    with torch.no_grad():
        for table in memory_of(method).parameters():
            table.add_(0.1)
    expected = method.answer(graph, questions())
    method.train().answer(graph, questions())
    assert torch.allclose(method.eval().answer(graph, questions()), expected, atol=1e-6)


def test_a_graph_that_grows_by_a_relation_is_answered(graph: KnowledgeGraph) -> None:
    method = model(names(graph, 0, 1, 2, 3))
    with torch.no_grad():
        memory_of(method).own.add_(1.0)
    grown = graph.extended_with([("3", "likes", "4"), ("4", "0", "5")])
    found = method.answer(grown, [Project(8, Anchor(3)), Project(0, Anchor(3))])
    assert torch.isfinite(found).all()
    assert not torch.allclose(found[1], model([]).answer(grown, [Project(0, Anchor(3))])[0])


def test_it_learns_with_the_rest(graph: KnowledgeGraph) -> None:
    method = model(names(graph, 0, 1, 2, 3)).train()
    learned = dict(memory_of(method).named_parameters())
    with torch.no_grad():
        learned["maps"].normal_(0.0, 0.01)  # codes learn by matrices that are not zero any more
        learned["paired"].normal_(0.0, 0.01)
    batch = method.prepare(graph, questions(), [np.array([1, 2])] * 8)
    method.losses(batch, torch.Generator().manual_seed(0)).sum().backward()
    for name in ("own", "paired", "asked", "maps", "codes"):
        gradient = learned[name].grad
        assert gradient is not None, name
        assert gradient.abs().sum() > 0, name


def test_layers_remember_nothing_where_the_width_is_zero(graph: KnowledgeGraph) -> None:
    torch.manual_seed(0)
    method = ZeroShot(SHAPE, remembers=names(graph, 0, 1))
    assert sorted(name for name, _ in memory_of(method).named_parameters()) == ["asked", "own", "paired"]
    assert torch.isfinite(method.eval().answer(graph, questions())).all()
