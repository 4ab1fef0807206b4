"""Errors of questions: a caret below the place, and the nearest question that works on the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import unseen
from unseen.asking import repairs
from unseen.errors import QueryError, QuerySyntaxError, UnknownName
from unseen.graph import KnowledgeGraph

if TYPE_CHECKING:
    from pathlib import Path

FACTS = [
    ("France", "borders", "Spain"),
    ("France", "borders", "Germany"),
    ("Germany", "borders", "France"),
    ("France", "speaks", "French"),
    ("Germany", "speaks", "German"),
    ("Haiti", "speaks", "Haitian Creole"),
    ("France", "is_in", "Europe"),
    ("Spain", "is_in", "Europe"),
]


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(FACTS)


REPAIRS = [
    ("borders(France, x)", "?x : borders(France, x)"),
    ("borders(Frnce, x)", "?x : borders(France, x)"),
    ("borders(x, y)", "?x, y : borders(x, y)"),
    ("borders(France, x) and speaks(x, German)", "?x : borders(France, x) & speaks(x, German)"),
    ("x : borders(France, x)", "?x : borders(France, x)"),
    ("? x : borders(France, x)", "?x : borders(France, x)"),
    ("?x borders(France, x)", "?x : borders(France, x)"),
    ("?x where borders(France, x)", "?x : borders(France, x)"),
    ("?x y : borders(x, y)", "?x, y : borders(x, y)"),
    ("count x borders(x, France)", "count x : borders(x, France)"),
    ("count : borders(x, France)", "count x : borders(x, France)"),
    ("count borders(x, France)", "count x : borders(x, France)"),
    ("France borders ?x", "?x : borders(France, ?x)"),
    ("?x : France borders x", "?x : borders(France, x)"),
    ("?x : borders(France x)", "?x : borders(France, x)"),
    ("?x : borders(France, y)", "?y : borders(France, y)"),
    ("?x : borders(x, y)", "?x : exists y . borders(x, y)"),
    ("?x : borders(?y, x)", "?x : exists y . borders(?y, x)"),
    ("?x : exist y . borders(x, y)", "?x : exists y . borders(x, y)"),
    ("?x : there exists y . borders(x, y)", "?x : exists y . borders(x, y)"),
    ("?x : exists y borders(x, y)", "?x : exists y . borders(x, y)"),
    ("?x : borders(France, x), not speaks(x, German)", "?x : borders(France, x) & !speaks(x, German)"),
    ("?x : borders(France, x) or speaks(x, German)", "?x : borders(France, x) | speaks(x, German)"),
    ("?x : borders(France, x) | | speaks(x, German)", "?x : borders(France, x) | speaks(x, German)"),
    ("?x : borders(France, x) speaks(x, German)", "?x : borders(France, x) & speaks(x, German)"),
    ("?x : (borders(France, x) & speaks(x, German)", "?x : (borders(France, x) & speaks(x, German))"),
    ("?x : borders(France, x))", "?x : borders(France, x)"),
    ("?x : borders(France, x) &", "?x : borders(France, x)"),
    ("?x : speaks(x, Haitian Creole)", '?x : speaks(x, "Haitian Creole")'),
    ("?x : speaks(x, 'Haitian Creole')", '?x : speaks(x, "Haitian Creole")'),
    ('?x : speaks(x, "Haitian Creole)', '?x : speaks(x, "Haitian Creole")'),
    ("?x : speaks(x, haitian_creole)", '?x : speaks(x, "Haitian Creole")'),
    ("?x : speaks(x)", "?x : exists y . speaks(x, y)"),
    ("?x : !borders(France, x)", "?x : exists y . borders(y, x) & !borders(France, x)"),
    ("?x : border(Frnce, x)", "?x : borders(France, x)"),
    ("?x, y : borders(x, Germny) & borders(x, y)", "?x, y : borders(x, Germany) & borders(x, y)"),
    ("?x : x a Europe", "?x : is_in(x, Europe)"),
    ("?x : borders(France x) and speeks(x y)", "?x : exists y . borders(France, x) & speaks(x, y)"),
    ("{?x | borders(x, France)}", "?x : borders(x, France)"),
    ("?x :- borders(x, France), speaks(x, German).", "?x : borders(x, France) & speaks(x, German)"),
    ("how many x : borders(x, France)", "count x : borders(x, France)"),
    ("count(?x) : borders(x, France)", "count x : borders(x, France)"),
    ("?x : exists y : borders(x, y)", "?x : exists y . borders(x, y)"),
    ("?x : borders(x, France) limit 3", "?x : borders(x, France)"),
    ("SELECT x { ?x :borders :France }", "SELECT ?x { ?x :borders :France }"),
    ("SELECT ?x { ?x borders France }", "SELECT ?x { ?x :borders :France }"),
    ("SELECT ?x { ?x :borders :France", "SELECT ?x { ?x :borders :France }"),
    ("SELECT ?x { ?x :border :Frnce }", "SELECT ?x { ?x :borders :France }"),
    ("SELECT ?x { ?x a :Europe }", "SELECT ?x { ?x :is_in :Europe }"),
    ("SELECT COUNT(?x) { ?x :borders :France }", "SELECT (COUNT(?x) AS ?n) { ?x :borders :France }"),
]


VALUE_REPAIRS = [
    ("?x : population x > 20", "?x : population(x) > 20"),
    ("?x : population > 20", "?x : population(x) > 20"),
    ("?x : population(x) > '20'", "?x : population(x) > 20"),
    ("?x : population(x) > 20,5", "?x : population(x) > 20.5"),
    ("?x : population(x) > 1,000,000", "?x : population(x) > 1000000"),
    ("?x : population(x) > 20 million", "?x : population(x) > 20000000"),
    ("?x : population(x) between 20 and 80", "?x : population(x) >= 20 & population(x) <= 80"),
    ("?x : 20 < population(x)", "?x : population(x) > 20"),
    ("?x : 20 < population(x) <= 80", "?x : population(x) > 20 & population(x) <= 80"),
    ("?x : founded(x) < '1900-01-01'", "?x : founded(x) < 1900-01-01"),
]


@pytest.mark.parametrize(("question", "better"), VALUE_REPAIRS)
def test_a_comparison_is_offered_as_it_works(question: str, better: str, tmp_path: Path) -> None:
    (tmp_path / "graph.tsv").write_text("".join(f"{one}\t{relation}\t{other}\n" for one, relation, other in FACTS))
    table = tmp_path / "values.tsv"
    table.write_text("entity\tattribute\tvalue\nFrance\tpopulation\t68.4\nFrance\tfounded\t0843-08-10\n")
    with pytest.raises(QueryError) as caught:
        unseen.ask(unseen.load(tmp_path / "graph.tsv", values=table), question, method="exact")
    assert caught.value.suggestion == better


@pytest.mark.parametrize(("question", "better"), REPAIRS)
def test_a_question_with_an_error_is_offered_as_it_works(graph: KnowledgeGraph, question: str, better: str) -> None:
    with pytest.raises(QueryError) as caught:
        unseen.ask(graph, question, method="exact")
    assert caught.value.suggestion == better
    lines = str(caught.value).splitlines()
    assert lines[-1] == f"did you mean: {better}"
    assert lines[-2].strip() == "^"
    assert lines[-3].strip() == question
    unseen.ask(graph, better, method="exact")


def test_the_caret_is_below_an_unknown_name(graph: KnowledgeGraph) -> None:
    with pytest.raises(UnknownName) as caught:
        unseen.ask(graph, "?x : borders(x, Paris)", method="exact")
    assert caught.value.position == len("?x : borders(x, ")
    assert str(caught.value).splitlines()[1:] == ["  ?x : borders(x, Paris)", " " * 18 + "^"]


@pytest.mark.parametrize("question", ["Which countries border France?", "borders(France, Spain)", "?x"])
def test_where_nothing_is_near_a_question_about_this_graph_is_shown(graph: KnowledgeGraph, question: str) -> None:
    with pytest.raises(QuerySyntaxError, match="a question that works on this graph: ") as caught:
        unseen.ask(graph, question, method="exact")
    example = str(caught.value).splitlines()[-1].partition(": ")[2]
    assert unseen.ask(graph, example, method="exact").known
    assert not caught.value.suggestion


def test_a_statement_is_told_from_a_question(graph: KnowledgeGraph) -> None:
    with pytest.raises(QuerySyntaxError, match="`unseen score` says how likely"):
        unseen.ask(graph, "borders(France, Spain)", method="exact")
    with pytest.raises(QueryError, match="unseen score"):
        unseen.ask(graph, "ASK { :France :borders :Spain }", method="exact")


def test_an_empty_graph_and_long_questions_have_their_plain_errors(graph: KnowledgeGraph) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        unseen.ask(KnowledgeGraph.from_triples([]), "Which ones?", method="exact")
    assert "did you mean" not in str(caught.value)
    with pytest.raises(QuerySyntaxError) as caught:
        unseen.ask(graph, "?x borders(France, x)" + " & borders(France, x)" * 100, method="exact")
    assert "did you mean" not in str(caught.value)


def test_few_texts_are_tried(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(repairs, "parse", lambda text, graph: tried.append(text) or repairs_parse(text, graph))
    with pytest.raises(QueryError):
        unseen.ask(graph, "? x y borders(Q x) and or not r(s t) ) exists z (", method="exact")
    assert len(tried) <= repairs.MOST_TRIES


repairs_parse = repairs.parse
