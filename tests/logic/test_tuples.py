"""The nested tuples of the published query files."""

from __future__ import annotations

import contextlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logic.strategies import ENTITIES, RELATIONS, queries
from unseen.errors import QueryError, QueryRefused
from unseen.graph import Vocabulary
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, bind
from unseen.logic.shapes import SHAPES, shape_of, slot_values
from unseen.logic.tuples import from_tuple, to_tuple

VOCABULARY = Vocabulary.of(ENTITIES, RELATIONS)
N, U = -2, (-1,)
PUBLISHED = {
    "1p": (0, (10,)),
    "2p": (0, (10, 11)),
    "3p": (0, (10, 11, 12)),
    "2i": ((0, (10,)), (1, (11,))),
    "3i": ((0, (10,)), (1, (11,)), (2, (12,))),
    "ip": (((0, (10,)), (1, (11,))), (12,)),
    "pi": ((0, (10, 11)), (1, (12,))),
    "2in": ((0, (10,)), (1, (11, N))),
    "3in": ((0, (10,)), (1, (11,)), (2, (12, N))),
    "inp": (((0, (10,)), (1, (11, N))), (12,)),
    "pin": ((0, (10, 11)), (1, (12, N))),
    "pni": ((0, (10, 11, N)), (1, (12,))),
    "2u": ((0, (10,)), (1, (11,)), U),
    "up": (((0, (10,)), (1, (11,)), U), (12,)),
}


def numbers(nested: object) -> list[int]:
    """The ids of a nested tuple in reading order, without the marks of union and negation."""
    if isinstance(nested, int):
        return [] if nested < 0 else [nested]
    return [number for part in nested for number in numbers(part)]


@pytest.mark.parametrize("name", SHAPES)
def test_the_published_tuples_of_every_shape_are_read_and_written(name: str) -> None:
    query = from_tuple(PUBLISHED[name])
    assert shape_of(query).name == name
    assert to_tuple(query) == PUBLISHED[name]


@pytest.mark.parametrize("name", SHAPES)
def test_the_slots_of_a_shape_are_the_ids_of_the_published_tuple_in_order(name: str) -> None:
    assert SHAPES[name].fill(numbers(PUBLISHED[name])) == from_tuple(PUBLISHED[name])
    assert slot_values(from_tuple(PUBLISHED[name])) == numbers(PUBLISHED[name])


def test_de_morgan_forms_of_the_unions_are_read() -> None:
    left, right = Project(10, Anchor(0)), Project(11, Anchor(1))
    both = And((Not(left), Not(right)))
    assert from_tuple((((0, (10, N)), (1, (11, N))), (N,))) == Not(both)
    assert from_tuple((((0, (10, N)), (1, (11, N))), (N, 12))) == Project(12, Not(both))


@given(queries(safe=False))
def test_tuples_of_any_query_lead_back_to_it(query: Query) -> None:
    ids = bind(query, VOCABULARY.entity_id, VOCABULARY.relation_id)
    assert from_tuple(to_tuple(ids)) == ids


def test_relation_ids_are_translated_both_ways() -> None:
    query = from_tuple((0, (3, N, 4)), relation=lambda relation: relation * 10)
    assert query == Project(40, Not(Project(30, Anchor(0))))
    assert to_tuple(query, relation=lambda relation: relation // 10) == (0, (3, N, 4))


def test_a_union_of_one_and_an_intersection_of_one_stay_what_they_are() -> None:
    assert from_tuple(((0, (1,)), U)) == Or((Project(1, Anchor(0)),))
    assert from_tuple(((0, (1,)),)) == And((Project(1, Anchor(0)),))
    assert from_tuple((0, ())) == Anchor(0)


@pytest.mark.parametrize(
    "nested",
    [
        (),
        (U,),
        5,
        (5,),
        "abc",
        ("a", ("b",)),
        [0, [1]],
        (0, (1, "r")),
        (None, (1,)),
        None,
        (-1, (1,)),
        (0, (1, -1)),
        (0, (-3,)),
    ],
)
def test_what_is_no_query_is_refused(nested: object) -> None:
    with pytest.raises(QueryRefused):
        from_tuple(nested)


NESTED = st.recursive(
    st.integers(-3, 5) | st.none() | st.text(max_size=2), lambda inner: st.lists(inner, max_size=3).map(tuple)
)


@given(NESTED)
def test_reading_any_nest_of_tuples_gives_a_query_or_an_error_for_the_user(nested: object) -> None:
    with contextlib.suppress(QueryError):
        assert isinstance(from_tuple(nested), Query)


@pytest.mark.parametrize("wrap", [lambda q: (q,), lambda q: (q, (1,)), lambda q: (q, q), lambda q: (q, U)])
def test_tuples_nested_ten_thousand_deep_are_refused_in_a_short_line(wrap: type[tuple]) -> None:
    nested = (0, (1,))
    for _ in range(10_000):
        nested = wrap(nested)
    with pytest.raises(QueryRefused) as caught:
        from_tuple(nested)
    assert len(str(caught.value)) < 500


def test_a_chain_of_ten_thousand_steps_is_refused() -> None:
    with pytest.raises(QueryRefused, match="nested deeper"):
        from_tuple((0, (1,) * 10_000))


def test_a_query_with_names_has_no_tuple() -> None:
    for query in (Anchor("a"), Project("7", Anchor(0)), And((Project(1, Anchor("a")),))):
        with pytest.raises(QueryRefused, match="bind it to a graph first"):
            to_tuple(query)


def test_every_shape_has_its_published_tuple_here() -> None:
    assert Counter(PUBLISHED.keys()) == Counter(SHAPES.keys())
