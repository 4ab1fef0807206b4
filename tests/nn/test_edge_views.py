"""Edges as message passing reads them: one canonical order, the other orders, and work cut into chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tests.nn.edge_graphs import GRAPHS
from unseen.nn.kernels import EdgeViews, degrees

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph


def test_an_edge_stands_in_both_directions_in_canonical_order(family: KnowledgeGraph):
    edges = EdgeViews.of(family)
    view = edges.by_target
    order = list(zip(view.target.tolist(), view.relation.tolist(), view.source.tolist(), strict=True))
    assert order == sorted(order)
    assert edges.num_edges == 2 * family.num_triples == len(set(order))
    head, tail = family.vocabulary.entity_id("Ada"), family.vocabulary.entity_id("Ben")
    assert {(tail, 0, head), (head, 1, tail)} <= set(order)
    assert EdgeViews.of(family) is edges


def test_the_reverse_of_the_reverse_is_the_edge(family: KnowledgeGraph):
    edges = EdgeViews.of(family)
    view, back = edges.by_target, edges.reverse.long()
    assert back[back].tolist() == list(range(edges.num_edges))
    assert torch.equal(view.source[back], view.target)
    assert torch.equal(view.relation[back] ^ 1, view.relation)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_views_hold_the_same_edges_and_chunks_cover_each_once(name):
    edges = GRAPHS[name]()
    rows = {"by_target": "target", "by_source": "source", "by_relation": "relation"}
    for view_name, column in rows.items():
        view = getattr(edges, view_name)
        for other in ("source", "relation", "target"):
            assert torch.equal(getattr(view, other), getattr(edges.by_target, other)[view.position.long()])
        count = len(view.offsets) - 1
        assert torch.equal(torch.bincount(getattr(view, column), minlength=count), view.offsets.diff())
        chunks = view.work.chunks.tolist()
        covered = [(edge, row) for row, start, end, _ in chunks for edge in range(start, end)]
        assert covered == list(enumerate(getattr(view, column).tolist()))
        assert {row for row, *_ in chunks} == set(range(count))
        assert view.work.blocks[[0, -1]].tolist() == [0, view.work.num_chunks]


def test_edges_are_found_and_dropped_in_both_directions(family: KnowledgeGraph):
    edges = EdgeViews.of(family)
    view = edges.by_target
    everywhere = edges.positions_of(view.source, view.relation, view.target)
    assert everywhere.tolist() == list(range(edges.num_edges))
    some = edges.positions_of(torch.tensor([0, 0]), torch.tensor([0, 0]), torch.tensor([1, 0]))
    assert some[0] >= 0
    assert some[1] == -1
    mask = edges.mask_without(some)
    assert (~mask).nonzero().flatten().tolist() == sorted([int(some[0]), int(edges.reverse[some[0]])])
    assert int(degrees(edges, mask).sum()) == edges.num_edges - 2
    assert torch.equal(degrees(edges), torch.bincount(view.target, minlength=edges.num_nodes))
