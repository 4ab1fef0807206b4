"""Sorted edges after changes are those of the same edges sorted anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.graph import KnowledgeGraph, derived
from unseen.graph.deltas import Delta, changed
from unseen.graph.derived import Derived
from unseen.graph.edge_changes import EdgeChange

if TYPE_CHECKING:
    from collections.abc import Iterator

TRIPLES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("rstu"), st.sampled_from("abcdefgh")))
CHANGES = st.lists(st.tuples(TRIPLES, TRIPLES), min_size=1, max_size=4)


@pytest.fixture(scope="module", autouse=True)
def _however_much_changes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived, "MOST_CHANGED", 100)
        yield


def made_anew(graph: KnowledgeGraph) -> KnowledgeGraph:
    return KnowledgeGraph(graph.heads, graph.relations, graph.tails, graph.vocabulary, graph.attributes)


def check_same_views(graph: KnowledgeGraph) -> None:
    fresh = made_anew(graph)
    assert fresh.num_triples == graph.num_triples
    for one, other in ((graph.by_head, fresh.by_head), (graph.by_tail, fresh.by_tail)):
        for name in ("offsets", "sources", "targets"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
            assert getattr(one, name).dtype == getattr(other, name).dtype
            assert not getattr(one, name).flags.writeable


@given(TRIPLES, CHANGES)
def test_views_stay_sorted(before: list, changes: list) -> None:
    graph = KnowledgeGraph.from_triples(before)
    check_same_views(graph)
    there = dict.fromkeys(graph.triples())
    for removed, added in changes:
        graph = changed(graph, Delta(added=added, removed=removed))
        there = {edge: None for edge in there if edge not in removed}
        there |= dict.fromkeys(added)
        assert list(graph.triples()) == list(there)
        check_same_views(graph)


@given(TRIPLES, CHANGES)
def test_what_is_derived_learns_of_all_changes_at_once(before: list, changes: list) -> None:
    def update(before: set, change: EdgeChange, graph: KnowledgeGraph) -> set:
        gone, come = (set(map(tuple, rows.tolist())) for rows in (change.removed, change.added))
        assert gone <= before
        assert not come & (before - gone)
        return (before - gone) | come

    def edges_of(graph: KnowledgeGraph) -> set:
        return set(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))

    edges = Derived(edges_of, update)
    try:
        graph = KnowledgeGraph.from_triples(before)
        edges.of(graph)
        for removed, added in changes:
            graph = changed(graph, Delta(added=added, removed=removed))
        assert edges.of(graph) == edges_of(graph)
    finally:
        Derived._every.remove(edges)


def test_an_edge_that_goes_and_comes_back_has_not_changed() -> None:
    edge = np.array([[0, 0, 1]], np.int32)
    nothing = np.empty((0, 3), np.int32)
    back = EdgeChange(edge, nothing).then(EdgeChange(nothing, edge))
    assert back.removed.tolist() == back.added.tolist() == edge.tolist()
    assert len(EdgeChange(nothing, edge).then(EdgeChange(edge, nothing))) == 0
