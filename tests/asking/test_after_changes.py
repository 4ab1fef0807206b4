"""Predictions after a change of the graph are those of the same graph made anew.

Those of the network may differ a little: a changed graph keeps the sample of paths at which relations were counted.
"""

from __future__ import annotations

import random

import pytest

import unseen
from unseen.api import open_method
from unseen.graph import KnowledgeGraph
from unseen.graph.deltas import Delta, changed
from unseen.logic.method import Method
from unseen.rules.opening import rules_for, use_rules

QUESTIONS = (
    "?x : borders(France, x)",
    "?x : exists y . borders(Peru, y) & speaks(y, x)",
    "?x : borders(Kenya, x) & !speaks(x, English)",
)


def made_anew(graph: KnowledgeGraph) -> KnowledgeGraph:
    return KnowledgeGraph(graph.heads, graph.relations, graph.tails, graph.vocabulary, graph.attributes)


def predictions(graph: KnowledgeGraph, question: str, method: Method) -> dict[str, float]:
    return {answer.entity: answer.probability for answer in unseen.ask(graph, question, method=method, top=5000)}


@pytest.mark.parametrize(("part", "tolerance"), [("network", 1e-3), ("rules", 1e-9)])
def test_they_are_the_same(part: str, tolerance: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSEEN_FIT", "0")
    method = open_method("rules") if part == "rules" else open_method("default").beside_rules
    graph, generator = unseen.load("countries"), random.Random(5)
    rules = rules_for(graph)
    for count in (1, 20, 100):
        use_rules(graph, rules)
        assert predictions(graph, QUESTIONS[0], method)
        facts = list(graph.triples())
        removed = generator.sample(facts, count)
        pairs = zip(removed, generator.sample(facts, count), strict=True)
        added = [(head, relation, tail) for (head, relation, _), (_, _, tail) in pairs]
        graph = changed(graph, Delta(added=[*added, ("Atlantis", "borders", "France")], removed=removed))
        fresh = made_anew(graph)
        for one in (graph, fresh):
            use_rules(one, rules)
        for question in QUESTIONS:
            found = predictions(graph, question, method)
            assert found
            assert found == pytest.approx(predictions(fresh, question, method), abs=tolerance)
