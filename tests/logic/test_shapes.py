"""Named shapes are templates; a new one is one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logic.strategies import queries
from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.rewrite import flatten
from unseen.logic.shapes import SHAPES, Shape, shape_of, slot_values, template_of

A, B = Project("r", Anchor("a")), Project("s", Anchor("b"))


def test_the_fourteen_shapes_of_the_paper_are_there() -> None:
    assert list(SHAPES) == ["1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up", "2in", "3in", "inp", "pin", "pni"]
    assert [name for name, shape in SHAPES.items() if shape.has_negation] == ["2in", "3in", "inp", "pin", "pni"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("1p", "r1(e0)"),
        ("2p", "r2(r1(e0))"),
        ("3p", "r3(r2(r1(e0)))"),
        ("2i", "r1(e0) ∧ r3(e2)"),
        ("3i", "r1(e0) ∧ r3(e2) ∧ r5(e4)"),
        ("ip", "r4(r1(e0) ∧ r3(e2))"),
        ("pi", "r2(r1(e0)) ∧ r4(e3)"),
        ("2u", "r1(e0) ∨ r3(e2)"),
        ("up", "r4(r1(e0) ∨ r3(e2))"),
        ("2in", "r1(e0) ∧ ¬r3(e2)"),
        ("3in", "r1(e0) ∧ r3(e2) ∧ ¬r5(e4)"),
        ("inp", "r4(r1(e0) ∧ ¬r3(e2))"),
        ("pin", "r2(r1(e0)) ∧ ¬r4(e3)"),
        ("pni", "¬r2(r1(e0)) ∧ r4(e3)"),
    ],
)
def test_each_shape_means_what_the_paper_draws(name: str, shown: str) -> None:
    shape = SHAPES[name]
    values = [f"{slot}{position}" for position, slot in enumerate(shape.slots)]
    assert str(shape.fill(values)) == shown


@pytest.mark.parametrize("name", SHAPES)
def test_a_filled_shape_is_recognised_and_gives_its_values_back(name: str) -> None:
    values = list(range(len(SHAPES[name].slots)))
    query = SHAPES[name].fill(values)
    assert shape_of(query) is SHAPES[name]
    assert slot_values(query) == values
    assert template_of(query) == SHAPES[name].template


def test_the_order_of_branches_does_not_matter_to_the_name() -> None:
    assert shape_of(And((Not(A), B))).name == "2in"
    assert shape_of(And((A, Project("t", B)))).name == "pi"
    assert shape_of(Project("t", And((Not(A), B)))).name == "inp"


def test_a_shape_without_a_name_is_called_by_its_template() -> None:
    query = And((Or((A, B)), Not(Project("t", And((A, B))))))
    assert shape_of(query) == Shape("(e/r | e/r) & !(e/r & e/r)/r", "(e/r | e/r) & !(e/r & e/r)/r")


def test_a_new_shape_is_one_line() -> None:
    four_hops = Shape("4p", "e/r/r/r/r")
    assert four_hops.slots == "errrr"
    assert str(four_hops.fill(["a", "p", "q", "r", "s"])) == "s(r(q(p(a))))"


def test_and_binds_more_tightly_than_or() -> None:
    assert isinstance(Shape("", "e/r & e/r | e/r").skeleton, Or)
    assert isinstance(Shape("", "e/r & (e/r | e/r)").skeleton, And)
    assert Shape("", "!(e/r)/r").skeleton == Not(Project(2, Project(1, Anchor(0))))


@given(queries(safe=False))
def test_the_template_of_any_query_fills_to_that_query(query: Query) -> None:
    flat = flatten(query)
    forwards = _all_forwards(flat)
    assert Shape("any", template_of(forwards)).fill(slot_values(forwards)) == forwards


def _all_forwards(query: Query) -> Query:
    match query:
        case Project():
            return Project(query.relation, _all_forwards(query.source))
        case And() | Or():
            return type(query)(tuple(_all_forwards(part) for part in query.parts))
        case Not():
            return Not(_all_forwards(query.part))
    return query


@pytest.mark.parametrize("count", [0, 2, 4])
def test_a_wrong_number_of_values_is_an_error(count: int) -> None:
    with pytest.raises(ValueError, match=f"2p has 3 slots, not {count}"):
        SHAPES["2p"].fill(["a"] * count)


@pytest.mark.parametrize(
    ("template", "position", "problem"),
    [
        ("", 0, "expected `e`"),
        ("e/", 2, "expected `r`"),
        ("e/e", 2, "expected `r`"),
        ("(e/r", 4, "expected `)`"),
        ("e/r)", 3, "expected `/`, `&`, `|` or the end"),
        ("e/r & ", 6, "expected `e`"),
        ("e/r e/r", 4, "expected `/`, `&`, `|` or the end"),
        ("x", 0, "expected `e`"),
    ],
)
def test_a_template_that_does_not_parse_shows_where(template: str, position: int, problem: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        Shape("wrong", template).skeleton  # noqa: B018
    assert (caught.value.position, caught.value.problem) == (position, f"in a shape template: {problem}")


@pytest.mark.parametrize("template", ["(" * 10_000 + "e" + ")" * 10_000, "!" * 10_000 + "e/r", "e" + "/r" * 10_000])
def test_a_template_nested_ten_thousand_deep_is_refused(template: str) -> None:
    with pytest.raises((QuerySyntaxError, QueryRefused), match="nested deeper than 100 levels"):
        Shape("deep", template).skeleton  # noqa: B018


@given(st.text("er/&|!() ", max_size=12))
def test_any_template_is_read_or_is_a_syntax_error(template: str) -> None:
    try:
        skeleton = Shape("any", template).skeleton
    except QuerySyntaxError:
        return
    assert isinstance(skeleton, Query)
