"""Names lead to ids and back, in every way a user may write them."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import AmbiguousName, UnknownName
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.graph.arrow_arrays import text_array
from unseen.graph.names import Names, unique_labels
from unseen.graph.prefixes import Prefixes
from unseen.graph.vocabulary import directed_relation, inverse_relation, is_inverse, undirected_relation

PARIS, PARIS_TEXAS, LYON = "http://geo.org/Q90", "http://geo.org/Q830149", "http://geo.org/Q456"
RHONE, OTHER_LYON = "http://river.org/Rhone", "http://river.org/Q456"
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@pytest.fixture
def places() -> Names:
    keys = [PARIS, PARIS_TEXAS, LYON, RHONE, OTHER_LYON]
    prefixes = Prefixes().extended_to(text_array(keys))
    labels = unique_labels(["Paris", "Paris", "Lyon", None, None], keys, prefixes)
    return Names("entity", text_array(keys), text_array(labels), prefixes)


@given(st.lists(TEXT, unique=True, max_size=8))
def test_plain_names_lead_to_their_positions_and_back(names: list[str]) -> None:
    vocabulary = Vocabulary.of(names, names)
    for index, name in enumerate(names):
        assert vocabulary.entity_name(index) == name
        assert vocabulary.entity_id(name) == index
        assert vocabulary.relation_name(vocabulary.relation_id(name, inverse=True)) == (name, True)
    assert vocabulary.entities.find_all(names).tolist() == list(range(len(names)))


def test_a_label_a_key_and_all_forms_of_an_iri_are_accepted(places: Names) -> None:
    for name in ("Lyon", LYON, f"<{LYON}>", "geo:Q456"):
        assert places.find(name) == 2
    for name in ("river:Rhone", RHONE, f"<{RHONE}>", "Rhone"):
        assert places.find(name) == 3
    assert places.name(2) == "Lyon"
    assert places.name(3) == "river:Rhone"
    assert places.key(2) == LYON


def test_a_label_that_two_things_share_shows_which_is_which(places: Names) -> None:
    assert places.name(0) == "Paris (geo:Q90)"
    assert places.find("Paris (geo:Q830149)") == 1
    with pytest.raises(AmbiguousName) as caught:
        places.find("Paris")
    assert caught.value.closest == ("Paris (geo:Q90)", "Paris (geo:Q830149)")
    assert str(caught.value) == (
        "the entity name 'Paris' is ambiguous; choose one of: Paris (geo:Q90), Paris (geo:Q830149)"
    )


def test_a_local_name_that_two_iris_share_is_ambiguous(places: Names) -> None:
    with pytest.raises(AmbiguousName) as caught:
        places.find("Q456")
    assert caught.value.closest == ("Lyon", "river:Q456")


def test_many_names_are_found_at_once_and_unknown_ones_marked(places: Names) -> None:
    assert places.find_all(["nowhere", "Lyon", RHONE, "geo:Q90", "river:Q90"]).tolist() == [-1, 2, 3, 0, -1]
    assert places.find_all([]).tolist() == []


def test_an_unknown_name_is_an_error_with_the_five_closest() -> None:
    vocabulary = Vocabulary.of(["France", "Frankfurt", "Franconia", "Finance", "Trance", "France2", "Peru"], [])
    with pytest.raises(UnknownName) as caught:
        vocabulary.entity_id("Frence")
    assert (caught.value.kind, caught.value.name) == ("entity", "Frence")
    assert len(caught.value.closest) == 5
    assert caught.value.closest[0] == "France"
    assert "Peru" not in caught.value.closest
    assert str(caught.value).startswith("unknown entity 'Frence'; closest: France, ")


def test_relations_have_closest_names_too(family: KnowledgeGraph) -> None:
    with pytest.raises(UnknownName, match="unknown relation 'perent'; closest: parent"):
        family.vocabulary.relation_id("perent")


@pytest.mark.parametrize("typed", ["Frnace", "france", "FRANCE", "Frankreich", "Francee", "F rance", "rance"])
def test_the_name_that_was_meant_is_among_the_closest(countries: KnowledgeGraph, typed: str) -> None:
    assert "France" in countries.vocabulary.entities.closest(typed)


def test_a_name_of_one_letter_is_found_and_missed_gracefully() -> None:
    vocabulary = Vocabulary.of(["a", "b", "ab"], ["r"])
    assert vocabulary.entity_id("a") == 0
    with pytest.raises(UnknownName) as caught:
        vocabulary.entity_id("A")
    assert caught.value.closest == ("a", "ab")
    with pytest.raises(UnknownName, match=r"unknown entity 'z'$"):
        vocabulary.entity_id("z")


def test_an_empty_name_and_an_empty_vocabulary_are_unknown_names() -> None:
    with pytest.raises(UnknownName, match=r"unknown entity ''; closest: a$"):
        Vocabulary.of(["a"], []).entity_id("")
    with pytest.raises(UnknownName, match=r"unknown relation 'r'$"):
        Vocabulary.of(["a"], []).relation_id("r")


def test_a_very_long_unknown_name_is_answered_quickly_in_one_short_line(countries: KnowledgeGraph) -> None:
    started = time.perf_counter()
    with pytest.raises(UnknownName) as caught:
        countries.vocabulary.entity_id("France and so on " * 60_000)
    assert time.perf_counter() - started < 10
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


def test_a_very_long_name_can_be_looked_up() -> None:
    name = "x" * 100_000
    vocabulary = Vocabulary.of([name, name + "y"], [])
    assert vocabulary.entity_id(name + "y") == 1
    assert vocabulary.entities.closest(name[:-1] + "z")[0].startswith("xxx")


@given(st.text(max_size=8))
def test_looking_for_any_text_finds_it_or_says_it_is_unknown(name: str) -> None:
    vocabulary = Vocabulary.of(["a", "a.b", "(", "[x]*", "%", "\\d+", "é", "\x00"], ["r"])
    try:
        found = vocabulary.entity_name(vocabulary.entity_id(name))
    except UnknownName as error:
        found = error.name
    assert found == name


def test_extended_names_keep_ids_labels_and_the_old_object(places: Names) -> None:
    grown = places.extended_with(text_array(["http://sea.org/North", "plain"]))
    assert len(places) == 5
    assert len(grown) == 7
    assert [grown.name(index) for index in range(5)] == [places.name(index) for index in range(5)]
    assert [grown.name(5), grown.name(6)] == ["sea:North", "plain"]
    assert grown.find("sea:North") == 5
    assert places.extended_with(pa.array([], pa.large_string())) is places


def test_new_names_may_come_with_labels(places: Names) -> None:
    grown = places.extended_with(text_array(["http://sea.org/North"]), text_array(["North Sea"]))
    assert grown.find("North Sea") == grown.find("http://sea.org/North") == 5


def test_numbers_serve_as_names_where_there_are_none() -> None:
    vocabulary = Vocabulary.numbered(3, 2)
    assert (vocabulary.num_entities, vocabulary.num_relations, vocabulary.num_directed_relations) == (3, 2, 4)
    assert vocabulary.entity_name(2) == "2"
    assert vocabulary.relation_id("1", inverse=True) == 3


@given(st.integers(0, 2**30 - 1), st.booleans())
def test_an_inverse_is_numbered_beside_its_relation(relation: int, inverse: bool) -> None:
    directed = directed_relation(relation, inverse)
    assert undirected_relation(directed) == relation
    assert is_inverse(directed) is inverse
    assert undirected_relation(inverse_relation(directed)) == relation
    assert inverse_relation(inverse_relation(directed)) == directed
    assert inverse_relation(directed) != directed
