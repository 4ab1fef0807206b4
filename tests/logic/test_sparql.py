"""SPARQL in: what is accepted and what it means."""

from __future__ import annotations

import sys

import pytest

from unseen.errors import MissingExtra
from unseen.logic.algebra import Anchor, Project, Query
from unseen.logic.sparql import parse as sparql
from unseen.logic.sparql import parse_sparql
from unseen.logic.sparql.words import MAX_NESTING


def query_of(pattern: str, prologue: str = "") -> Query:
    return parse_sparql(f"{prologue} SELECT ?x WHERE {{ {pattern} }}", {"ex": "http://example.org/"}).query


def shown(pattern: str, prologue: str = "") -> str:
    return str(query_of(pattern, prologue))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (":France :borders ?x", "borders(France)"),
        ("?x :borders :France .", "borders⁻¹(France)"),
        ("?x :p :A ; :q :B, :C", "p⁻¹(A) ∧ q⁻¹(B) ∧ q⁻¹(C)"),
        (":A :p ?y . ?y :q ?x", "q(p(A))"),
        ("?y :q ?x . :A :p ?y . ?y :r :B", "q(p(A) ∧ r⁻¹(B))"),
        ("{ ?x :p :A } { { ?x :q :B } }", "p⁻¹(A) ∧ q⁻¹(B)"),
        ("{ ?x :p :A } UNION { ?x :q :B }", "p⁻¹(A) ∨ q⁻¹(B)"),
        ("{ ?x :p :A } UNION { ?x :q :B } UNION { ?x :r :C } ?x :s :D", "(p⁻¹(A) ∨ q⁻¹(B) ∨ r⁻¹(C)) ∧ s⁻¹(D)"),
        ("?y :r ?x { :A :p ?y } UNION { :B :q ?y }", "r(p(A) ∨ q(B))"),
        ("{ ?x :p ?y . ?y :q :A } UNION { ?x :r ?y . ?y :s :B }", "p⁻¹(q⁻¹(A)) ∨ r⁻¹(s⁻¹(B))"),
        ("?x a ex:Country", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>⁻¹(<http://example.org/Country>)"),
    ],
)
def test_patterns_become_a_tree(pattern: str, expected: str) -> None:
    assert shown(pattern) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (":p/:q", "q(p(A))"),
        (":p/^:q", "q⁻¹(p(A))"),
        ("^:p", "p⁻¹(A)"),
        ("^(:p/:q)", "p⁻¹(q⁻¹(A))"),
        (":p|:q", "p(A) ∨ q(A)"),
        ("(:p|^:q)/:r", "r(p(A) ∨ q⁻¹(A))"),
        (":p/:q|:r", "q(p(A)) ∨ r(A)"),
        ("((((:p))))", "p(A)"),
    ],
)
def test_paths_are_steps(path: str, expected: str) -> None:
    assert shown(f":A {path} ?x") == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("?x :p :A MINUS { ?x :q :B }", "p⁻¹(A) ∧ ¬q⁻¹(B)"),
        ("?x :p :A FILTER NOT EXISTS { ?x :q :B }", "p⁻¹(A) ∧ ¬q⁻¹(B)"),
        ("?x :p :A FILTER NOT EXISTS { ?x :q ?y . ?y :r :B }", "p⁻¹(A) ∧ ¬q⁻¹(r⁻¹(B))"),
        ("?x :p :A FILTER EXISTS { ?x :q :B }", "p⁻¹(A) ∧ q⁻¹(B)"),
        ("?x :p :A FILTER(!EXISTS { ?x :q :B })", "p⁻¹(A) ∧ ¬q⁻¹(B)"),
        ("?x :p ?y FILTER NOT EXISTS { ?y :q :B }", "p⁻¹(¬q⁻¹(B))"),
        ("?x :p :A FILTER NOT EXISTS { ?x :q :B FILTER NOT EXISTS { ?x :r :C } }", "p⁻¹(A) ∧ ¬(q⁻¹(B) ∧ ¬r⁻¹(C))"),
        ("?x :p :A FILTER NOT EXISTS { { ?x :q :B } UNION { ?x :r :C } }", "p⁻¹(A) ∧ ¬(q⁻¹(B) ∨ r⁻¹(C))"),
        ("?x :p :A FILTER(?x = :B)", "p⁻¹(A) ∧ B"),
        ("?x :p :A FILTER(:B != ?x)", "p⁻¹(A) ∧ ¬B"),
        ("?x :p :A FILTER(?x IN (:B, :C))", "p⁻¹(A) ∧ (B ∨ C)"),
        ("?x :p :A FILTER(?x NOT IN (:B, :C))", "p⁻¹(A) ∧ ¬(B ∨ C)"),
        ("?x :p :A FILTER(?x != :B && (?x = :C || EXISTS { ?x :q :D }))", "p⁻¹(A) ∧ ¬B ∧ (C ∨ q⁻¹(D))"),
    ],
)
def test_negation_and_tests_become_parts_of_a_conjunction(pattern: str, expected: str) -> None:
    assert shown(pattern) == expected


