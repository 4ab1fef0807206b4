"""Rules that conclude one link, and the edges that ground them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from tests.rules.worlds import family
from unseen.graph import KnowledgeGraph
from unseen.logic.link import Link
from unseen.rules.adjacency import adjacency_of
from unseen.rules.groundings import all_grounded, grounded
from unseen.rules.link_rules import best_confidence, link_rules
from unseen.rules.mining import mine
from unseen.rules.relation_rules import paths_among, relation_paths
from unseen.rules.shared_properties import shared_properties

Triple = tuple[str, str, str]


def link_of(graph: KnowledgeGraph, triple: Triple) -> Link:
    names = graph.vocabulary
    return Link(names.entity_id(triple[0]), names.relation_id(triple[1]), names.entity_id(triple[2]))


def random_graph(seed: int, entities: int = 12, edges: int = 60) -> KnowledgeGraph:
    random = np.random.default_rng(seed)
    columns = random.integers(entities, size=(2, edges)), random.integers(3, size=edges)
    named = zip(columns[0][0], columns[1], columns[0][1], strict=True)
    return KnowledgeGraph.from_triples([(f"e{head}", f"r{relation}", f"e{tail}") for head, relation, tail in named])


def directed_edges(graph: KnowledgeGraph) -> set[tuple[int, int, int]]:
    forwards = list(zip(graph.heads.tolist(), (2 * graph.relations).tolist(), graph.tails.tolist(), strict=True))
    return {*forwards, *((tail, relation + 1, head) for head, relation, tail in forwards)}


@pytest.mark.parametrize("steps", [(0,), (3,), (0, 2), (1, 5), (0, 2, 4), (3, 1, 0)])
def test_a_path_is_found_exactly_where_there_is_one(steps: tuple[int, ...]) -> None:
    graph = random_graph(len(steps))
    adjacency, there = adjacency_of(graph), directed_edges(graph)
    for source, target in permutations(range(graph.num_entities), 2):
        inner = permutations(set(range(graph.num_entities)) - {source, target}, len(steps) - 1)
        ways = [(source, *between, target) for between in inner]
        exists = any(all((way[i], step, way[i + 1]) in there for i, step in enumerate(steps)) for way in ways)
        found = grounded(adjacency, steps, source, target)
        assert bool(found) == exists
        assert all((found[i], step, found[i + 1]) in there for i, step in enumerate(steps) if found)


def test_the_first_grounded_bodies_are_given_in_their_order() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c"), ("a", "t", "c")])
    bodies = np.array([[2, -1, -1], [0, 2, -1], [4, -1, -1]], np.int32)
    a, b, c = (graph.vocabulary.entity_id(name) for name in "abc")
    assert all_grounded(adjacency_of(graph), bodies, a, c, 5) == [(1, (a, b, c)), (2, (a, c))]
    assert all_grounded(adjacency_of(graph), bodies, a, c, 1) == [(1, (a, b, c))]


def test_a_predicted_link_has_rules_with_the_edges_that_ground_them() -> None:
    world = family()
    graph, link = world.graph, link_of(world.graph, world.hidden[0])
    for paths in (relation_paths(graph, link.relation), paths_among(mine(graph), link.relation)):
        found = link_rules(graph, paths, link, 20)
        best = found[0].rule
        assert str(best) == "grandparent_of(x, z) <- parent_of(x, y), parent_of(y, z)"
        assert best.confidence > 0.85
        assert (best.example[0][0], best.example[1][2]) == (world.hidden[0][0], world.hidden[0][2])
        assert set(best.example) <= set(graph.triples())
        worth = [one.rule.confidence * 0.9 ** len(one.rule.example) for one in found]
        assert worth == sorted(worth, reverse=True)
        assert best_confidence(graph, paths, link) >= best.confidence


def test_rules_of_a_relation_are_mined_once_for_a_graph() -> None:
    graph = family().graph
    assert relation_paths(graph, 0) is relation_paths(graph, 0)
    assert relation_paths(graph, 0) is not relation_paths(graph, 1)


def test_properties_are_counted_in_full_without_the_entity_itself() -> None:
    graph = random_graph(7, edges=90)
    adjacency, there = adjacency_of(graph), directed_edges(graph)
    for x, c in permutations(range(graph.num_entities), 2):
        members = {member for member, relation, tail in there if (relation, tail) == (0, c)} - {x}
        for found in shared_properties(adjacency, x, 0, c):
            others = {
                other
                for other, relation, value in there
                if relation == found.relation and found.value in (-1, value) and other != x
            }
            assert (found.support, found.pairs) == (len(members & others), len(others))
            if found.example >= 0:
                assert (x, found.relation, found.example) in there
            assert (found.relation, found.value) != (0, c)


CITIES = [
    *((f"city{number}", "is_a", "City") for number in range(10)),
    *((f"city{number}", "has", "mayor") for number in range(9)),
    *((f"village{number}", "has", "church") for number in range(10)),
    *((f"village{number}", "is_a", "Village") for number in range(10)),
]


def test_a_property_that_others_share_is_a_reason() -> None:
    graph = KnowledgeGraph.from_triples(CITIES)
    link = link_of(graph, ("city9", "has", "mayor"))
    best = link_rules(graph, relation_paths(graph, link.relation), link, 3)[0]
    assert not best.is_about_pairs
    assert str(best.rule) == "has(x, mayor) <- is_a(x, City)"
    assert (best.rule.support, best.rule.pairs, best.rule.example) == (9, 9, (("city9", "is_a", "City"),))


def test_the_same_rule_is_found_when_it_is_asked_for_from_the_other_end() -> None:
    graph = KnowledgeGraph.from_triples(CITIES)
    forwards = link_of(graph, ("city9", "has", "mayor"))
    back = Link(forwards.target, forwards.relation ^ 1, forwards.source)
    assert forwards.triple == back.triple
    best = link_rules(graph, relation_paths(graph, back.relation), back, 3)[0]
    assert str(best.rule) == "has(x, mayor) <- is_a(x, City)"


def test_a_property_that_says_nothing_is_no_reason() -> None:
    everyone = [(f"city{number}", "on", "Earth") for number in range(10)]
    everyone += [(f"village{number}", "on", "Earth") for number in range(10)]
    graph = KnowledgeGraph.from_triples([*CITIES, *everyone])
    link = link_of(graph, ("city9", "has", "mayor"))
    rules = [str(one.rule) for one in link_rules(graph, relation_paths(graph, link.relation), link, 10)]
    assert "has(x, mayor) <- is_a(x, City)" in rules
    assert not any(rule.startswith("has(x, mayor) <- on(") for rule in rules)


def test_of_several_rules_by_way_of_the_same_entities_only_the_best_is_given() -> None:
    people = [(f"a{i}", f"b{i}", f"c{i}") for i in range(9)]
    edges = [("parent_of", 0, 1), ("parent_of", 1, 2), ("raised", 0, 1), ("raised", 1, 2)]
    facts = [(who[head], name, who[tail]) for who in people for name, head, tail in edges]
    grand = [(who[0], "grandparent_of", who[2]) for who in people[1:]]
    graph = KnowledgeGraph.from_triples([*facts, *grand])
    link = link_of(graph, ("a0", "grandparent_of", "c0"))
    found = link_rules(graph, relation_paths(graph, link.relation), link, 10)
    ways = [frozenset(name for edge in one.rule.example for name in (edge[0], edge[2])) for one in found]
    assert sum("b0" in way for way in ways) == 1


def test_a_link_that_nothing_speaks_for_has_no_rules() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "s", "d")])
    link = Link(0, 0, graph.vocabulary.entity_id("d"))
    paths = relation_paths(graph, 0)
    assert link_rules(graph, paths, link, 3) == []
    assert best_confidence(graph, paths, link) == 0


def test_whether_a_graph_has_the_edge_of_a_link() -> None:
    graph = random_graph(3)
    there = directed_edges(graph)
    everything = range(graph.num_entities)
    for source, relation, target in ((s, r, t) for s in everything for r in range(6) for t in everything):
        assert Link(source, relation, target).is_in(graph) == ((source, relation, target) in there)


def test_rules_that_only_differ_in_constants_are_given_once() -> None:
    facts = [(f"x{i}", relation, tail) for i in range(8) for relation, tail in (("speaks", "A"), ("speaks", "B"))]
    facts += [(f"x{i}", "part_of", "C") for i in range(8)] + [(f"x{i}", "is_a", "D") for i in range(7)]
    facts += [(f"y{i}", "is_a", "E") for i in range(8)]
    graph = KnowledgeGraph.from_triples(facts)
    none = mine(graph, samples=20).paths.take(np.zeros(0, np.int64))
    found = link_rules(graph, none, link_of(graph, ("x7", "is_a", "D")), 3)
    assert sorted(one.rule.body[0][1] for one in found) == ["is_a", "part_of", "speaks"]
