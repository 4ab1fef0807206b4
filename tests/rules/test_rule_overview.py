"""The list of rules that a person reads."""

from __future__ import annotations

import pytest

from tests.rules.worlds import family
from unseen.cli.rules_command import in_lines
from unseen.graph import KnowledgeGraph
from unseen.rules.mining import mine
from unseen.rules.rule_overview import RuleOverview, rule_overview


@pytest.fixture(scope="module")
def found() -> RuleOverview:
    graph = family().graph
    return rule_overview(mine(graph, samples=20), graph, None, 30)


def test_rules_are_grouped_by_what_they_conclude(found: RuleOverview) -> None:
    assert 5 < len(found) <= 30
    for relation, rules in found.groups.items():
        assert {rule.head[1] for rule in rules} == {relation}
        assert rules == sorted(rules, key=lambda rule: -rule.confidence)


def test_the_simplest_form_of_a_rule_stands_for_its_variants(found: RuleOverview) -> None:
    texts = [str(rule) for rules in found.groups.values() for rule in rules]
    wanted = "grandparent_of(x, z) <- parent_of(x, y), parent_of(y, z)"
    assert wanted in texts
    assert found.variants > 0
    longer = [
        text
        for text in texts
        if text.startswith("grandparent_of(x, z)") and "sibling_of(" in text and text.count("parent_of(") > 2
    ]
    assert longer == []


def test_directions_of_a_symmetric_relation_are_one() -> None:
    pairs = [(f"a{i}", f"b{i}") for i in range(12)]
    facts = [edge for a, b in pairs for edge in ((a, "meets", b), (b, "meets", a), (a, "knows", b), (b, "knows", a))]
    graph = KnowledgeGraph.from_triples(facts)
    rules = rule_overview(mine(graph, samples=20), graph, graph.vocabulary.relations.find("knows"), 9).groups["knows"]
    bodies = [tuple(sorted(edge[1] for edge in rule.body)) for rule in rules]
    assert bodies.count(("meets",)) == 1


def test_no_atom_is_broken() -> None:
    atoms = ["r(x, z) <-", "first(x, y)", "second(y, w)", "third(w, z)"]
    lines = in_lines(atoms, 4, 30).splitlines()
    assert lines == ["r(x, z) <- first(x, y),", "    second(y, w), third(w, z)"]
