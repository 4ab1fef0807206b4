"""Kinds of things, ends of relations, what is new, and questions that can have no answer."""

from __future__ import annotations

import pytest

import unseen
from unseen.errors import QueryRefused, UnknownName
from unseen.graph import KnowledgeGraph

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
FACTS = [
    ("France", "borders", "Spain"),
    ("Spain", "borders", "Portugal"),
    ("France", "borders", "Rhine"),
    ("Portugal", "borders", "Ocean"),
    ("Paris", "capital_of", "France"),
    ("Madrid", "capital_of", "Spain"),
    ("Ada", "lives_in", "Paris"),
]
KINDS = [(name, "Country") for name in ("France", "Spain", "Portugal")] + [("Rhine", "River"), ("Paris", "City")]


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples([*FACTS, *((name, TYPE, kind) for name, kind in KINDS)])


@pytest.fixture(scope="module")
def table() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples([*FACTS, *((name, "is_a", kind) for name, kind in KINDS)])


def names(graph: KnowledgeGraph, question: str, method: str = "edge-type", **options: object) -> list[str]:
    return [answer.entity for answer in unseen.ask(graph, question, method=method, top=50, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question", ["?x : borders(France, x) & x a Country", "SELECT ?x { :France :borders ?x . ?x a :Country }"]
)
def test_a_kind_is_what_the_graph_records(graph: KnowledgeGraph, question: str) -> None:
    assert names(graph, question, "exact") == ["Spain"]
    assert set(names(graph, question)) == {"Spain", "Portugal"}
    assert "Ocean" in names(graph, "?x : borders(France, x)")


def test_the_user_may_name_the_relation_of_kinds(table: KnowledgeGraph) -> None:
    question = "?x : borders(France, x) & x a Country"
    with pytest.raises(QueryRefused, match="--type-relation"):
        names(table, question)
    assert set(names(table, question, type_relation="is_a")) == {"Spain", "Portugal"}
    assert set(names(table, "?x : borders(France, x) & is_a(x, Country)", type_relation="is_a")) == {
        "Spain",
        "Portugal",
    }


def test_inner_variables_have_kinds_too(graph: KnowledgeGraph) -> None:
    assert names(graph, "?x : exists y . borders(y, x) & y a Country & borders(France, y)", "exact") == ["Portugal"]
    assert names(graph, "?x : exists y . borders(y, x) & y a River & borders(France, y)", "exact") == []
    assert names(graph, "?x : x a Country & !borders(France, x)", "exact") == ["France", "Portugal"]
    assert names(graph, "?x : borders(France, x) & !x a River", "exact") == ["Spain"]


def test_which_kind_something_has_is_predicted_like_any_relation(graph: KnowledgeGraph) -> None:
    assert names(graph, "?k : France a k")[0] == "Country"
    assert "River" in names(graph, "?k : France a k")


def test_answers_like_the_ends_of_a_relation(graph: KnowledgeGraph) -> None:
    assert set(names(graph, "?x : borders(France, x)", kind="capital_of")) == {"Spain"}
    assert set(names(graph, "?x : borders(x, Spain)", kind="^borders")) <= {"France", "Spain", "Portugal"}
    assert set(names(graph, "?x : borders(France, x)", kind="question")) == {"Spain", "Rhine", "Portugal", "Ocean"}
    with pytest.raises(UnknownName, match="closest: capital_of"):
        names(graph, "?x : borders(France, x)", kind="capital")


def test_new_leaves_out_what_is_already_related(graph: KnowledgeGraph) -> None:
    assert set(names(graph, "?x : borders(France, x)", new=True)) == {"Portugal", "Ocean"}
    assert set(names(graph, "?x : borders(France, x) & x a Country", new=True)) == {"Portugal"}
    assert set(names(graph, "?x : borders+(France, x)", "exact", new=True)) == {"Portugal", "Ocean"}
    assert set(names(graph, "?x : exists y . borders(France, y) & borders(y, x) & x != y", "exact", new=True)) == {
        "Portugal"
    }
    among = "?x : exists y . borders(France, y) & borders(y, x) & y != x & x a Country"
    assert names(graph, among, "exact", new=True) == ["Portugal"]


def test_a_variable_of_which_nothing_is_said_may_be_anything(graph: KnowledgeGraph) -> None:
    answers = unseen.ask(graph, "?x : exists y . capital_of(x, y)", method="exact")
    assert [answer.entity for answer in answers] == ["Paris", "Madrid"]
    assert "nothing else said" in answers.warnings[0]
    assert names(graph, "?x : exists y . borders(x, y) & borders(x, Spain)", "exact") == ["France"]
    assert names(graph, "SELECT ?x { ?x :capital_of [] }", "exact") == ["Paris", "Madrid"]


def test_relations_that_the_graph_never_joins_are_told_beforehand(graph: KnowledgeGraph) -> None:
    answers = unseen.ask(graph, "?x : exists y . lives_in(Ada, y) & borders(y, x)", method="exact")
    assert answers.warnings == (
        "no entity of this graph is both at the end of `lives_in` and at the start of `borders`",
    )
    answers = unseen.ask(graph, "?x : capital_of(x, France) & borders(Spain, x)", method="exact")
    assert answers.warnings == (
        "no entity of this graph is both at the start of `capital_of` and at the end of `borders`",
    )
    assert unseen.ask(graph, "?x : exists y . lives_in(Ada, y) & capital_of(y, x)", method="exact").warnings == ()
    answers = unseen.ask(graph, "?x, y : lives_in(x, y) & borders(y, France)", method="exact")
    assert len(answers.warnings) == 1
    assert {"at the start of `borders`", "at the end of `lives_in`"} == set(
        answers.warnings[0].removeprefix("no entity of this graph is both ").split(" and ")
    )
    assert unseen.ask(graph, "?x, y : lives_in(x, y) & capital_of(y, France)", method="exact").warnings == ()


def test_a_name_at_the_wrong_end_of_a_relation_is_told(graph: KnowledgeGraph) -> None:
    turned = unseen.ask(graph, "?x : lives_in(Paris, x)", method="exact")
    assert turned.warnings == (
        "Paris is only at the end of `lives_in` in this graph: perhaps `lives_in(x, Paris)` is meant",
    )
    back = unseen.ask(graph, "?x : lives_in(x, Ada)", method="exact")
    assert back.warnings == (
        "Ada is only at the start of `lives_in` in this graph: perhaps `lives_in(Ada, x)` is meant",
    )
    for question in ("?x : lives_in(x, Paris)", "?x : lives_in(France, x)", "?x : borders(Portugal, x)"):
        assert unseen.ask(graph, question, method="exact").warnings == ()
