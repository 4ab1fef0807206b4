"""Formulas with `!=`, alternatives and negation over two variables: exact against trying all pairs."""

from __future__ import annotations

import os
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

import unseen
from tests.logic.test_joins import by_graph, random_graph
from unseen.graph import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Holds = Callable[[str, str], bool]
    """Whether a formula holds for a pair of values."""

QUERIES = int(os.environ.get("UNSEEN_JOIN_QUERIES", "300"))
Facts = list[tuple[str, str, str]]


def random_formula(random: Random, facts: Facts, names: Sequence[str], depth: int) -> tuple[str, Holds]:
    """A formula over x and y, and what it means."""
    draw = random.random()
    if depth and draw < 0.6:
        (left, one), (right, other) = (random_formula(random, facts, names, depth - 1) for _ in range(2))
        if draw < 0.35:
            return f"({left} | {right})", lambda x, y: one(x, y) or other(x, y)
        return f"({left} & {right})", lambda x, y: one(x, y) and other(x, y)
    if depth and draw < 0.85:
        text, holds = random_formula(random, facts, names, depth - 1)
        return f"!({text})", lambda x, y: not holds(x, y)
    start, end, relation = random.choice("xy"), random.choice(["x", "y", random.choice(names)]), random.choice("012")
    if start != end and random.random() < 0.3:
        return f"{start} != {end}", lambda x, y: value(start, x, y) != value(end, x, y)
    return f"r{relation}({start}, {end})", lambda x, y: (value(start, x, y), f"r{relation}", value(end, x, y)) in facts


def value(term: str, x: str, y: str) -> str:
    return {"x": x, "y": y}.get(term, term)


def test_known_answers_are_those_of_trying_all_pairs() -> None:
    random = Random(5)
    for _ in range(QUERIES):
        facts = random_graph(random, edges=18)
        every = [*facts, *(("e0", f"r{number}", "e1") for number in range(3))]
        graph = KnowledgeGraph.from_triples(every)
        names = [graph.vocabulary.entity_name(entity) for entity in range(graph.num_entities)]
        relation = f"r{random.choice('012')}"
        text, holds = random_formula(random, every, names, 2)
        expected = {(x, y) for x, y in product(names, names) if (x, relation, y) in every and holds(x, y)}
        assert set(by_graph(graph, f"?x, y : {relation}(x, y) & {text}")) == expected, (every, text)
        assert set(by_graph(graph, f"?y : exists x . {relation}(x, y) & {text}")) == {(y,) for _, y in expected}, (
            every,
            text,
        )


@pytest.fixture
def family() -> KnowledgeGraph:
    parents = [("Ann", "Cid"), ("Bob", "Cid"), ("Cid", "Eve"), ("Dee", "Eve")]
    return KnowledgeGraph.from_triples([(one, "parent_of", other) for one, other in parents])


def test_two_variables_can_be_said_to_differ(family: KnowledgeGraph) -> None:
    shared = "?x, y : exists z . parent_of(x, z) & parent_of(y, z)"
    assert len(by_graph(family, shared)) == 8
    different = [("Ann", "Bob"), ("Bob", "Ann"), ("Cid", "Dee"), ("Dee", "Cid")]
    for sign in ("x != y", "!(x = y)", "y ≠ x"):
        assert by_graph(family, f"{shared} & {sign}") == different
    assert by_graph(family, "?x : parent_of(x, Cid) & x != Ann") == [("Bob",)]
    answers = unseen.ask(family, f"{shared} & x != y", method="edge-type", predicted_only=True)
    assert all(one.values["x"] != one.values["y"] for one in answers)
    with pytest.raises(unseen.UnseenError, match="stand between variables"):
        unseen.ask(family, "?x : parent_of(x, Cid) & Ann != Bob")


def test_alternatives_about_different_variables_have_known_answers_only(family: KnowledgeGraph) -> None:
    answers = unseen.ask(
        family, "?x, y : parent_of(x, y) & (parent_of(x, Cid) | parent_of(y, Eve))", method="edge-type"
    )
    assert [one.known for one in answers] == [True, True]
    assert answers.complete is False
    assert "every alternative must say something about" in answers.warnings[0]
