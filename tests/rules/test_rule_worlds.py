"""Facts that follow from a rule with certainty are found, and the wrong direction is not."""

from __future__ import annotations

import pytest

from tests.rules.worlds import RuleWorld, family, rule_world
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project
from unseen.methods.mined_rules import MinedRules


def hits_at_one(world: RuleWorld, forwards: bool = True) -> float:
    """The share of hidden facts whose tail is the best answer that the graph does not know."""
    graph, name = world.graph, world.graph.vocabulary
    asked = [
        (name.entity_id(head), name.relation_id(relation), name.entity_id(tail))
        for head, relation, tail in (world.hidden if forwards else [(t, r, h) for h, r, t in world.hidden])
    ]
    queries = [Project(relation if forwards else relation ^ 1, Anchor(head)) for head, relation, _ in asked]
    scores = MinedRules().answer(graph, queries).numpy()
    true: dict[tuple[int, int], list[int]] = {}
    for head, relation, tail in asked:
        true.setdefault((head, relation), []).append(tail)
    hits = 0.0
    for row, (head, relation, tail) in zip(scores, asked, strict=True):
        others = row.copy()
        sources, targets = graph.edges_from(relation if forwards else relation ^ 1)
        others[targets[sources == head]] = 0
        others[true[head, relation]] = 0
        hits += float(row[tail] > others.max())
    return hits / len(asked)


def test_every_hidden_grandparent_of_a_family_is_the_first_answer() -> None:
    world = family()
    assert len(world.hidden) >= 20
    assert hits_at_one(world) == 1.0
    assert hits_at_one(world, forwards=False) >= 0.95


@pytest.mark.parametrize("kind", ["composition", "inverse", "symmetry", "sub-relation", "attribute", "chain"])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_facts_that_follow_from_a_rule_are_first(kind: str, noise: float) -> None:
    world = rule_world(kind, noise=noise)
    assert len(world.hidden) >= 10
    assert hits_at_one(world) >= 0.95


def test_a_reversed_edge_of_an_asymmetric_relation_is_never_above_a_supported_answer() -> None:
    world = rule_world("composition", noise=0.05)
    graph = world.graph
    hidden = [(graph.vocabulary.entity_id(h), graph.vocabulary.entity_id(t)) for h, _, t in world.hidden]
    relation = graph.vocabulary.relation_id("r")
    scores = MinedRules().answer(graph, [Project(relation, Anchor(head)) for head, _ in hidden]).numpy()
    back = {}
    for head, tail in zip(*graph.edges_from(relation), strict=True):
        back.setdefault(int(tail), []).append(int(head))
    for row, (head, tail) in zip(scores, hidden, strict=True):
        assert all(row[other] < row[tail] for other in back.get(head, []) if other != tail)


def test_a_relation_that_was_just_added_has_rules() -> None:
    graph = rule_world("composition").graph
    method = MinedRules()
    method.answer(graph, [Project(0, Anchor(0))])
    first = [(head, "new", tail) for head, relation, tail in graph.triples() if relation == "a"]
    grown = graph.extended_with(first[5:])
    head, tail = (grown.vocabulary.entity_id(first[0][place]) for place in (0, 2))
    scores = method.answer(grown, [Project(grown.vocabulary.relation_id("new"), Anchor(head))])[0]
    assert int(scores.argmax()) == tail


def test_a_symmetric_relation_is_predicted_in_the_other_direction() -> None:
    borders = [("France", "borders", "Spain"), ("Spain", "borders", "France")]
    pairs = [(f"a{i}", "borders", f"b{i}") for i in range(20)]
    graph = KnowledgeGraph.from_triples([*borders, *pairs, *((t, r, h) for h, r, t in pairs)])
    grown = graph.extended_with([("Atlantis", "borders", "France")])
    france, atlantis = (grown.vocabulary.entity_id(name) for name in ("France", "Atlantis"))
    scores = MinedRules().answer(grown, [Project(0, Anchor(france))])[0]
    known = grown.vocabulary.entity_id("Spain")
    assert scores.argsort(descending=True)[:2].tolist() == [known, atlantis]
