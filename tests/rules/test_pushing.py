"""Frontiers: where walks end, and the part of a graph around them."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.graph import KnowledgeGraph
from unseen.rules.adjacency import Adjacency, adjacency_of
from unseen.rules.part_of_graph import HUB, part_around
from unseen.rules.pushing import RESTART, WIDE, PushLimits, pushed

ROOM = PushLimits(10_000, 100_000)


def random_world(seed: int = 0, entities: int = 60, edges: int = 240) -> KnowledgeGraph:
    """A graph with two relations and a hub, entity e0."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, entities, (edges, 2))
    triples = [(f"e{head}", "rs"[number % 2], f"e{tail}") for number, (head, tail) in enumerate(ends)]
    return KnowledgeGraph.from_triples(triples + [("e0", "r", f"e{number}") for number in range(entities)])


def star(leaves: int) -> KnowledgeGraph:
    """A hub with many leaves, each with one neighbour of its own."""
    spokes = [("hub", "has", f"leaf{number}") for number in range(leaves)]
    return KnowledgeGraph.from_triples([*spokes, *((f"leaf{n}", "owns", f"thing{n}") for n in range(leaves))])


@pytest.fixture
def adjacency() -> Adjacency:
    return adjacency_of(random_world())


def from_one(adjacency: Adjacency, entity: int, limits: PushLimits = ROOM) -> dict[int, float]:
    """The masses around one entity."""
    found, masses = pushed(adjacency, np.array([entity], np.int32), np.ones(1), limits)
    return dict(zip(found.tolist(), masses.tolist(), strict=True))


class TestPushing:
    def test_masses_are_those_of_personalised_pagerank(self, adjacency: Adjacency) -> None:
        count = adjacency.num_entities
        starts = adjacency.row_edges[adjacency.entity_rows]
        step = np.zeros((count, count))
        for entity in range(count):
            near = adjacency.near[starts[entity] : starts[entity + 1]]
            np.add.at(step, (near, entity), 1 / max(1, len(near)))
        source = np.eye(count)[5]
        exact = RESTART * np.linalg.solve(np.eye(count) - (1 - RESTART) * step, source)
        found = from_one(adjacency, 5)
        assert found == pytest.approx({entity: exact[entity] for entity in found}, abs=2e-3)
        assert set(np.flatnonzero(exact > 1e-3)) <= set(found)

    def test_limits_hold(self, adjacency: Adjacency) -> None:
        assert len(from_one(adjacency, 5, PushLimits(7, 100_000))) == 7
        assert len(from_one(adjacency, 5, PushLimits(10_000, 1))) <= 1 + np.diff(adjacency.entity_rows).sum()

    def test_it_is_the_same_every_time(self, adjacency: Adjacency) -> None:
        assert from_one(adjacency, 3) == from_one(adjacency, 3)

    def test_a_hub_is_not_expanded_for_little_mass(self) -> None:
        graph = star(WIDE // 2)
        leaf = graph.vocabulary.entity_id("leaf7")
        found = from_one(adjacency_of(graph), leaf, PushLimits(10_000, 8))
        assert graph.vocabulary.entity_id("thing7") in found
        assert len(found) <= 3

    def test_of_a_wide_source_a_sample_is_followed(self) -> None:
        graph = star(WIDE + 1)
        found = from_one(adjacency_of(graph), graph.vocabulary.entity_id("hub"), PushLimits(10_000, 1))
        assert 1 < len(found) < WIDE // 2

    def test_nothing_comes_of_nothing(self, adjacency: Adjacency) -> None:
        found, masses = pushed(adjacency, np.empty(0, np.int32), np.empty(0), ROOM)
        assert len(found) == len(masses) == 0


class TestParts:
    def edges(self, graph: KnowledgeGraph, chosen: list[int]) -> set[tuple[int, int, int]]:
        """The directed edges between some entities by place."""
        place = {entity: number for number, entity in enumerate(chosen)}
        columns = zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True)
        inside = [(place[h], r, place[t]) for h, r, t in columns if h in place and t in place]
        return {(h, 2 * r, t) for h, r, t in inside} | {(t, 2 * r + 1, h) for h, r, t in inside}

    def found(self, graph: KnowledgeGraph, ranked: list[int], nodes: int = 100, edges: int = 100_000) -> set:  # type: ignore[type-arg]
        part = part_around(adjacency_of(graph), np.array(ranked, np.int32), nodes, edges)
        targets = np.repeat(np.arange(len(part.entities)), np.diff(part.offsets))
        found = list(zip(part.sources.tolist(), part.relations.tolist(), targets.tolist(), strict=True))
        assert len(set(found)) == len(found)
        return set(found)

    def test_a_part_has_all_edges_between_its_entities(self) -> None:
        graph, chosen = random_world(), [0, 3, 7, 20, 21, 22, 59]
        assert self.found(graph, [*chosen, 3, 0]) == self.edges(graph, chosen)

    def test_edges_of_hubs_are_met_at_their_other_ends(self) -> None:
        graph = star(HUB + 5).extended_with([("hub", "near", "centre"), ("hub", "near", "hub")])
        graph = graph.extended_with([("centre", "has", f"leaf{number}") for number in range(HUB + 5)])
        chosen = [graph.vocabulary.entity_id(name) for name in ("hub", "leaf3", "centre", "thing3", "leaf9")]
        assert self.found(graph, chosen) == self.edges(graph, chosen)

    def test_limits_hold(self) -> None:
        adjacency = adjacency_of(random_world())
        everything = np.arange(60, dtype=np.int32)
        assert len(part_around(adjacency, everything, 9, 100_000).entities) == 9
        small = part_around(adjacency, everything, 60, 30)
        assert 0 < small.degrees.sum() <= 30
        assert len(small.sources) <= 60

    def test_degrees_are_those_in_the_whole_graph(self) -> None:
        graph = random_world()
        part = part_around(adjacency_of(graph), np.array([4, 0], np.int32), 9, 100_000)
        both = np.concatenate([graph.heads, graph.tails])
        assert part.degrees.tolist() == [(both == 4).sum(), (both == 0).sum()]
