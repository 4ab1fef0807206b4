"""Numbers about a graph, worked by hand and by brute force."""

from __future__ import annotations

from hypothesis import given

from tests.graph.graphs import graph_of, triples
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.graph.statistics import GraphStatistics, RelationCount, component_sizes, statistics

NUM_ENTITIES = 9


def brute_force_components(edges: list[tuple[int, int, int]], num_entities: int) -> list[int]:
    groups = [{entity} for entity in range(num_entities)]
    for head, _, tail in edges:
        joined = [group for group in groups if head in group or tail in group]
        groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    return sorted(len(group) for group in groups)


def test_the_numbers_of_a_small_graph(family: KnowledgeGraph) -> None:
    assert statistics(family) == GraphStatistics(
        entities=7,
        relations=2,
        triples=8,
        isolated_entities=0,
        mean_degree=2.29,
        median_degree=2.0,
        largest_degree=3,
        largest_hub="Ada",
        components=1,
        largest_component=7,
        top_relations=[RelationCount("parent", 4, 3, 4), RelationCount("likes", 4, 4, 2)],
    )


def test_an_empty_graph_has_numbers_too() -> None:
    numbers = statistics(KnowledgeGraph.from_triples([]))
    assert (numbers.entities, numbers.triples, numbers.components, numbers.largest_component) == (0, 0, 0, 0)
    assert (numbers.mean_degree, numbers.median_degree, numbers.largest_degree) == (0.0, 0.0, 0)
    assert numbers.largest_hub is None
    assert numbers.top_relations == []


def test_entities_without_edges_are_components_of_their_own() -> None:
    graph = KnowledgeGraph([0], [0], [1], Vocabulary.numbered(4, 1))
    numbers = statistics(graph)
    assert (numbers.isolated_entities, numbers.components, numbers.largest_component) == (2, 3, 2)


def test_a_self_loop_counts_twice_in_the_degree() -> None:
    numbers = statistics(KnowledgeGraph.from_triples([("a", "r", "a")]))
    assert (numbers.largest_degree, numbers.components) == (2, 1)


def test_only_the_most_frequent_relations_are_listed(family: KnowledgeGraph) -> None:
    grown = family.extended_with([("Go", "likes", "Ada")])
    assert [row.relation for row in statistics(grown, top=1).top_relations] == ["likes"]
    assert statistics(grown, top=0).top_relations == []


@given(triples(NUM_ENTITIES, 2, max_size=12))
def test_components_equal_brute_force(edges: list[tuple[int, int, int]]) -> None:
    graph = graph_of(edges, NUM_ENTITIES, 2)
    assert sorted(component_sizes(graph).tolist()) == brute_force_components(edges, NUM_ENTITIES)


def test_a_long_path_is_one_component() -> None:
    length = 20_000
    path = graph_of([(i, 0, i + 1) for i in range(length)][::-1], length + 1, 1)
    assert component_sizes(path).tolist() == [length + 1]
