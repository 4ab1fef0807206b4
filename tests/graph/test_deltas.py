"""A changed graph is the graph of the changed triples, with the old ids."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unseen.graph import KnowledgeGraph
from unseen.graph.deltas import Delta, changed, joined

TRIPLES = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("rst"), st.sampled_from("abcde")), max_size=12)


@given(TRIPLES, TRIPLES, TRIPLES)
def test_a_delta_removes_then_adds(before: list, removed: list, added: list) -> None:
    graph = KnowledgeGraph.from_triples(before)
    after = changed(graph, Delta(added=added, removed=removed))
    assert set(after.triples()) == (set(before) - set(removed)) | set(added)
    kept = range(graph.num_entities)
    assert [after.vocabulary.entity_name(i) for i in kept] == [graph.vocabulary.entity_name(i) for i in kept]


@given(TRIPLES, TRIPLES)
def test_a_joined_graph_has_the_edges_of_both_and_the_ids_of_the_first(first: list, second: list) -> None:
    graph = KnowledgeGraph.from_triples(first)
    both = joined(graph, KnowledgeGraph.from_triples(second))
    assert set(both.triples()) == set(first) | set(second)
    assert both.heads[: graph.num_triples].tolist() == graph.heads.tolist()


def test_labels_come_change_and_go() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")])
    named = changed(graph, Delta(labels={"a": "Ada", "b": "Ada", "nobody": "x"}))
    assert list(named.triples()) == [("Ada", "r", "Ada (b)"), ("Ada (b)", "r", "c")]
    assert named.vocabulary.entity_id("Ada") == named.vocabulary.entity_id("a") == 0
    again = changed(named, Delta(labels={"a": None, "b": "Ben", "c": "Ben"}))
    assert list(again.triples()) == [("a", "r", "Ben"), ("Ben", "r", "Ben (c)")]


def test_a_key_is_found_by_its_key_even_if_it_is_the_label_of_another() -> None:
    graph = changed(KnowledgeGraph.from_triples([("a", "r", "b")]), Delta(labels={"a": "c"}))
    grown = changed(graph, Delta(added=[("c", "r", "b")]))
    assert grown.num_entities == 3
    assert grown.num_triples == 2
