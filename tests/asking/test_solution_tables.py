"""Counts, groups, display values and order: exact against a SPARQL engine, expected counts against sums."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

import unseen
from tests.logic.test_joins import by_engine, random_graph, table_of
from unseen.asking.preparing import prepare_exactly
from unseen.asking.solution_tables.uncertain_count import UncertainCount
from unseen.errors import QueryRefused
from unseen.graph import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.asking.answers import Answers

TABLES = int(os.environ.get("UNSEEN_JOIN_QUERIES", "300"))
"""Random queries that are held against the engine."""


def random_table(random: Random, names: Sequence[str]) -> str:  # noqa: C901  # one branch for each construct
    """A SELECT with constructs that are computed around a pattern."""

    def term(variable: str) -> str:
        return f"?{variable}" if random.random() < 0.85 else f":{random.choice(names)}"

    sign = random.choice(["", "", "", "+", "*", "?"])
    parts = [f"?x :r{random.randrange(3)}{sign} {term('y')} ."]
    if random.random() < 0.6:
        parts.append(f"{term('y')} :r{random.randrange(3)} {random.choice(['?z', '?x'])} .")
    bound = [name for name in "xyz" if f"?{name}" in " ".join(parts)]
    extra = random.random()
    if extra < 0.2:
        parts.append(f"OPTIONAL {{ ?x :r{random.randrange(3)} ?w }}")
        bound.append("w")
    elif extra < 0.35:
        parts.append("BIND(STRLEN(STR(?x)) AS ?w)")
        bound.append("w")
    elif extra < 0.45:
        parts.append(f'FILTER(STRENDS(STR(?x), "{random.randrange(7)}"))')
    elif extra < 0.55:
        parts.append("{ SELECT ?x (COUNT(?v) AS ?w) { ?x :r0 ?v } GROUP BY ?x }")
        bound.append("w")
    elif extra < 0.65:
        parts.append(f"MINUS {{ ?x :r{random.randrange(3)} :{random.choice(names)} }}")
    elif extra < 0.75:
        parts.append(f"{{ ?x :r0 ?u }} UNION {{ ?x :r1 ?u . ?u :r2 :{random.choice(names)} }}")
        bound.append("u")
    where = f"WHERE {{ {' '.join(parts)} }}"
    if random.random() < 0.5:
        key, counted = random.choice(bound), random.choice(bound)
        count = random.choice([f"COUNT(?{counted})", f"COUNT(DISTINCT ?{counted})", "COUNT(*)"])
        having = f" HAVING ({count} {random.choice(['>', '<=', '='])} {random.randint(1, 2)})" if extra < 0.3 else ""
        if random.random() < 0.3:
            return f"SELECT ({count} AS ?n) {where}"
        return f"SELECT ?{key} ({count} AS ?n) {where} GROUP BY ?{key}{having}"
    chosen = random.sample(bound, random.randint(1, len(bound)))
    every = " ".join(f"?{name}" for name in chosen)
    paging = f" LIMIT {random.randint(1, 9)} OFFSET {random.randint(0, 3)}" if random.random() < 0.3 else ""
    distinct = "DISTINCT " if random.random() < 0.3 else ""
    return f"SELECT {distinct}{every} {where} ORDER BY {every}{paging}"


def rows_of(answers: Answers) -> list[tuple[str | None, ...]]:
    return [tuple(one.values.get(name) for name in answers.variables) for one in answers]


def test_without_predictions_random_tables_are_those_of_an_engine() -> None:
    random, answered = Random(3), Counter[str]()
    for _ in range(TABLES):
        facts = random_graph(random)
        graph = KnowledgeGraph.from_triples(facts)
        text = random_table(random, sorted({name for head, _, tail in facts for name in (head, tail)}))
        try:
            answers = unseen.ask(graph, text, method="exact", top=100_000)
        except unseen.UnseenError:
            continue
        expected = by_engine(facts, text)
        if prepare_exactly(graph, text).table is None:  # answers are no table: each is there once
            found = {tuple(one.values.values()) or (one.entity,) for one in answers}
            assert found == set(expected) or "LIMIT" in text, (facts, text)
            continue
        assert sorted(rows_of(answers), key=str) == expected, (facts, text)
        for word in ("GROUP", "HAVING", "OPTIONAL", "BIND", "FILTER", "UNION", "MINUS", "OFFSET", "DISTINCT", "+", "*"):
            answered[word] += word in text
    assert min(answered.values()) > TABLES / 60, answered


def test_with_predictions_known_counts_stay_those_of_an_engine() -> None:
    random, compared = Random(4), 0
    for _ in range(40):
        facts = random_graph(random)
        graph = KnowledgeGraph.from_triples(facts)
        text = random_table(random, sorted({name for head, _, tail in facts for name in (head, tail)}))
        if "GROUP BY" not in text.split("}")[-1] or "HAVING" in text:
            continue
        try:
            answers = unseen.ask(graph, text, method=table_of(graph, 5), top=1000)
        except unseen.UnseenError:
            continue
        key, place = answers.variables[0], answers.variables.index("n")
        known = [row for row, one in zip(rows_of(answers), answers, strict=True) if one.known]
        assert sorted(((row[0], row[place]) for row in known), key=str) == by_engine(facts, text), (key, facts, text)
        compared += 1
    assert compared > 5


def test_an_expected_count_is_the_sum_of_the_probabilities() -> None:
    graph = KnowledgeGraph.from_triples(random_graph(Random(1), 30, 3, 60))
    method = table_of(graph, 2)
    single = unseen.ask(graph, "?x : r0(e1, x)", method=method, top=1000)
    total = sum(one.probability for one in single)
    for question in (
        "count x : r0(e1, x)",
        "SELECT (COUNT(?x) AS ?count) { :e1 :r0 ?x }",
        "SELECT (COUNT(DISTINCT ?x) AS ?count) { ?y :r0 ?x FILTER(?y = :e1) }",
    ):
        (counted,) = unseen.ask(graph, question, method=method)
        assert int(counted.values["count"]) == single.known
        assert float(counted.values["count_expected"]) == pytest.approx(total, abs=0.02)
        low, high = int(counted.values["count_low"]), int(counted.values["count_high"])
        assert single.known <= low <= total + 1
        assert total - 1 <= high
    groups = unseen.ask(graph, "?c, count x : r0(c, x)", method=method, top=50)
    (own,) = (one for one in groups if one.values["c"] == "e1")
    assert float(own.values["count_expected"]) == pytest.approx(total, abs=0.02)


def test_having_is_a_probability() -> None:
    graph = KnowledgeGraph.from_triples(random_graph(Random(1), 30, 3, 60))
    method = table_of(graph, 2)
    text = "SELECT ?c (COUNT(?x) AS ?n) { ?c :r0 ?x } GROUP BY ?c HAVING (COUNT(?x) > 1)"
    answers = unseen.ask(graph, text, method=method, top=50)
    assert {one.known for one in answers} == {True, False}
    for one in answers:
        assert one.known == (int(one.values["n"]) > 1)
        assert one.probability == pytest.approx(1) if one.known else 0 < one.probability <= 1
    alone = unseen.ask(graph, text.replace("(COUNT(?x) AS ?n) ", ""), method=method, top=50)
    chances = {one.values["c"]: one.probability for one in answers}
    assert {one.values["c"]: one.probability for one in alone} == pytest.approx(chances)


@pytest.mark.parametrize(
    ("selected", "having"),
    [
        ("?c (COUNT(?x) AS ?n)", "?n > 1"),
        ("?c (COUNT(DISTINCT ?x) AS ?n)", "COUNT(*) > 1"),
        ("?c", "COUNT(?x) > 1"),
    ],
)
def test_having_may_name_a_count_or_have_one_of_its_own(selected: str, having: str) -> None:
    graph = KnowledgeGraph.from_triples(random_graph(Random(1), 30, 3, 60))
    pattern = "{ ?c :r0 ?x } GROUP BY ?c HAVING"
    plain = unseen.ask(graph, f"SELECT ?c (COUNT(?x) AS ?n) {pattern} (COUNT(?x) > 1)", method="exact", top=100)
    names = {one.values["c"] for one in plain}
    assert names
    text = f"SELECT {selected} {pattern} ({having})"
    assert {one.values["c"] for one in unseen.ask(graph, text, method="exact", top=100)} == names
    answers = unseen.ask(graph, text, method=table_of(graph, 2), top=100)
    assert {one.values["c"] for one in answers if one.known} == names
    assert all(one.probability == pytest.approx(1) for one in answers if one.known)
    assert all("having" not in name for name in answers.variables)


def test_the_number_of_uncertain_things() -> None:
    count = UncertainCount.of(2, [0.5, 0.5])
    assert count.chance(">", 3) == pytest.approx(0.25)
    assert count.chance("=", 3) == pytest.approx(0.5)
    assert UncertainCount.of(7, []).chance("=", 7) == 1


def test_display_values_and_order_with_predictions() -> None:
    graph = unseen.load("countries")
    text = "SELECT ?x ?m { ?x :borders :France OPTIONAL { ?x :uses_currency ?m } } ORDER BY DESC(?score) ?x LIMIT 12"
    answers = unseen.ask(graph, text, method="edge-type")
    plain = unseen.ask(graph, "?x : borders(x, France)", method="edge-type", top=30)
    assert answers.known >= 8
    assert {one.values["x"] for one in answers if one.known} == {one.entity for one in plain if one.known}
    probable = {one.entity: one.probability for one in plain}
    for one in answers:
        assert one.probability == pytest.approx(probable[one.values["x"]], abs=1e-6)
    assert any("m" in one.values for one in answers)


@pytest.mark.parametrize(
    ("text", "reason", "shown"),
    [
        ("SELECT ?x { ?x :borders ?y } HAVING (SUM(?y) > 3)", "HAVING compares one count", "HAVING"),
        ("SELECT (COUNT(?x) AS ?n) { ?x :borders ?y } GROUP BY (STR(?y))", "name an expression by BIND", "("),
        ("SELECT ?x { { SELECT ?x { ?x :borders ?y } } }", "no pattern of its own", "{"),
        ("SELECT ?x { OPTIONAL { ?x :speaks ?y } ?y :borders ?x } ORDER BY ?x", "put OPTIONAL after", "OPTIONAL"),
        ("SELECT ?x { ?x :borders ?y GRAPH ?g { ?x :speaks ?y } } ORDER BY ?x", "GRAPH does not go", "GRAPH"),
    ],
)
def test_what_does_not_work_is_refused_with_its_place(text: str, reason: str, shown: str) -> None:
    graph = unseen.load("countries")
    with pytest.raises(QueryRefused, match=reason) as caught:
        unseen.ask(graph, text, method="edge-type")
    assert caught.value.position is not None
    assert text[caught.value.position :].startswith(shown)


def test_repeated_relations() -> None:
    chain = [(f"e{n}", "next", f"e{n + 1}") for n in range(6)] + [("e9", "next", "e0"), ("a", "likes", "e3")]
    graph = KnowledgeGraph.from_triples(chain)
    for question, expected in {
        "?x : next+(e3, x)": {"e4", "e5", "e6"},
        "?x : next*(e4, x)": {"e4", "e5", "e6"},
        "?x : next?(e4, x)": {"e4", "e5"},
        "?x : next+(x, e1)": {"e0", "e9"},
        "?x : exists y . likes(a, y) & next+(y, x)": {"e4", "e5", "e6"},
        "?x : next+(e3, x) & !next+(e5, x)": {"e4", "e5"},
    }.items():
        assert {one.entity for one in unseen.ask(graph, question, method="exact", top=99)} == expected, question
    predicted = unseen.ask(graph, "?x : next+(e5, x)", method=table_of(graph, 0), top=99)
    assert {one.entity for one in predicted if one.known} == {"e6"}
    links = table_of(graph, 0).links[0]
    ids = graph.vocabulary.entity_id
    starts = [ids("e5"), ids("e6")]
    one_link = links[starts].max(0)
    two_links = (one_link[:, None] * links).max(0)
    for one in predicted:
        place = ids(one.entity)
        either = 1 - (1 - one_link[place]) * (1 - two_links[place])
        assert one.known or one.probability == pytest.approx(either, abs=1e-5)
