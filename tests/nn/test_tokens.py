"""Tokens: what they are, against definitions by hand, and that growing a graph changes what it must and no more."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from unseen.nn.tokens import NearestAnchors, Neighbours, RelationTokens, select_anchors
from unseen.nn.tokens.anchor_selection import personalised_rank

NODES, RELATIONS = 60, 7


def random_edges(seed: int, count: int = 150, nodes: int = NODES) -> np.ndarray:
    """Rows (source, relation, target); the last five nodes have no edge."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, nodes - 5, (count, 2))
    return np.stack([ends[:, 0], random.integers(0, RELATIONS, count), ends[:, 1]], axis=1)


def both_ways(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sources and directed relations of the edges and of their inverses."""
    return np.concatenate([edges[:, 0], edges[:, 2]]), np.concatenate([2 * edges[:, 1], 2 * edges[:, 1] + 1])


def tokens_of(edges: np.ndarray, per_node: int = 4, **options: bool | int) -> np.ndarray:
    return RelationTokens(2 * RELATIONS, per_node, **options).of(*both_ways(edges), NODES)


def by_hand(edges: np.ndarray, node: int) -> set[int]:
    out = {2 * int(r) for h, r, _ in edges if h == node}
    return out | {2 * int(r) + 1 for _, r, t in edges if t == node}


def test_tokens_are_the_distinct_relations_of_a_node_in_order() -> None:
    edges = random_edges(0)
    found = tokens_of(edges, per_node=2 * RELATIONS)
    for node in range(NODES):
        expected = sorted(by_hand(edges, node))
        assert found[node].tolist() == expected + [2 * RELATIONS] * (2 * RELATIONS - len(expected))


def test_directions_can_have_slots_of_their_own() -> None:
    edges = random_edges(0)
    found = tokens_of(edges, per_node=RELATIONS, by_direction=True)
    for node in range(NODES):
        out, into = (sorted(token for token in by_hand(edges, node) if token % 2 == way) for way in (0, 1))
        assert [token for token in found[node, :RELATIONS] if token < 2 * RELATIONS] == out
        assert [token for token in found[node, RELATIONS:] if token < 2 * RELATIONS] == into


@pytest.mark.parametrize("by_direction", [False, True])
def test_too_many_relations_are_sampled_by_the_seed_and_the_set_alone(by_direction: bool) -> None:
    edges = random_edges(1, 800)
    found = tokens_of(edges, 3, by_direction=by_direction)
    assert set(found[0].tolist()) <= by_hand(edges, 0)
    number = np.random.default_rng(2).permutation(NODES)
    moved = np.stack([number[edges[:, 0]], edges[:, 1], number[edges[:, 2]]], axis=1)[::-1]
    assert np.array_equal(tokens_of(moved, 3, by_direction=by_direction)[number], found)
    assert not np.array_equal(tokens_of(edges, 3, by_direction=by_direction, seed=1), found)


def test_one_more_relation_displaces_at_most_one_token() -> None:
    edges = random_edges(1, 100)
    before, after = tokens_of(edges, 3), tokens_of(np.concatenate([edges, [[0, 3, 1]]]), 3)
    for node in range(NODES):
        assert len(set(after[node].tolist()) - set(before[node].tolist())) <= 1
    assert (before[2:] == after[2:]).all()


def test_a_node_without_edges_has_only_padding() -> None:
    assert (tokens_of(random_edges(0))[-5:] == 2 * RELATIONS).all()
    nothing = np.empty((0, 3), np.int64)
    assert (tokens_of(nothing) == 2 * RELATIONS).all()


def test_neighbours_are_those_of_both_directions() -> None:
    edges = random_edges(3, 40)
    neighbours = Neighbours.along(edges[:, 0], edges[:, 2], NODES)
    for node in range(NODES):
        expected = [int(t) for h, _, t in edges if h == node] + [int(h) for h, _, t in edges if t == node]
        assert sorted(neighbours.of[neighbours.offsets[node] : neighbours.offsets[node + 1]]) == sorted(expected)


def distances_from(neighbours: Neighbours, start: int) -> dict[int, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for other in neighbours.of[neighbours.offsets[node] : neighbours.offsets[node + 1]].tolist():
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return found


def nearest_by_hand(neighbours: Neighbours, anchors: np.ndarray, per_node: int) -> list[list[tuple[int, int]]]:
    """For each node its nearest (distance, anchor) pairs."""
    reached = [distances_from(neighbours, int(node)) if node >= 0 else {} for node in anchors]
    every = range(neighbours.num_nodes)
    return [sorted((found[node], i) for i, found in enumerate(reached) if node in found)[:per_node] for node in every]


def as_pairs(found: NearestAnchors) -> list[list[tuple[int, int]]]:
    rows = zip(found.distances.tolist(), found.anchors.tolist(), strict=True)
    return [[pair for pair in zip(*row, strict=True) if pair[1] >= 0] for row in rows]


@pytest.mark.parametrize("seed", range(4))
def test_nearest_anchors_are_those_of_a_search_from_each(seed: int) -> None:
    edges = random_edges(seed, 45 + 20 * seed)
    neighbours = Neighbours.along(edges[:, 0], edges[:, 2], NODES)
    anchors = np.random.default_rng(seed).permutation(NODES)[:12]
    anchors[3] = -1
    found = NearestAnchors.of(neighbours, anchors, 4)
    assert as_pairs(found) == nearest_by_hand(neighbours, anchors, 4)


@pytest.mark.parametrize("seed", range(6))
def test_anchors_after_growth_are_those_from_scratch(seed: int) -> None:
    edges = random_edges(seed, 60)
    anchors = np.random.default_rng(seed).permutation(NODES + 3)[:9]
    grown_edges = np.concatenate([edges, [[NODES, 0, 1], [NODES + 1, 0, NODES], [2, 1, 30], [57, 1, 58]]])
    before = Neighbours.along(edges[:, 0], edges[:, 2], NODES)
    after = Neighbours.along(grown_edges[:, 0], grown_edges[:, 2], NODES + 3)
    old = NearestAnchors.of(before, np.where(anchors < NODES, anchors, -1), 3)
    kept = old.anchors.copy()
    found, changed = old.after(after, anchors, grown_edges[60:, 0], grown_edges[60:, 2])
    scratch = NearestAnchors.of(after, anchors, 3)
    assert as_pairs(found) == as_pairs(scratch)
    assert np.array_equal(old.anchors, kept), "the old table is left as it was"
    differing = (found.anchors[:NODES] != old.anchors).any(axis=1) | (found.distances[:NODES] != old.distances).any(1)
    assert set(np.flatnonzero(differing)) | {NODES, NODES + 1, NODES + 2} <= set(changed.tolist())


def test_anchors_are_hubs_then_what_they_leave_out_then_chance() -> None:
    edges = random_edges(5, 200)
    neighbours = Neighbours.along(edges[:, 0], edges[:, 2], NODES)
    chosen = select_anchors(neighbours, 20, seed=1)
    assert len(set(chosen.tolist())) == 20
    assert (neighbours.degrees[chosen] > 0).all()
    hubs = np.argsort(-neighbours.degrees, kind="stable")[:8]
    assert chosen[:8].tolist() == hubs.tolist()
    assert np.array_equal(chosen, select_anchors(neighbours, 20, seed=1))
    assert not np.array_equal(chosen[16:], select_anchors(neighbours, 20, seed=2)[16:])
    everyone = select_anchors(neighbours, 1000)
    assert len(everyone) == int((neighbours.degrees > 0).sum())


def test_ranks_are_the_stationary_distribution_of_the_walk() -> None:
    edges = random_edges(6, 120)
    neighbours = Neighbours.along(edges[:, 0], edges[:, 2], NODES)
    begins = np.zeros(NODES, bool)
    begins[[0, 1, 2]] = neighbours.degrees[[0, 1, 2]] > 0
    matrix = np.zeros((NODES, NODES))
    for head, _, tail in edges:
        matrix[head, tail] += 1
        matrix[tail, head] += 1
    matrix /= np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    restart = begins / begins.sum()
    expected = np.linalg.solve(np.eye(NODES) - 0.85 * matrix.T, 0.15 * restart)
    assert personalised_rank(neighbours, begins) == pytest.approx(expected, abs=2e-2)
    assert personalised_rank(neighbours, begins).sum() == pytest.approx(1)