def test_a_filter_holds_for_its_whole_group_wherever_it_stands() -> None:
    assert shown("FILTER NOT EXISTS { ?x :q :B } ?x :p :A") == "p⁻¹(A) ∧ ¬q⁻¹(B)"


def test_minus_removes_only_from_what_stands_before_it() -> None:
    assert shown("MINUS { ?x :q :B } ?x :p :A") == "p⁻¹(A)"
    assert shown("?x :p :A MINUS { ?x :q ?y . ?y :r :B } ?x :s ?y . ?y :t :C") == "p⁻¹(A) ∧ ¬q⁻¹(r⁻¹(B)) ∧ s⁻¹(t⁻¹(C))"


def test_minus_that_shares_no_variable_removes_nothing() -> None:
    assert shown("?x :p :A MINUS { ?y :q :B }") == "p⁻¹(A)"
    assert shown("?x :p :A MINUS { :A :q :B }") == "p⁻¹(A)"


def test_variables_of_two_tests_are_not_the_same() -> None:
    pattern = "?x :p :A FILTER EXISTS { ?x :q ?y . ?y :r :B } FILTER EXISTS { ?x :q ?y . ?y :r :C }"
    assert shown(pattern) == "p⁻¹(A) ∧ q⁻¹(r⁻¹(B)) ∧ q⁻¹(r⁻¹(C))"


def test_a_test_in_an_alternative_does_not_see_the_variables_outside() -> None:
    pattern = "?x :p ?y . ?y :q :A { ?x :r :B FILTER NOT EXISTS { ?x :s ?y . ?y :t :C } } UNION { ?x :r :D }"
    assert shown(pattern) == "p⁻¹(q⁻¹(A)) ∧ ((r⁻¹(B) ∧ ¬s⁻¹(t⁻¹(C))) ∨ r⁻¹(D))"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("VALUES ?x { :A }", "A"),
        ("?x :part_of ?c VALUES ?c { :A :B }", "part_of⁻¹(A ∨ B)"),
        ("VALUES ?c { :A } ?x :p ?c . VALUES ?x { :B :C }", "p⁻¹(A) ∧ (B ∨ C)"),
        ("VALUES (?c) { (:A) (:B) } ?x :p ?c", "p⁻¹(A ∨ B)"),
        ("VALUES (?c ?d) { (:A :B) } ?x :p ?c ; :q ?d", "p⁻¹(A) ∧ q⁻¹(B)"),
        ('?x :part_of "Western Europe"', "part_of⁻¹(Western Europe)"),
        ("VALUES ?c { 'New Zealand' } ?c :borders ?x", "borders(New Zealand)"),
    ],
)
def test_values_and_strings_name_constants(pattern: str, expected: str) -> None:
    assert shown(pattern) == expected


def test_values_after_the_pattern_are_joined_with_it() -> None:
    assert str(parse_sparql("SELECT ?x { ?x :p ?c } VALUES ?c { :A :B }").query) == "p⁻¹(A ∨ B)"


