"""Comparisons in formulas and SPARQL: what they mean, what they show, what is said when they do not fit."""

from __future__ import annotations

import pytest

import unseen
from unseen import KnowledgeGraph
from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.text import parse_formula
from unseen.logic.text_writer import to_formula

VALUES = [
    ("France", "population", 68.4),
    ("Germany", "population", 83),
    ("Spain", "population", 48.6),
    ("Spain", "population", 1),
    ("France", "founded", "0843-08-10"),
    ("Germany", "founded", "1871-01-18"),
    ("Spain", "founded", "1479"),
    ("Germany", "motto", "Einigkeit und Recht"),
    ("Spain", "motto", "Plus ultra"),
    ("Spain", "kingdom", True),
]


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    triples = [
        ("France", "borders", "Germany"),
        ("France", "borders", "Spain"),
        ("Germany", "borders", "France"),
        ("Monaco", "borders", "France"),
    ]
    return KnowledgeGraph.from_triples(triples).extended_with(values=VALUES)


def known(graph: KnowledgeGraph, question: str, **wishes: object) -> list[str]:
    return [answer.entity for answer in unseen.ask(graph, question, method="exact", **wishes)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("population(x) > 50", {"France", "Germany"}),
        ("population(x) >= 83.0", {"Germany"}),
        ("population(x) = 1", {"Spain"}),
        ("population(x) != 1", {"France", "Germany", "Spain"}),
        ("population(x) < 10 & population(x) > 40", {"Spain"}),
        ("founded(x) < 1000-01-01", {"France"}),
        ("founded(x) = 1871", {"Germany"}),
        ("founded(x) = 1871-01", {"Germany"}),
        ("founded(x) > 1479", {"Germany"}),
        ("founded(x) >= 1479", {"Germany", "Spain"}),
        ("founded(x) <= 1871", {"France", "Germany", "Spain"}),
        ('motto(x) = "Plus ultra"', {"Spain"}),
        ('motto(x) ~ "^Ein"', {"Germany"}),
        ('motto(x) ~* "ULTRA$"', {"Spain"}),
        ('motto(x) !~ "e"', {"Spain"}),
        ("kingdom(x) = true", {"Spain"}),
        ("motto(x) > 5", set()),
        ("population(x) > population(France)", {"Germany"}),
        ("borders(France, x) & !population(x) > 50", {"Spain"}),
        ("exists y . borders(x, y) & population(y) < 60", {"France"}),
        ("exists y . borders(x, y) & population(x) < population(y)", {"France"}),
    ],
)
def test_formulas_compare_recorded_values(graph: KnowledgeGraph, test: str, expected: set[str]) -> None:
    assert set(known(graph, f"?x : {test}")) == expected


def test_two_answers_are_compared(graph: KnowledgeGraph) -> None:
    assert (
        known(graph, "?x, y : borders(x, y) & population(x) > population(y)")
        == ["Germany, France", "France, Spain"][::-1]
    )


def test_values_are_shown_and_order_answers(graph: KnowledgeGraph) -> None:
    answers = unseen.ask(graph, "?x : population(x) > 0", method="exact", order_by="population desc")
    assert [(one.entity, one.attributes) for one in answers] == [
        ("Germany", {"population": "83"}),
        ("France", {"population": "68.4"}),
        ("Spain", {"population": "48.6, 1"}),
    ]
    assert answers.as_json()["answers"][0]["attributes"] == {"population": "83"}
    assert known(graph, "?x : borders(x, y) & borders(y, x)".replace("?x :", "?x : exists y ."), order_by="name") == [
        "France",
        "Germany",
    ]
    assert known(graph, "?x : exists y . borders(x, y)", order_by="founded")[-1] == "Monaco"


def test_sparql_selects_and_orders_values(graph: KnowledgeGraph) -> None:
    answers = unseen.ask(graph, "SELECT ?x ?p { ?x :population ?p } ORDER BY DESC(?p) LIMIT 3", method="exact")
    assert [one.values for one in answers] == [
        {"x": "Germany", "p": "83"},
        {"x": "France", "p": "68.4"},
        {"x": "Spain", "p": "48.6"},
    ]
    assert answers[0].keys["p"] == '"83"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert known(graph, "SELECT ?x { ?x :population ?p } ORDER BY ?p") == ["Spain", "France", "Germany"]


def test_several_values_of_one_pattern_are_one_value(graph: KnowledgeGraph) -> None:
    assert known(graph, "SELECT ?x { ?x :population ?p FILTER(?p < 10 && ?p > 40) }") == []


def test_values_with_predictions_are_known_first(graph: KnowledgeGraph) -> None:
    answers = unseen.ask(graph, "SELECT ?x ?p { ?x :borders :France ; :population ?p }", method="edge-type")
    assert answers[0].values == {"x": "Germany", "p": "83"}
    assert not any(answer.values["x"] == "Monaco" for answer in answers)


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ("?x : populaton(x) > 2", "unknown attribute 'populaton'; closest: population"),
        ("?x : borders(x) > 2", "`borders` is a relation, it has no values to compare: write `borders\\(x, y\\)`"),
        ("?x : population(x, France)", "`population` is an attribute"),
        (
            "SELECT ?x { ?x :populaton ?p FILTER(?p > 2) }",
            "populaton is not an attribute of the graph, closest: population",
        ),
        ("SELECT ?x { ?x :motto ?m FILTER(REGEX(?m, '(')) }", "is not a regular expression"),
        ("SELECT ?x { ?x :borders ?y } ORDER BY ?q", "is not bound"),
    ],
)
def test_what_does_not_fit_is_answered_with_what_does(graph: KnowledgeGraph, question: str, problem: str) -> None:
    with pytest.raises(QueryRefused, match=problem):
        known(graph, question)


@pytest.mark.parametrize(
    ("question", "warning"),
    [
        ('?x : population(x) > "2"', '`population` has numbers, and "2" is a text: write it without quotation marks'),
        ("?x : population(x) > 1900-01-01", "`population` has numbers, and 1900-01-01 is a date"),
        ("?x : motto(x) = 2", "`motto` has texts, and 2 is a number"),
        ('?x, y : borders(x, y) & population(x) > "two"', '`population` has numbers, and "two" is a text'),
        ("SELECT ?x ?p { ?x :population ?p FILTER('two' < ?p) }", '`population` has numbers, and "two" is a text'),
        ("?x : population(x) > 2", None),
        ('?x : motto(x) = "2"', None),
        ("?x : founded(x) = 1871", None),
    ],
)
def test_a_comparison_with_another_kind_of_value_is_warned_of(
    graph: KnowledgeGraph, question: str, warning: str | None
) -> None:
    warnings = unseen.ask(graph, question, method="exact").warnings
    assert warnings == (() if warning is None else (warning,))


def test_a_refusal_shows_its_place(graph: KnowledgeGraph) -> None:
    with pytest.raises(QueryRefused) as refusal:
        known(graph, "?x : borders(France, x) & size(x) > 2")
    assert refusal.value.position == len("?x : borders(France, x) & ")


@pytest.mark.parametrize("question", ["?x : population(x)", "?x : population(x) >", "?x : motto(x) ~ ultra"])
def test_unfinished_comparisons_are_syntax_errors(question: str) -> None:
    with pytest.raises(QuerySyntaxError, match="expected a"):
        parse_formula(question)


def test_comparisons_are_written_as_they_are_read() -> None:
    text = '?x : borders(France, x) & motto(x) ~ "a\\"b" & population(x) >= 2.5'
    assert to_formula(parse_formula(text)) == text
