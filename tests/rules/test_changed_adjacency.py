"""The adjacency of a changed graph is that of the same edges sorted anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.graph import KnowledgeGraph, derived
from unseen.graph.deltas import Delta, changed
from unseen.rules.adjacency import _adjacency, adjacency_of
from unseen.rules.fingerprints import _fingerprints, fingerprints
from unseen.rules.indexing import _tallies, tallies_of

if TYPE_CHECKING:
    from collections.abc import Iterator

EDGES = st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("rstu"), st.sampled_from("abcdefgh"))
BASE = [(chr(97 + i % 5), "rst"[i % 3], chr(97 + (i * i + i // 5) % 5)) for i in range(75)]
"""Enough edges that a few others leave most as they are."""


@pytest.fixture(scope="module", autouse=True)
def _however_much_changes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived, "MOST_CHANGED", 100)
        yield


@given(st.lists(EDGES, max_size=5), st.lists(EDGES), st.lists(EDGES), st.lists(EDGES, max_size=2))
def test_it_is_the_one_of_the_same_edges(removed: list, added: list, others: list, later: list) -> None:
    start = KnowledgeGraph.from_triples([*BASE, *others])
    for before in (start, KnowledgeGraph.from_triples(others)):
        adjacency_of(before), fingerprints(before), tallies_of(before)
        once = changed(before, Delta(added=later, removed=removed))
        check(once)
        twice = changed(once, Delta(added=added, removed=later))
        check(changed(twice, Delta(added=removed, removed=added)))  # two changes at a time


def check(graph: KnowledgeGraph) -> None:
    found, fresh = adjacency_of(graph), _adjacency(graph)
    for name, array in fresh._asdict().items():
        one = getattr(found, name)
        assert (name, one.tolist()) == (name, array.tolist())
        assert one.dtype == array.dtype
        assert one.flags.writeable, "loops are compiled for arrays that can be written"
    tallies, expected = tallies_of(graph), _tallies(fresh)
    assert tallies.facts.tolist() == expected.facts.tolist()
    assert tallies.loops.tolist() == expected.loops.tolist()
    for one, other in zip(tallies.targets, expected.targets, strict=True):
        assert [part.tolist() for part in one] == [part.tolist() for part in other]
    assert fingerprints(graph).tolist() == _fingerprints(graph).tolist()
