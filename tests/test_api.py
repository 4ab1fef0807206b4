"""The short door: load a graph, ask a question, get answers with names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

import unseen
from tests.conftest import FAMILY
from tests.graph.graphs import named_graph
from tests.logic.brute_force import answer_set
from tests.logic.strategies import ENTITIES, RELATIONS, queries, triples
from unseen.api import METHODS, ask_all, find_source, open_method
from unseen.asking.answers import Answer
from unseen.asking.preparing import prepare
from unseen.errors import QueryRefused, QuerySyntaxError, UnknownMethod, UnknownName, UnseenError
from unseen.logic.algebra import Anchor, And, Not, Project, Query
from unseen.logic.text_writer import to_formula
from unseen.logic.traverse import Traversal

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

Triples = list[tuple[str, str, str]]
NEIGHBOURS = "?x : borders(France, x) & !speaks(x, German)"


@pytest.fixture
def family_file(tmp_path: Path) -> Path:
    path = tmp_path / "family.tsv"
    path.write_text("".join("\t".join(triple) + "\n" for triple in FAMILY), encoding="utf-8")
    return path


def entities(answers: unseen.Answers) -> list[str]:
    return [answer.entity for answer in answers]


def test_the_short_door_offers_what_it_says() -> None:
    assert {name for name in unseen.__all__ if getattr(unseen, name) is None} == set()
    assert unseen.__version__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        unseen.nothing  # noqa: B018


def test_a_file_is_loaded_and_asked(family_file: Path) -> None:
    graph = unseen.load(family_file)
    answers = unseen.ask(graph, "?x : exists v . parent(Ada, v) & parent(v, x)")
    assert entities(answers)[: answers.known] == ["Dora", "Emil"]


def test_several_files_make_one_graph(family_file: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.nt"
    more.write_text("<urn:unseen:Emil> <urn:unseen:parent> <urn:unseen:Fay> .\n", encoding="utf-8")
    graph = unseen.load(family_file, str(more))
    assert entities(unseen.ask(graph, "?x : parent(Emil, x)", method="exact")) == ["Fay"]


def test_an_embedded_graph_is_loaded_by_name_unless_a_file_has_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_source("countries").suffix == ".tsv"
    (tmp_path / "countries").write_text("a\tr\tb\n")
    assert find_source("countries") == Path("countries")


def test_the_embedded_graph_is_as_large_as_it_must_be(countries: KnowledgeGraph) -> None:
    assert countries.num_relations >= 10
    assert countries.num_entities >= 1000
    borders = countries.range_of(countries.vocabulary.relation_id("speaks", inverse=True))[0]
    assert len(borders) >= 200


def test_neighbours_of_france_that_do_not_speak_german(countries: KnowledgeGraph) -> None:
    answers = unseen.ask(countries, NEIGHBOURS)
    assert {"Spain", "Andorra", "Monaco"} <= {answer.entity for answer in answers if answer.known}
    assert "Germany" not in entities(answers)
    assert len(answers) == 10


def test_answers_are_ranked_known_first_each_by_probability(countries: KnowledgeGraph) -> None:
    answers = unseen.ask(countries, NEIGHBOURS, top=50)
    assert [answer.rank for answer in answers] == list(range(1, 51))
    assert [answer.known for answer in answers] == [True] * answers.known + [False] * (50 - answers.known)
    for group in (answers[: answers.known], answers[answers.known :]):
        assert [a.probability for a in group] == sorted((a.probability for a in group), reverse=True)
    assert all(0 < answer.probability <= 1 for answer in answers)
    assert len(set(entities(answers))) == 50


def test_answers_are_a_sequence(countries: KnowledgeGraph) -> None:
    answers = unseen.ask(countries, NEIGHBOURS, top=4)
    assert len(answers) == 4
    assert isinstance(answers[0], Answer)
    assert answers[1:3] == (answers[1], answers[2])
    assert answers[-1] in answers


def test_the_json_has_exactly_the_promised_shape(countries: KnowledgeGraph) -> None:
    plain = unseen.ask(countries, NEIGHBOURS, method="edge-type", top=4).as_json()
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain) == ["query", "method", "graph", "known", "answers", "expected"]
    assert list(plain["expected"]) == ["mean", "median", "low", "high", "share"]
    assert plain["query"] == NEIGHBOURS
    assert plain["method"] == "edge-type"
    assert plain["graph"] == {
        "entities": countries.num_entities,
        "relations": countries.num_relations,
        "triples": countries.num_triples,
    }
    assert plain["known"] == 3
    assert [list(answer) for answer in plain["answers"]] == [
        ["rank", "entity", "key", "known", "probability", "bindings"]
    ] * 4
    assert plain["answers"][0]["bindings"] == {}


class TestExplain:
    """Witnesses for what is known, likeliest values for what is predicted."""

    QUESTION = "?u : exists x . parent(Ada, x) & parent(x, u)"

    def test_a_known_answer_comes_with_bindings_and_edges(self, family: KnowledgeGraph) -> None:
        best = unseen.ask(family, self.QUESTION, explain=True)[0]
        assert (best.entity, best.known, best.bindings) == ("Dora", True, {"x": "Ben"})
        assert best.edges == (("Ada", "parent", "Ben"), ("Ben", "parent", "Dora"))

    def test_a_predicted_answer_comes_with_its_likeliest_bindings(self, family: KnowledgeGraph) -> None:
        predicted = unseen.ask(family, self.QUESTION, method="edge-type", explain=True, predicted_only=True)
        assert all(list(answer.bindings) == ["x"] and not answer.edges for answer in predicted)
        assert all(answer.bindings["x"] in {"Ben", "Cleo"} for answer in predicted)

    def test_the_json_of_a_proof_has_its_edges_too(self, family: KnowledgeGraph) -> None:
        plain = unseen.ask(family, self.QUESTION, explain=True, top=1).as_json()["answers"][0]
        assert plain["bindings"] == {"x": "Ben"}
        assert plain["edges"] == [["Ada", "parent", "Ben"], ["Ben", "parent", "Dora"]]

    def test_without_explain_there_is_neither(self, family: KnowledgeGraph) -> None:
        assert all(not answer.bindings and not answer.edges for answer in unseen.ask(family, self.QUESTION))

    def test_variables_without_a_name_get_one(self, family: KnowledgeGraph) -> None:
        query = Project("parent", Project("parent", Anchor("Ada")))
        assert unseen.ask(family, query, explain=True)[0].bindings == {"v1": "Ben"}


def test_top_limits_what_is_shown_but_not_what_is_counted(countries: KnowledgeGraph) -> None:
    answers = unseen.ask(countries, "?x : speaks(x, French)", top=5)
    assert len(answers) == 5
    assert answers.known > 5
    assert len(unseen.ask(countries, "?x : speaks(x, French)", method="edge-type", top=10**6)) < countries.num_entities


@pytest.mark.parametrize("top", [0, -1])
def test_less_than_one_answer_cannot_be_asked_for(family: KnowledgeGraph, top: int) -> None:
    with pytest.raises(UnseenError, match=f"at least 1, not {top}"):
        unseen.ask(family, "?x : parent(Ada, x)", top=top)


def test_predicted_only_leaves_known_answers_out(family: KnowledgeGraph) -> None:
    answers = unseen.ask(family, "?x : parent(Ada, x)", method="edge-type", predicted_only=True)
    assert answers.known == 2
    assert not any(answer.known for answer in answers)
    assert set(entities(answers)) == {"Dora", "Emil"}
    assert answers[0].rank == 1


def test_the_exact_method_predicts_nothing(family: KnowledgeGraph) -> None:
    answers = unseen.ask(family, "?x : parent(Ada, x)", method="exact")
    assert [(answer.entity, answer.probability) for answer in answers] == [("Ben", 1.0), ("Cleo", 1.0)]
    assert len(unseen.ask(family, "?x : parent(Ada, x)", method="exact", predicted_only=True)) == 0


def test_an_unknown_method_is_an_error_that_lists_the_known_ones(family: KnowledgeGraph) -> None:
    with pytest.raises(UnknownMethod, match="there is no method 'oracle'; available: edge-type, exact") as caught:
        unseen.ask(family, "?x : parent(Ada, x)", method="oracle")
    assert caught.value.available == (
        *METHODS,
        "default",
        "without-fb15k-237",
        "a run folder",
        "package.module:factory",
    )


def test_formula_sparql_and_algebra_ask_the_same(countries: KnowledgeGraph) -> None:
    query = And((Project("borders", Anchor("France")), Not(Project("speaks", Anchor("German"), inverse=True))))
    sparql = "SELECT ?x WHERE { :France :borders ?x . MINUS { ?x :speaks :German } }"
    asked = [unseen.ask(countries, question, top=20) for question in (NEIGHBOURS, sparql, query)]
    assert [list(answers) for answers in asked] == [list(asked[0])] * 3
    assert [answers.query for answers in asked] == [NEIGHBOURS, sparql, "borders(France) ∧ ¬speaks⁻¹(German)"]


@pytest.mark.parametrize(
    "question",
    [
        "select ?x where { :France :borders ?x }",
        "  \n# a comment\nSELECT ?x { :France :borders ?x }",
        "PREFIX c: <urn:unseen:> SELECT ?x WHERE { c:France c:borders ?x }",
    ],
)
def test_sparql_is_recognised_by_itself(countries: KnowledgeGraph, question: str) -> None:
    found = entities(unseen.ask(countries, question))
    assert found == entities(unseen.ask(countries, "?x : borders(France, x)"))


def test_a_sparql_limit_says_how_many_and_top_comes_first(countries: KnowledgeGraph) -> None:
    question = "SELECT ?x WHERE { :France :borders ?x } LIMIT 3"
    assert len(unseen.ask(countries, question)) == 3
    assert len(unseen.ask(countries, question, top=7)) == 7


def test_an_unknown_entity_is_an_error_with_the_five_closest_names(countries: KnowledgeGraph) -> None:
    with pytest.raises(UnknownName) as caught:
        unseen.ask(countries, "?x : borders(Frnace, x)")
    assert caught.value.kind == "entity"
    assert len(caught.value.closest) == 5
    assert "France" in caught.value.closest


def test_an_unknown_relation_is_an_error_with_the_closest_names(countries: KnowledgeGraph) -> None:
    with pytest.raises(UnknownName, match="unknown relation 'border'; closest: borders"):
        unseen.ask(countries, "?x : border(France, x)")


def test_a_syntax_error_shows_its_place(countries: KnowledgeGraph) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        unseen.ask(countries, "?x : borders(France x)")
    assert caught.value.position == 20


@pytest.mark.parametrize(
    "query", [Anchor(-1), Anchor(7), Anchor(2**40), Project(4, Anchor(0)), Not(Project(-1, Anchor(0)))]
)
def test_ids_that_the_graph_does_not_have_are_refused(family: KnowledgeGraph, query: Query) -> None:
    with pytest.raises(QueryRefused, match=r"the graph has no (entity|relation) with the"):
        unseen.ask(family, query)


def test_adding_facts_makes_new_answers_appear(countries: KnowledgeGraph) -> None:
    question = '?x : speaks(x, Portuguese) & part_of(x, "Southern Europe")'
    grown = countries.extended_with(
        [
            ("Atlantis", "speaks", "Portuguese"),
            ("Atlantis", "part_of", "Southern Europe"),
            ("Atlantis", "borders", "Portugal"),
        ]
    )
    before, after = (unseen.ask(graph, question) for graph in (countries, grown))
    assert "Atlantis" not in entities(before)
    assert after.known == before.known + 1
    assert "Atlantis" in entities(after)[: after.known]
    currencies = unseen.ask(grown, "?x : uses_currency(Atlantis, x)", top=3)
    assert currencies.known == 0
    assert entities(currencies)[0] == "Euro"


@pytest.mark.parametrize("method", ["default", "edge-type", "exact"])
def test_a_batch_of_questions_is_one_traversal(
    countries: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    names = ("France", "Spain", "Italy", "Germany", "Chad", "Peru", "Japan", "Kenya")
    questions = [prepare(countries, f"?x : exists v . borders({name}, v) & speaks(v, x)") for name in names]
    opened = None if method == "exact" else open_method(method)
    begun: list[Traversal] = []
    original = Traversal.__init__

    def noted(self: Traversal, graph: KnowledgeGraph) -> None:
        begun.append(self)
        original(self, graph)

    monkeypatch.setattr(Traversal, "__init__", noted)
    assert len(ask_all(countries, questions, opened, method)) == len(names)
    assert len(begun) == 1


def test_only_entities_with_an_edge_are_predicted(family: KnowledgeGraph) -> None:
    fewer = family.restricted_to(family.heads != family.vocabulary.entity_id("Cleo"))
    assert "Emil" in entities(unseen.ask(fewer, "?x : !likes(x, Chess) & likes(x, Go)"))
    alone = family.restricted_to(family.relations == family.vocabulary.relations.find("parent"))
    assert "Go" not in entities(unseen.ask(alone, And((Project("parent", Anchor("Ada")), Not(Anchor("Ben"))))))


def test_a_question_without_any_answer_gives_none(family: KnowledgeGraph) -> None:
    answers = unseen.ask(family, "?x : parent(Ada, x) & likes(Ada, x)", method="edge-type")
    assert (answers.known, list(answers)) == (0, [])


@settings(max_examples=2 * settings.default.max_examples)
@given(triples(), queries(max_depth=3))
def test_known_answers_are_those_of_traversal_that_have_an_edge(edges: Triples, query: Query) -> None:
    graph = named_graph(edges, ENTITIES, RELATIONS)
    with_an_edge = {end for head, _, tail in edges for end in (head, tail)}
    expected = answer_set(edges, query, set(ENTITIES)) & with_an_edge
    names = graph.vocabulary.entity_name
    for method in METHODS:
        answers = unseen.ask(graph, to_formula(query), method=method, top=100, explain=True)
        assert {answer.entity for answer in answers if answer.known} == {names(ENTITIES.index(e)) for e in expected}
        assert answers.known == len(expected)
