"""SPARQL in: what is refused, why and where; and that no text does harm."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import QueryError, QueryRefused, QuerySyntaxError
from unseen.logic.sparql import parse_sparql
from unseen.logic.sparql.words import MAX_LENGTH, MAX_NESTING, MAX_TOKENS


@pytest.mark.parametrize(
    ("text", "word", "reason"),
    [
        ("SELECT ?x { ?x :p :A OPTIONAL { ?x :q :B } }", "OPTIONAL", "OPTIONAL is not supported"),
        ("SELECT ?x { ?x :p :A BIND(:B AS ?y) }", "BIND", "BIND is not supported"),
        ("SELECT ?x { SERVICE <http://a> { ?x :p :A } }", "SERVICE", "SERVICE is not supported"),
        ("SELECT ?x { GRAPH ?g { ?x :p :A } }", "GRAPH", "GRAPH is not supported"),
        ("SELECT ?x FROM <http://a> { ?x :p :A }", "FROM", "FROM is not supported"),
        ("SELECT ?x { ?x :p :A } GROUP BY ?x", "GROUP", "GROUP BY is not supported"),
        ("SELECT ?x { ?x :p :A } HAVING(?x = :A)", "HAVING", "HAVING is not supported"),
        ("SELECT ?x { ?x :p :A } ORDER BY STR(?x)", "ORDER", "ORDER BY takes variables"),
        ("SELECT ?x { ?x :p :A } OFFSET 5", "OFFSET", "OFFSET is not supported"),
        ("SELECT (COUNT(?x) AS ?n) { ?x :p :A }", "COUNT", "an aggregate is selected under a name"),
        ("SELECT (?x AS ?y) { ?x :p :A }", "AS", "expressions in SELECT are not supported"),
        ("SELECT ?x { { SELECT  ?x { ?x :p :A } } }", "SELECT  ", "subqueries are not supported"),
        ("SELECT ?x { ?x :p ?y VALUES ?y { UNDEF } }", "UNDEF", "UNDEF is not supported"),
        ("ASK { ?x :p :A }", "ASK", "unseen score"),
        ("CONSTRUCT { ?x :p :A } WHERE { ?x :p :A }", "CONSTRUCT", "CONSTRUCT is not supported"),
        ("DESCRIBE :A", "DESCRIBE", "DESCRIBE is not supported"),
        ("INSERT DATA { :A :p :B }", "INSERT", "it would change the graph"),
        ("DELETE WHERE { :A :p :B }", "DELETE", "it would change the graph"),
        ("SELECT ?x { ?x :p :A FILTER(regex(?x, 'a')) }", "FILTER", "?x stands for entities"),
        ("SELECT ?x { ?x :p :A FILTER(?x < :B) }", "FILTER", "?x stands for entities, not for values"),
        ("SELECT ?x { ?x :p :A FILTER(?x) }", "FILTER", "this FILTER is not supported"),
        ("SELECT ?x { ?x :p :A FILTER(?x + 1 = 2) }", "FILTER", "this FILTER is not supported"),
        ("SELECT ?x { ?x :p ?y . ?y :p :A FILTER(?x = ?y) }", "FILTER", "lies on a cycle"),
        ("SELECT ?x { ?x :p :A FILTER(?x IN ()) }", "FILTER", "IN needs at least one name"),
        ("SELECT ?x { ?x :p :A { FILTER(?x = :B) } }", "FILTER", "a variable that its own group does not bind: ?x"),
        ("SELECT ?x { VALUES ?x { } }", "VALUES", "VALUES without a value"),
        ("SELECT ?x ?y { ?x :p ?y }", "SELECT", "exactly one answer variable, and has ?x, ?y"),
        ("SELECT * { ?x :p ?y }", "SELECT", "exactly one answer variable, and has ?x, ?y"),
        ("SELECT * { :A :p :B }", "SELECT", "it has no answer variable"),
        ("SELECT ?x { ?x :p ?y . ?y :q :A MINUS { ?x :r ?y } }", "MINUS", "one negation joins ?x, ?y"),
        ("SELECT ?x { ?x :p ?y . ?y :q :A FILTER NOT EXISTS { ?x :r ?y } }", "FILTER", "one negation joins ?x, ?y"),
        (
            "SELECT ?x { ?x :p :A { ?x :q ?y } UNION { ?x :r :B } MINUS { ?y :s :C } }",
            "MINUS",
            "MINUS may only share variables that every alternative binds: ?y",
        ),
        (
            "SELECT ?x { ?x :p :A { ?x :q ?y } UNION { ?x :r :B } FILTER EXISTS { ?y :s :C } }",
            "FILTER",
            "EXISTS may only share variables that every alternative binds: ?y",
        ),
        (
            "SELECT ?x { ?x :p :A FILTER EXISTS { ?x :q ?y MINUS { ?x :r :B } } }",
            "MINUS",
            "may not use variables from outside of it: ?x",
        ),
        ("SELECT ?x { ?x :p :A FILTER NOT EXISTS { :B :q :C } }", "FILTER", "says nothing about a variable"),
    ],
)
def test_what_is_refused_is_shown_in_the_text(text: str, word: str, reason: str) -> None:
    with pytest.raises(QueryRefused) as refusal:
        parse_sparql(text)
    assert reason in refusal.value.reason
    assert refusal.value.position == text.index(word)
    caret = str(refusal.value).splitlines()[-1]
    assert caret.index("^") == 2 + text.index(word)


@pytest.mark.parametrize(
    ("pattern", "reason", "place"),
    [
        ("?x (:p/:q)+ :A", "the path sign `+` (one or more steps) goes with one relation", "?x (p/q)+ A"),
        ("?x (:p|:q)* :A", "the path sign `*` (any number of steps) goes with one relation", "?x (p|q)* A"),
        ("?x (:p|:q)? :A", "the path sign `?` (a step or none) goes with one relation", "?x (p|q)? A"),
        ("?x !:p :A", "this path is not supported", "?x !(...) A"),
        ("?x !(^:p|:q) :A", "this path is not supported", "?x !(...) A"),
        ("?x ?p :A", "a variable cannot stand for a relation", "?x ?p A"),
        ("?x :p ?y . ?y :q ?x . ?y :r :A", "lies on a cycle", "?y q ?x"),
        ("?x :p ?y . ?x :q ?y . ?y :r :A", "lies on a cycle", "?x q ?y"),
        ("?x :p :A . ?y :q :B", "?y has no connection with ?x", "?y q B"),
        ("?x :p :A . :B :q :C", "says nothing about a variable", "B q C"),
        ("?x :s :C { ?x :p :A } UNION { ?y :q :B }", "every alternative must say something about ?x", "?y q B"),
    ],
)
def test_what_is_not_a_tree_is_refused_with_the_pattern(pattern: str, reason: str, place: str) -> None:
    with pytest.raises(QueryRefused) as refusal:
        parse_sparql(f"SELECT ?x {{ {pattern} }}")
    assert reason in refusal.value.reason
    assert place in str(refusal.value)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "?x is not bound: say what it is"),
        ("?y :p :A", "?x is not bound: say what it is"),
        ("FILTER NOT EXISTS { ?x :p :A }", "?x is not bound: say what it is"),
        ("{ ?x :p :A } UNION { ?y :q :B }", "?x is not bound in every alternative"),
        ("{ ?x :p :A } UNION { }", "?x is not bound in every alternative"),
    ],
)
def test_the_answer_must_be_bound(pattern: str, reason: str) -> None:
    with pytest.raises(QueryRefused, match=r"\?x is not bound") as refusal:
        parse_sparql(f"SELECT ?x {{ {pattern} }}")
    assert reason in refusal.value.reason


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 0, "the question is empty"),
        ("  # nothing", 0, "the question is empty"),
        ("SELECT ?x { ?x :p }", 18, "`}` does not fit here"),
        ("SELECT ?x {\n  ?x :p :A .\n  ?x :q ; \n}", 33, "`;` does not fit here"),
        ("SELECT ?x { ?x :p :A FILTER NOT EXISTS { ?x :q } }", 47, "`}` does not fit here"),
        ("SELECT ?x { ?x :p :A } :B", 23, "`:B` does not fit here"),
        ("SELECT ?x { ?x :p :A } LIMIT", 28, "it is not complete"),
        ("SELECT ?x { ?x :p :A", 10, "this `{` is never closed"),
        ("SELECT ?x { ?x :p :A ) }", 21, "nothing is open that `)` closes"),
        ("SELECT ?x { ?x :p :A } }", 23, "nothing is open that `}` closes"),
        ('SELECT ?x { ?x :p "A }', 18, "this quotation mark is never closed"),
        ("SELECT ?x { France :borders ?x }", 12, "`France` is not a word of SPARQL; names are written `:France`"),
        ("SELECT ?x { ?x foo:p :A }", 15, "the prefix `foo:` is not declared"),
        ("SELECT ?x { VALUES (?x ?y) { (:A) } }", 12, "one value for each variable"),
        (r"SELECT ?x { ?x :p \uD800 }", 18, "there is no such character"),
        ("SELECT\t?x {\t?x :p\t}", 18, "`}` does not fit here"),
    ],
)
def test_a_syntax_error_is_shown_in_the_text(text: str, position: int, problem: str) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        parse_sparql(text)
    assert problem in error.value.problem
    assert error.value.position == position
    assert str(error.value).splitlines()[-1].strip() == "^"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { " + "{" * 10_000 + "?x :p :A" + "}" * 10_001,
        "SELECT ?x { ?x " + "(" * 2_000 + ":p" + ")" * 2_000 + " :A }",
        "SELECT ?x { " + " UNION ".join(["{ ?x :p :A }"] * 100_000) + " }",
        "SELECT ?x { ?x :p '" + "a" * 10_000_000 + "' }",
        "SELECT ?x { " + "?x :p :A . " * 400 + " }",
        "SELECT ?x { ?x " + "/".join([":p"] * 2_000) + " :A }",
        "SELECT ?x { ?x :p " + "9" * 10_000 + " }",
        "a." * (MAX_LENGTH // 2),
        "<" * MAX_LENGTH,
        '"""\\' * (MAX_LENGTH // 4),
    ],
    ids=["groups", "parentheses", "unions", "ten megabytes", "patterns", "path", "digits", "dots", "signs", "quotes"],
)
def test_huge_questions_end_quickly_in_one_error(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(QueryError):
        parse_sparql(text)
    assert time.monotonic() - start < 20


def test_limits_are_named_in_the_error() -> None:
    with pytest.raises(QueryRefused, match=f"longer than {MAX_LENGTH:,} characters"):
        parse_sparql("SELECT" + " " * MAX_LENGTH)
    with pytest.raises(QueryRefused, match=f"more than {MAX_TOKENS:,} words"):
        parse_sparql("." * (MAX_TOKENS + 1))
    with pytest.raises(QueryRefused, match=f"deeper than {MAX_NESTING} levels"):
        parse_sparql("{" * (MAX_NESTING + 1))


WORDS = """?x ?y :p :A ex:b nope:c _:a [] { } ( ) . ; , / | ^ ! + * ? = != && - -2.5 1e9 "s" 'u @de ^^ a é \\ # \0 true
SELECT WHERE UNION MINUS FILTER NOT EXISTS IN VALUES LIMIT PREFIX BASE DISTINCT"""


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12))
def test_any_text_gives_a_query_or_a_query_error(words: list[str]) -> None:
    with suppress(QueryError):
        parse_sparql(f"SELECT ?x {{ ?x :p :A . {' '.join(words)} }}")