def test_a_variable_with_one_value_may_be_used_like_that_value() -> None:
    assert shown("?x :p :A VALUES ?c { :B } FILTER NOT EXISTS { ?x :q ?c }") == "p⁻¹(A) ∧ ¬q⁻¹(B)"
    assert shown("?x :p ?c ; :q ?c VALUES ?c { :B }") == "p⁻¹(B) ∧ q⁻¹(B)"


@pytest.mark.parametrize("pattern", ["?x :p [ :q :A ]", "?x :p _:b . _:b :q :A", "[ :q :A ; ^:p ?x ]", "?x :p/:q :A"])
def test_blank_nodes_are_variables_without_a_name(pattern: str) -> None:
    query = query_of(pattern)
    assert query == Project("p", Project("q", Anchor("A"), inverse=True), inverse=True)
    assert isinstance(query, Project)
    assert query.variable is None


def test_inner_variables_keep_their_names() -> None:
    query = query_of("?x :p ?city . ?city :q :A")
    assert isinstance(query, Project)
    assert query.variable == "city"


@pytest.mark.parametrize(
    ("prologue", "term", "name"),
    [
        ("", ":A", "A"),
        ("", ":New%20Zealand", "New Zealand"),
        ("", r":Cote_d\'Ivoire", "Cote_d'Ivoire"),
        ("", r":\u0041", "A"),
        ("", "<urn:unseen:A>", "A"),
        ("", "<http://other.org/A>", "<http://other.org/A>"),
        ("", "wd:Q90", "<http://www.wikidata.org/entity/Q90>"),
        ("", "ex:A", "<http://example.org/A>"),
        ("PREFIX ex: <http://mine.org/>", "ex:A", "<http://mine.org/A>"),
        ("PREFIX : <http://mine.org/#>", ":A", "<http://mine.org/#A>"),
        ("BASE <http://base.org/x/>", "<A>", "<http://base.org/x/A>"),
        ("BASE <http://base.org/x/> PREFIX b: <y#>", "b:A", "<http://base.org/x/y#A>"),
        ("", '"a \\"b\\""', 'a "b"'),
        ("", '"Wien"@de', "Wien"),
        ("", '"5"^^xsd:integer', "5"),
        ("", "5", "5"),
        ("", "true", "true"),
    ],
)
def test_terms_become_names(prologue: str, term: str, name: str) -> None:
    assert query_of(f"?x <urn:unseen:p> {term}", prologue) == Project("p", Anchor(name), inverse=True)


@pytest.mark.parametrize("select", ["?x", "DISTINCT ?x", "REDUCED $x", "*", "?x ?x"])
def test_one_variable_is_selected(select: str) -> None:
    selection = parse_sparql(f"select {select} where {{ $x :p [ :q :A ] }}")
    assert (selection.variable, selection.limit) == ("x", None)


@pytest.mark.parametrize(("text", "limit"), [("7", 7), ("0", 0), ("9" * 60, None)])
def test_limit_is_the_number_of_answers(text: str, limit: int | None) -> None:
    assert parse_sparql(f"SELECT ?x {{ ?x :p :A }} LIMIT {text}").limit == limit


def test_comments_and_tabs_do_not_matter() -> None:
    assert str(parse_sparql("# OPTIONAL {\nSELECT ?x {\t?x :p <http://a#b> # }\n}").query) == "p⁻¹(<http://a#b>)"


def test_groups_nested_up_to_the_limit_are_read() -> None:
    depth = MAX_NESTING - 1
    assert shown("{" * depth + "?x :p :A" + "}" * depth) == "p⁻¹(A)"


def test_a_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = parse_sparql("SELECT ?x { ?x :parsed :once }")
    monkeypatch.setattr(sparql, "_parse_tree", None)
    assert parse_sparql("SELECT ?x { ?x :parsed :once }") is first


def test_without_rdflib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib.plugins.sparql", None)
    with pytest.raises(
        MissingExtra, match=r"SPARQL needs rdflib; install the extra 'rdf': `pip install .* '\.\[rdf\]'`"
    ):
        parse_sparql("SELECT ?x { ?x :nobody :asked }")
