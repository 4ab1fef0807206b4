"""The graph is a set of edges that nobody can change."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.graphs import edges_of, graph_of, triples
from unseen.errors import GraphError, TooLarge
from unseen.graph import KnowledgeGraph, Vocabulary, knowledge_graph
from unseen.graph.sorted_edges import SortedEdges, first_occurrences
from unseen.graph.vocabulary import directed_relation

NUM_ENTITIES, NUM_RELATIONS = 6, 3
EDGES = triples(NUM_ENTITIES, NUM_RELATIONS)
HUGE = 2**31
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)


def ids(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_ids_follow_first_appearance_head_before_tail() -> None:
    graph = KnowledgeGraph.from_triples([("b", "r", "a"), ("a", "q", "c")])
    assert [graph.vocabulary.entity_name(entity) for entity in range(3)] == ["b", "a", "c"]
    assert edges_of(graph) == [(0, 0, 1), (1, 1, 2)]
    assert list(graph.triples()) == [("b", "r", "a"), ("a", "q", "c")]


def test_columns_are_int32_and_read_only(family: KnowledgeGraph) -> None:
    for column in (family.heads, family.relations, family.tails):
        assert column.dtype == np.int32
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_every_array_a_graph_hands_out_is_read_only(family: KnowledgeGraph) -> None:
    views = [family.by_head, family.by_tail]
    handed_out = [
        family.connected_entities,
        *family.edges_from(0),
        *family.edges_from(1),
        *family.range_of(0),
        *family.range_of(3),
        *(column for view in views for column in (view.offsets, view.sources, view.targets)),
    ]
    assert not any(array.flags.writeable for array in handed_out)


def test_changing_the_input_later_does_not_change_the_graph() -> None:
    heads, relations, tails = ids(0, 1), ids(0, 0), ids(1, 2)
    graph = KnowledgeGraph(heads, relations, tails, Vocabulary.numbered(3, 1))
    heads[0] = 2
    assert heads.flags.writeable
    assert edges_of(graph) == [(0, 0, 1), (1, 0, 2)]


@given(EDGES)
def test_duplicates_collapse_and_first_order_stays(edges: list[tuple[int, int, int]]) -> None:
    graph = graph_of(edges, NUM_ENTITIES, NUM_RELATIONS)
    assert edges_of(graph) == list(dict.fromkeys(edges))
    assert graph.num_triples == len(set(edges))


@pytest.mark.parametrize("num_entities", [NUM_ENTITIES, HUGE])
@given(edges=EDGES)
def test_first_occurrences_are_found_with_few_and_with_many_ids(
    num_entities: int, edges: list[tuple[int, int, int]]
) -> None:
    heads, relations, tails = np.array(edges, np.int32).reshape(-1, 3).T
    found = first_occurrences((heads, relations, tails), num_entities, NUM_RELATIONS)
    expected = [position for position, edge in enumerate(edges) if edge not in edges[:position]]
    assert (list(range(len(edges))) if found is None else found.tolist()) == expected


@pytest.mark.parametrize("num_entities", [NUM_ENTITIES, HUGE])
@given(edges=EDGES)
def test_sorted_edges_are_sorted_by_relation_source_and_target(
    num_entities: int, edges: list[tuple[int, int, int]]
) -> None:
    heads, relations, tails = np.array(edges, np.int32).reshape(-1, 3).T
    view = SortedEdges.of(relations, heads, tails, NUM_RELATIONS, num_entities)
    for relation in range(NUM_RELATIONS):
        sources, targets = view.of_relation(relation)
        expected = sorted((head, tail) for head, r, tail in edges if r == relation)
        assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == expected
    assert not any(column.flags.writeable for column in (view.offsets, view.sources, view.targets))


def test_ids_up_to_the_largest_are_sorted_and_told_apart() -> None:
    heads, relations, tails = ids(HUGE - 1, 0, HUGE - 1), ids(0, 1, 0), ids(HUGE - 2, HUGE - 1, HUGE - 2)
    sources, targets = SortedEdges.of(relations, heads, tails, 2, HUGE).of_relation(0)
    assert sources.tolist() == [HUGE - 1, HUGE - 1]
    assert targets.tolist() == [HUGE - 2, HUGE - 2]
    found = first_occurrences((heads, relations, tails), HUGE, 2)
    assert found is not None
    assert found.tolist() == [0, 1]


@given(EDGES)
def test_edges_of_a_directed_relation_equal_brute_force(edges: list[tuple[int, int, int]]) -> None:
    graph = graph_of(edges, NUM_ENTITIES, NUM_RELATIONS)
    for relation in range(NUM_RELATIONS):
        forwards = sorted({(head, tail) for head, r, tail in edges if r == relation})
        for inverse, expected in ((False, forwards), (True, sorted((tail, head) for head, tail in forwards))):
            sources, targets = graph.edges_from(directed_relation(relation, inverse))
            assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == expected


@given(EDGES)
def test_the_range_of_a_relation_counts_the_edges_that_lead_to_each_entity(edges: list[tuple[int, int, int]]) -> None:
    graph = graph_of(edges, NUM_ENTITIES, NUM_RELATIONS)
    distinct = set(edges)
    for relation in range(NUM_RELATIONS):
        for inverse, end in ((False, 2), (True, 0)):
            entities, counts = graph.range_of(directed_relation(relation, inverse))
            reached = [edge[end] for edge in distinct if edge[1] == relation]
            expected = {entity: reached.count(entity) for entity in sorted(set(reached))}
            assert dict(zip(entities.tolist(), counts.tolist(), strict=True)) == expected
            assert entities.tolist() == sorted(expected)


@given(EDGES)
def test_connected_entities_are_those_with_an_edge(edges: list[tuple[int, int, int]]) -> None:
    graph = graph_of(edges, NUM_ENTITIES, NUM_RELATIONS)
    assert graph.connected_entities.tolist() == sorted({end for head, _, tail in edges for end in (head, tail)})


def test_views_are_built_when_asked_for_and_once(family: KnowledgeGraph) -> None:
    assert isinstance(KnowledgeGraph.__dict__["by_head"], cached_property)
    assert "by_head" not in vars(family)
    assert family.by_head is family.by_head
    assert "by_tail" not in vars(family)


def test_extending_keeps_old_ids_and_the_old_graph(family: KnowledgeGraph) -> None:
    before = edges_of(family)
    names = family.vocabulary.entities.keys.to_pylist()
    grown = family.extended_with([("Fay", "parent", "Ada"), ("Ada", "plays", "Harp"), ("Ada", "parent", "Ben")])
    assert edges_of(family) == before
    assert family.vocabulary.entities.keys.to_pylist() == names
    assert family.num_relations == 2
    assert edges_of(grown)[: len(before)] == before
    assert grown.num_triples == len(before) + 2
    assert grown.vocabulary.entities.keys.to_pylist() == [*names, "Fay", "Harp"]


def test_directed_ids_of_old_relations_stay_when_relations_are_added(family: KnowledgeGraph) -> None:
    grown = family.extended_with([("Ada", "plays", "Harp"), ("Harp", "made_of", "Wood")])
    for name in ("parent", "likes"):
        for inverse in (False, True):
            old = family.vocabulary.relation_id(name, inverse)
            assert grown.vocabulary.relation_id(name, inverse) == old
            assert [column.tolist() for column in grown.edges_from(old)] == [
                column.tolist() for column in family.edges_from(old)
            ]


@given(st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=8), st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=8))
def test_extending_equals_building_at_once(
    first: list[tuple[str, str, str]], second: list[tuple[str, str, str]]
) -> None:
    grown = KnowledgeGraph.from_triples(first).extended_with(second)
    whole = KnowledgeGraph.from_triples(first + second)
    assert edges_of(grown) == edges_of(whole)
    assert list(grown.triples()) == list(whole.triples()) == list(dict.fromkeys(first + second))


def test_extending_with_nothing_gives_an_equal_graph(family: KnowledgeGraph) -> None:
    assert edges_of(family.extended_with([])) == edges_of(family)


def test_a_new_iri_is_kept_in_full_however_it_is_written() -> None:
    graph = KnowledgeGraph.from_triples([("http://ex.org/a", "http://ex.org/r", "http://ex.org/b")])
    grown = graph.extended_with([("ex:new", "ex:r", "<http://ex.org/new>"), ("ex:a", "<http://ex.org/r>", "plain")])
    assert grown.vocabulary.entities.keys.to_pylist()[2:] == ["http://ex.org/new", "plain"]
    assert grown.num_relations == 1
    assert edges_of(grown)[1:] == [(2, 0, 2), (0, 0, 3)]


def test_a_name_in_angle_brackets_that_is_no_iri_stays_as_it_is() -> None:
    graph = KnowledgeGraph.from_triples([("<unknown>", "r", "unknown")])
    assert graph.num_entities == 2
    assert graph.vocabulary.entity_id("<unknown>") == 0
    assert graph.vocabulary.entity_id("unknown") == 1


def test_restricting_keeps_ids_and_the_vocabulary(family: KnowledgeGraph) -> None:
    kept = family.relations == family.vocabulary.relations.find("likes")
    fewer = family.restricted_to(kept)
    assert fewer.vocabulary is family.vocabulary
    assert edges_of(fewer) == [edge for edge in edges_of(family) if edge[1] == 1]
    assert fewer.num_entities == family.num_entities
    assert family.num_triples == 8


def test_an_empty_graph_is_a_graph() -> None:
    graph = KnowledgeGraph.from_triples([])
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (0, 0, 0)
    assert graph.connected_entities.tolist() == []
    assert list(graph.triples()) == []


def test_a_graph_shows_its_size(family: KnowledgeGraph) -> None:
    assert repr(family) == "KnowledgeGraph(7 entities, 2 relations, 8 triples)"


@pytest.mark.parametrize(
    ("heads", "relations", "tails"),
    [([3], [0], [1]), ([-1], [0], [1]), ([0], [1], [1]), ([0], [0], [3]), ([2**32], [0], [1])],
)
def test_an_id_that_has_no_name_is_refused(heads: list[int], relations: list[int], tails: list[int]) -> None:
    with pytest.raises(GraphError, match="an id lies outside"):
        KnowledgeGraph(np.array(heads), np.array(relations), np.array(tails), Vocabulary.numbered(3, 1))


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(GraphError, match="differ in length"):
        KnowledgeGraph(ids(0, 1), ids(0), ids(1), Vocabulary.numbered(2, 1))


@pytest.mark.parametrize("triple", [("", "r", "b"), ("a", "", "b"), ("a", "r", ""), ("a", "r", 3), ("a", None, "b")])
def test_a_name_must_be_a_text_that_is_not_empty(triple: tuple) -> None:
    with pytest.raises(GraphError, match="non-empty text"):
        KnowledgeGraph.from_triples([triple])


@pytest.mark.parametrize("triple", [("a", "r"), ("a", "r", "b", "c")])
def test_a_triple_has_three_parts(triple: tuple) -> None:
    with pytest.raises(GraphError, match="three parts"):
        KnowledgeGraph.from_triples([triple])


def test_text_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(GraphError, match="not valid Unicode"):
        KnowledgeGraph.from_triples([("a", "r", "\udc80")])


def test_more_names_than_ids_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge_graph, "LARGEST_ID", 2)
    with pytest.raises(TooLarge, match="more than 2 distinct entity names"):
        KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")])
