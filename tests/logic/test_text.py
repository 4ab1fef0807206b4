"""The readable syntax: what it means, what it refuses and where, and that it survives a round trip."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logic.strategies import ENTITIES, RELATIONS, queries, shaped_queries
from unseen.errors import QueryError, QueryRefused, QuerySyntaxError
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.rewrite import flatten
from unseen.logic.text import parse_answers, parse_formula
from unseen.logic.text_writer import quoted, to_formula

NAMES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=1, max_size=3, unique=True)
SIGNS = "?x:v exists.&|!()=,\"<>'\\∃∧∨¬~ \n\t\0France1é"


def inverse(relation: str, source: Query) -> Project:
    return Project(relation, source, inverse=True)


def test_the_nobel_prize_question_of_the_paper() -> None:
    query = parse_formula("?u : exists v . win(NobelPrize, v) & citizen(USA, v) & graduate(v, u)")
    winners = And((Project("win", Anchor("NobelPrize")), Project("citizen", Anchor("USA"))))
    assert query == Project("graduate", winners)
    assert isinstance(query, Project)
    assert query.variable == "v"


def test_neighbours_of_france_that_do_not_speak_german() -> None:
    assert parse_formula("?x : borders(France, x) & !speaks(x, German)") == And(
        (Project("borders", Anchor("France")), Not(inverse("speaks", Anchor("German"))))
    )


def test_european_countries_that_speak_french_or_dutch() -> None:
    speakers = Or((inverse("speaks", Anchor("French")), inverse("speaks", Anchor("Dutch"))))
    assert parse_formula("?x : (speaks(x, French) | speaks(x, Dutch)) & part_of(x, Europe)") == And(
        (speakers, inverse("part_of", Anchor("Europe")))
    )


def test_an_atom_may_be_written_in_either_direction() -> None:
    assert parse_formula("?x : r(a, x)") == Project("r", Anchor("a"))
    assert parse_formula("?x : r(x, a)") == inverse("r", Anchor("a"))
    assert parse_formula("?x : exists v . r(x, v) & s(v, a)") == inverse("r", inverse("s", Anchor("a")))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"Low Saxon"', "Low Saxon"),
        ('"say \\"x\\" \\\\ y"', 'say "x" \\ y'),
        ('"x"', "x"),
        ('"exists"', "exists"),
        ("<http://ex.org/a?b=c#d>", "<http://ex.org/a?b=c#d>"),
        ("wd:Q90", "wd:Q90"),
        (":France", ":France"),
        ("U.S.A", "U.S.A"),
        ("Côte_d'Ivoire", "Côte_d'Ivoire"),
        ("2019", "2019"),
        ("日本", "日本"),
        ("Africa/Cairo", "Africa/Cairo"),
        ("+33-1", "+33-1"),
        ('"two\nlines"', "two\nlines"),
    ],
)
def test_names_are_plain_quoted_or_iris(text: str, name: str) -> None:
    assert parse_formula(f"?x : r({text}, x)") == Project("r", Anchor(name))
    assert parse_formula(f"?x : {text}(a, x)") == Project(name, Anchor("a"))


def test_variables_are_what_is_declared_and_a_question_mark_is_allowed() -> None:
    assert parse_formula("?x : exists ?v . r(a, ?v) & s(?v, ?x)") == parse_formula("?x: exists v.r(a,v)&s(v,x)")
    assert parse_formula("?x : r(v, x)") == Project("r", Anchor("v"))


def test_equality_names_an_entity() -> None:
    assert parse_formula("?x : x = France | Spain = x") == Or((Anchor("France"), Anchor("Spain")))
    assert parse_formula("?x : exists v . v = France & borders(v, x)") == Project("borders", Anchor("France"))


def test_an_inner_variable_hides_an_outer_one_of_the_same_name() -> None:
    text = "?x : exists v . (exists v . r(a, v) & s(v, x)) & t(b, v) & u(v, x)"
    assert parse_formula(text) == And(
        (Project("s", Project("r", Anchor("a"))), Project("u", Project("t", Anchor("b"))))
    )


def test_negation_binds_before_and_and_and_before_or() -> None:
    a, b, c = (f"r({name}, x)" for name in "abc")
    assert parse_formula(f"?x : {a} | {b} & !{c}") == parse_formula(f"?x : {a} | ({b} & (!{c}))")
    assert parse_formula(f"?x : ({a} | {b}) & {c}") != parse_formula(f"?x : {a} | {b} & {c}")


@pytest.mark.parametrize("text", ["?x:r(a,x)", " ?x : r(a, x) ", "?x\n:\n\tr ( a , x )"])
def test_white_space_does_not_matter(text: str) -> None:
    assert parse_formula(text) == Project("r", Anchor("a"))


@pytest.mark.parametrize(
    ("ascii_text", "unicode_text"),
    [
        ("?x : r(a, x) & s(b, x)", "?x : r(a, x) ∧ s(b, x)"),
        ("?x : r(a, x) && s(b, x)", "?x : r(a, x) ∧ s(b, x)"),
        ("?x : r(a, x) | s(b, x)", "?x : r(a, x) ∨ s(b, x)"),
        ("?x : r(a, x) || s(b, x)", "?x : r(a, x) ∨ s(b, x)"),
        ("?x : r(a, x) & !s(b, x)", "?x : r(a, x) ∧ ¬s(b, x)"),
        ("?x : r(a, x) & ~s(b, x)", "?x : r(a, x) ∧ ¬ s(b, x)"),
        ("?x : exists v . r(a, v) & s(v, x)", "?x : ∃v . r(a, v) ∧ s(v, x)"),
        ("?x : EXISTS v, w . r(a, v) & s(v, w) & t(w, x)", "?x : ∃ v w . r(a, v) ∧ s(v, w) ∧ t(w, x)"),
    ],
)
def test_unicode_signs_mean_the_same_as_ascii(ascii_text: str, unicode_text: str) -> None:
    assert parse_formula(ascii_text) == parse_formula(unicode_text)


@given(queries(entities=("a", "b", "c"), relations=("r", "s")))
def test_every_question_means_the_same_in_unicode(query: Query) -> None:
    text = to_formula(query)
    translated = text.replace("exists ", "∃").replace("&", "∧").replace("|", "∨").replace("!", "¬")
    assert parse_formula(translated) == parse_formula(text)


@given(queries() | shaped_queries())
def test_a_question_written_out_and_read_again_is_the_same(query: Query) -> None:
    assert parse_formula(to_formula(flatten(query))) == flatten(query)
    assert flatten(parse_formula(to_formula(query))) == flatten(query)


@given(NAMES, NAMES, st.data())
def test_names_of_any_kind_survive_the_round_trip(
    entities: list[str], relations: list[str], data: st.DataObject
) -> None:
    query = flatten(data.draw(queries(entities=entities, relations=relations, max_depth=3)))
    assert parse_formula(to_formula(query)) == query


@given(queries(entities=("x", "v1", "exists", "v"), relations=("x", "exists")))
def test_names_that_look_like_variables_or_words_of_the_syntax_are_quoted(query: Query) -> None:
    assert parse_formula(to_formula(flatten(query))) == flatten(query)


@given(queries())
def test_the_answer_variable_may_have_any_name(query: Query) -> None:
    assert parse_formula(to_formula(flatten(query), answer="who")) == flatten(query)


def test_a_written_question_keeps_the_names_of_its_variables() -> None:
    text = "?x : exists friend . knows(Ada, friend) & knows(friend, x)"
    assert to_formula(parse_formula(text)) == text


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("France", "France"),
        ("Low Saxon", '"Low Saxon"'),
        ("<http://a>", "<http://a>"),
        ('"', '"\\""'),
        ("", '""'),
        ("a.", '"a."'),
    ],
)
def test_names_are_quoted_where_they_must_be(name: str, written: str) -> None:
    assert quoted(name) == written


SYNTAX_ERRORS = [
    ("", 0, "a question starts with its answer variable"),
    ("   ", 3, "a question starts with its answer variable"),
    ("x : r(a, x)", 0, "a question starts with its answer variable"),
    ("?", 0, "expected a variable"),
    ("?1 : r(a, x)", 0, "expected a variable"),
    ("? x : r(a, x)", 0, "expected a variable"),
    ("?x", 2, "expected `:` after the answer variable"),
    ("?x r(a, x)", 3, "expected `:` after the answer variable"),
    ("?x :", 4, "expected a relation like `borders(France, x)`, `!`, `exists` or `(`"),
    ("?x : &", 5, "expected a relation like"),
    ("?x : r", 6, "expected `(` after the relation 'r'"),
    ("?x : r(", 7, "expected a variable or the name of an entity"),
    ("?x : r()", 7, "expected a variable or the name of an entity"),
    ("?x : r(a)", 9, "expected a comparison like `r(x) > 1000`, or a second end like `r(x, y)`"),
    ("?x : r(a, )", 10, "expected a variable or the name of an entity"),
    ("?x : r(a, x, b)", 11, "expected `)` after the two ends of a relation"),
    ("?x : r(a, x", 11, "expected `)` after the two ends of a relation"),
    ("?x : (r(a, x)", 13, "expected `)`"),
    ("?x : r(a, x))", 12, "expected `&`, `|` or the end of the question"),
    ("?x : r(a, x) s(b, x)", 13, "expected `&`, `|` or the end of the question"),
    ("?x : r(a, x) &", 14, "expected a relation like"),
    ("?x : r(a, x) | | s(b, x)", 15, "expected a relation like"),
    ("?x : !", 6, "expected a relation like"),
    ("?x : exists", 11, "expected a variable"),
    ("?x : exists . r(a, x)", 12, "expected a variable"),
    ("?x : exists v r(a, v)", 15, "expected a variable, or `.` after the variables of `exists`"),
    ("?x : exists v, . r(a, v)", 15, "expected a variable"),
    ('?x : r("a, x)', 7, "this quotation mark is never closed"),
    ("?x : r(<a b>, x)", 7, "expected a variable or the name of an entity"),
    ("?x : r(?v, x)", 7, "the variable ?v is not declared: write `exists v .` before it is used"),
    ("?x : a = b", 5, "`=` and `!=` stand between variables, or a variable and the name of an entity"),
    ("?x : r(a, x) & x = ", 19, "expected a variable or the name of an entity"),
    ("?x : Low Saxon(a, x)", 9, "expected `(` after the relation 'Low'"),
]


@pytest.mark.parametrize(("text", "position", "problem"), SYNTAX_ERRORS)
def test_a_syntax_error_shows_its_place(text: str, position: int, problem: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_formula(text)
    assert problem in caught.value.problem
    assert caught.value.position == position
    assert str(caught.value).startswith(f"syntax error at position {position + 1}: ")
    assert str(caught.value).splitlines()[-1] == "  " + " " * position + "^"
    assert ("the question ends here" in str(caught.value)) == (position >= len(text))


def test_the_caret_stands_below_the_right_line_and_column() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_formula("?x : borders(France, x)\n  & speaks x")
    assert str(caught.value).splitlines()[1:] == ["    & speaks x", "             ^"]


def test_a_long_line_is_cut_around_the_caret() -> None:
    text = "?x : " + " & ".join(f"relation{number}(a, x)" for number in range(1000)) + " & §§("
    with pytest.raises(QuerySyntaxError) as caught:
        parse_formula(text)
    _, shown, caret = str(caught.value).splitlines()
    assert len(shown) < 120
    assert shown.startswith("  … ")
    assert len(text) == caught.value.position
    assert len(caret) - 1 == len(shown)


@given(st.text() | st.text(SIGNS) | st.text(SIGNS).map("?x : {}".format))
def test_reading_any_text_gives_a_query_or_an_error_for_the_user(text: str) -> None:
    with suppress(QueryError):
        assert isinstance(parse_formula(text), Query)


@given(queries(entities=ENTITIES, relations=RELATIONS), st.data())
def test_damaged_questions_never_break_the_parser(query: Query, data: st.DataObject) -> None:
    text = to_formula(query)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    damaged = text[:start] + data.draw(st.text(SIGNS, max_size=3)) + text[end:]
    with suppress(QueryError):
        assert isinstance(parse_formula(damaged), Query)


def deep_questions(depth: int) -> dict[str, str]:
    many = range(depth)
    chain = " & ".join(f"r(v{i}, v{i + 1})" for i in range(depth - 1))
    return {
        "parentheses": "?x : " + "(" * depth + "r(a, x)" + ")" * depth,
        "negations": "?x : s(b, x) & " + "!" * depth + "r(a, x)",
        "quantifiers": "?x : " + "".join(f"exists v{i} . " for i in many) + "r(a, x)",
        "unions": "?x : " + "".join(f"r(a, x) {'|&'[i % 2]} (" for i in many) + "r(a, x)" + ")" * depth,
        "negated unions": "?x : r(a, x) & " + "!(r(a, x) | s(a, x) & " * depth + "r(a, x)" + ")" * depth,
        "steps": f"?x : exists {', '.join(f'v{i}' for i in many)} . r(a, v0) & {chain} & r(v{depth - 1}, x)",
        "quantified steps": "?x : "
        + "".join(f"exists v{i} . " for i in many)
        + f"r(a, v0) & {chain} & r(v{depth - 1}, x)",
        "unclosed": "?x : " + "(" * depth,
    }


@pytest.mark.parametrize("kind", deep_questions(2))
def test_a_question_nested_ten_thousand_deep_is_refused(kind: str) -> None:
    with pytest.raises(QueryRefused, match=r"nested deeper than 100 levels|more than 1,000 variables") as caught:
        parse_formula(deep_questions(10_000)[kind])
    assert max(map(len, str(caught.value).splitlines())) < 200


@pytest.mark.parametrize("depth", [40, 95, 100, 101, 200])
@pytest.mark.parametrize("kind", deep_questions(2))
def test_near_the_limit_a_question_is_answered_or_refused_even_deep_in_the_stack(kind: str, depth: int) -> None:
    def deeper(levels: int) -> None:
        if levels:
            deeper(levels - 1)
            return
        with suppress(QueryError):
            parse_formula(deep_questions(depth)[kind])

    deeper(100)


@pytest.mark.parametrize("question", [f"?x : r({'a' * 2_000_000}, x)", '?x : r("' + "a " * 1_000_000, "?" * 2_000_000])
def test_two_megabytes_in_one_line_are_read_or_refused_quickly(question: str) -> None:
    message = ""
    try:
        parse_formula(question)
    except QuerySyntaxError as error:
        message = str(error)
    assert len(message) < 500


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("r(a, ?x)", "?x : r(a, x)"),
        ("r(?x, b) & !s(?x, c)", "?x : r(x, b) & !s(x, c)"),
        ("exists v . r(a, v) & s(v, ?x)", "?x : exists v . r(a, v) & s(v, x)"),
        ("r(?x, ?y) & s(?y, a)", "?x, y : r(x, y) & s(y, a)"),
        ("(r(a, ?x) | s(a, ?x))", "?x : r(a, x) | s(a, x)"),
    ],
)
def test_without_a_head_the_answers_are_the_variables_with_a_question_mark(text: str, same: str) -> None:
    (_, answers), (_, declared) = parse_answers(text), parse_answers(same)
    assert [one.name for one in answers] == [one.name for one in declared]
    if len(answers) == 1:
        assert parse_formula(text) == parse_formula(same)


def test_without_a_head_errors_show_their_own_place() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_formula("r(a, ?x) s(b, ?x)")
    assert caught.value.position == 9
