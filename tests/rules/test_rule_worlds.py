"""Facts that follow from a rule with certainty are found, and the wrong direction is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rules.worlds import KINDS, family, hits_at_one, rule_world, turned_above_hidden
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project
from unseen.logic.traverse import step
from unseen.methods.mined_rules import MinedRules
from unseen.rules import weighing

RULES = MinedRules(samples=25)
"""A quarter of the default, which takes a fifth of the time; `benchmarks/rule_worlds.py` has the default."""


@pytest.fixture(autouse=True)
def fewer_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are weighed by fewer hidden facts."""
    monkeypatch.setattr(weighing, "MOST_FACTS", 300)


def test_every_hidden_grandparent_of_a_family_is_the_first_answer() -> None:
    world = family()
    assert len(world.hidden) >= 20
    assert hits_at_one(RULES, world) == 1.0
    assert hits_at_one(RULES, world, forwards=False) >= 0.95


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_facts_that_follow_from_a_rule_are_first(kind: str, noise: float) -> None:
    world = rule_world(kind, noise=noise)
    assert len(world.hidden) >= 10
    assert hits_at_one(RULES, world) >= 0.95


@pytest.mark.parametrize("kind", ["asymmetry", "composition", "sub-relation"])
def test_a_reversed_edge_of_an_asymmetric_relation_is_never_above_a_supported_answer(kind: str) -> None:
    world = rule_world(kind, noise=0.05)
    assert world.turned
    assert turned_above_hidden(RULES, world) == 0


def test_what_leads_to_a_source_is_no_first_prediction_where_nothing_goes_both_ways() -> None:
    random = np.random.default_rng(0)
    packages = [f"p{number}" for number in range(300)]
    needed = [f"p{int(place)}" for place in random.integers(0, 40, 900)]
    facts = [(packages[40 + number % 260], "needs", lib) for number, lib in enumerate(needed)]
    facts += [(f"p{number}", "needs", f"p{number - 1}") for number in range(41, 300)]
    graph = KnowledgeGraph.from_triples(
        [*facts, *((name, "in", f"section {i % 7}") for i, name in enumerate(packages))]
    )
    needs, turned = graph.vocabulary.relation_id("needs"), 0
    sources = graph.range_of(needs ^ 1)[0][:100]
    for source in sources.tolist():
        scores = MinedRules(samples=25).answer(graph, [Project(needs, Anchor(source))])[0].numpy().copy()
        scores[step(graph, needs, np.array([source], np.int32))] = -1
        turned += int(scores.argmax()) in step(graph, needs ^ 1, np.array([source], np.int32))
    assert turned <= 2


def test_a_relation_that_was_just_added_has_rules() -> None:
    graph = rule_world("composition").graph
    RULES.answer(graph, [Project(0, Anchor(0))])
    first = [(head, "new", tail) for head, relation, tail in graph.triples() if relation == "a"]
    grown = graph.extended_with(first[5:])
    head, tail = (grown.vocabulary.entity_id(first[0][place]) for place in (0, 2))
    scores = RULES.answer(grown, [Project(grown.vocabulary.relation_id("new"), Anchor(head))])[0]
    assert int(scores.argmax()) == tail


def test_a_symmetric_relation_is_predicted_in_the_other_direction() -> None:
    borders = [("France", "borders", "Spain"), ("Spain", "borders", "France")]
    pairs = [(f"a{i}", "borders", f"b{i}") for i in range(20)]
    graph = KnowledgeGraph.from_triples([*borders, *pairs, *((t, r, h) for h, r, t in pairs)])
    grown = graph.extended_with([("Atlantis", "borders", "France")])
    france, atlantis = (grown.vocabulary.entity_id(name) for name in ("France", "Atlantis"))
    scores = RULES.answer(grown, [Project(0, Anchor(france))])[0]
    known = grown.vocabulary.entity_id("Spain")
    assert scores.argsort(descending=True)[:2].tolist() == [known, atlantis]
