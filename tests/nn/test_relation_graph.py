"""The graph of relations: against a definition by sets, on growing graphs, and on odd ones."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.nn.relation_graph import KINDS, RelationGraph


def random_graph(seed: int, relations: int = 5, entities: int = 12, edges: int = 20) -> KnowledgeGraph:
    random = np.random.default_rng(seed)
    columns = [random.integers(limit, size=edges) for limit in (entities, relations, entities)]
    return KnowledgeGraph(*columns, Vocabulary.numbered(entities, relations))


def by_definition(graph: KnowledgeGraph) -> set[tuple[int, str, int]]:
    """All (a, kind, b) from the sets of heads and tails of every directed relation."""
    count = graph.vocabulary.num_directed_relations
    ends = [tuple(set(side.tolist()) for side in graph.edges_from(relation)) for relation in range(count)]
    place = {"head": 0, "tail": 1}
    return {
        (a, kind, b)
        for a in range(count)
        for b in range(count)
        for kind in KINDS
        if ends[a][place[kind[:4]]] & ends[b][place[kind[5:]]]
    }


def found(relations: RelationGraph) -> set[tuple[int, str, int]]:
    view = relations.edges().by_target
    columns = (view.source.tolist(), view.relation.tolist(), view.target.tolist())
    edges = [(source, KINDS[kind], target) for source, kind, target in zip(*columns, strict=True)]
    assert len(edges) == len(set(edges))
    return set(edges)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_the_definition_says(seed: int) -> None:
    graph = random_graph(seed)
    assert found(RelationGraph.of(graph)) == by_definition(graph)


def test_many_relations_at_one_entity_are_marked_by_words() -> None:
    count = 100
    ends, relations = np.arange(1, count + 1), np.arange(count)
    graph = KnowledgeGraph(np.zeros(count, int), relations, ends, Vocabulary.numbered(count + 1, count))
    assert found(RelationGraph.made(graph)) == by_definition(graph)


def test_a_relation_with_one_triple_and_one_with_none_are_fine() -> None:
    graph = KnowledgeGraph([0, 1], [0, 1], [1, 2], Vocabulary.numbered(3, 3))
    relations = RelationGraph.of(graph)
    assert relations.num_relations == 6
    assert (0, "tail-head", 2) in found(relations)
    assert not any(4 in (edge[0], edge[2]) or 5 in (edge[0], edge[2]) for edge in found(relations))


def test_a_graph_without_edges_or_relations_has_no_links() -> None:
    assert RelationGraph.of(KnowledgeGraph([], [], [], Vocabulary.numbered(3, 2))).edges().num_edges == 0
    assert RelationGraph.of(KnowledgeGraph([], [], [], Vocabulary.numbered(0, 0))).edges().num_edges == 0


def test_it_is_made_once_for_a_graph() -> None:
    graph = random_graph(0)
    assert RelationGraph.of(graph) is RelationGraph.of(graph)
    assert RelationGraph.of(graph).edges() is RelationGraph.of(graph).edges()


@pytest.mark.parametrize("seed", range(4))
def test_a_grown_graph_is_mended_to_what_is_made_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(seed)
    RelationGraph.of(graph)
    new = [("0", "new relation", "newcomer"), ("3", "1", "newcomer"), ("4", "new relation", "5")]
    grown = graph.extended_with(new)
    with monkeypatch.context() as patched:
        patched.setattr(RelationGraph, "made", None)
        mended = RelationGraph.of(grown)
    assert np.array_equal(mended.shared, RelationGraph.made(grown).shared)
    assert found(mended) == by_definition(grown)


def test_another_graph_is_not_taken_for_a_grown_one() -> None:
    first, second = random_graph(0), random_graph(1, edges=40)
    assert not RelationGraph.of(first).is_part_of(second)
    assert found(RelationGraph.of(second)) == by_definition(second)
