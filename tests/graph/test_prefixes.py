"""Short forms of IRIs lead back to exactly one IRI."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.graph.prefixes import (
    MOST_PREFIXES,
    PLAIN_NAMESPACE,
    WELL_KNOWN,
    Prefixes,
    iri_of,
    is_iri,
    key_of,
)

IRI_LETTERS = st.text("abZ09_-./#:%é日", max_size=12)
IRIS = st.builds("{}{}".format, st.sampled_from(["http://", "https://a.org/", "urn:", "mailto:"]), IRI_LETTERS)
ANY_NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


def keys(*names: str) -> pa.Array:
    return pa.array(names, pa.large_string())


def test_a_well_known_namespace_has_its_usual_prefix() -> None:
    prefixes = Prefixes().extended_to(keys("http://www.wikidata.org/entity/Q90"))
    assert prefixes.shorten("http://www.wikidata.org/entity/Q90") == "wd:Q90"
    assert prefixes.expand("wd:Q90") == "http://www.wikidata.org/entity/Q90"


def test_a_declared_prefix_comes_before_a_well_known_one() -> None:
    prefixes = Prefixes().extended_to(keys("http://schema.org/name"), {"s": "http://schema.org/"})
    assert prefixes.shorten("http://schema.org/name") == "s:name"


def test_other_namespaces_get_a_prefix_from_their_last_telling_word() -> None:
    prefixes = Prefixes().extended_to(keys("http://example.org/geo/Paris", "http://data.other.org/id/7"))
    assert prefixes.namespaces == {"geo": "http://example.org/geo/", "other": "http://data.other.org/id/"}


@pytest.mark.parametrize("name", ["urn:isbn:12", "tag:a", "tag:me@example.org,2020:b", "mailto:me@example.org"])
def test_names_without_slashes_stay_as_they_are_unless_a_prefix_is_declared(name: str) -> None:
    assert Prefixes().extended_to(keys(name, name + "x")).shorten(name) == name
    declared = Prefixes().extended_to(keys("urn:isbn:12"), {"isbn": "urn:isbn:"})
    assert declared.shorten("urn:isbn:12") == "isbn:12"


def test_equal_words_are_told_apart_by_a_number() -> None:
    prefixes = Prefixes().extended_to(keys("http://a.org/geo/x", "http://b.org/geo/x", "http://c.org/geo/x"))
    assert list(prefixes.namespaces) == ["geo", "geo2", "geo3"]


def test_frequent_namespaces_come_first_when_prefixes_run_out() -> None:
    rare = [f"http://ex.org/n{number}/x" for number in range(MOST_PREFIXES + 10)]
    prefixes = Prefixes().extended_to(keys(*rare, "http://often.org/a", "http://often.org/b"))
    assert len(prefixes.namespaces) == MOST_PREFIXES
    assert prefixes.shorten("http://often.org/a") == "often:a"
    assert prefixes.shorten(rare[-1]) == rare[-1]


def test_extending_keeps_old_prefixes_and_the_old_object() -> None:
    first = Prefixes().extended_to(keys("http://a.org/geo/x"))
    second = first.extended_to(keys("http://b.org/geo/x"), {"geo": "http://b.org/geo/"})
    assert first.namespaces == {"geo": "http://a.org/geo/"}
    assert second.namespaces == {"geo": "http://a.org/geo/", "geo2": "http://b.org/geo/"}


@given(st.lists(IRIS, max_size=6))
def test_a_short_form_leads_back_to_its_iri(iris: list[str]) -> None:
    prefixes = Prefixes().extended_to(keys(*iris))
    for iri in iris:
        short = prefixes.shorten(iri)
        assert short == iri or prefixes.expand(short) == iri
    assert len({prefixes.shorten(iri) for iri in iris}) == len(set(iris))


@pytest.mark.parametrize("name", ["Paris", "a:b", "2019", "", "C:\\data", "not a://iri", "://x"])
def test_plain_names_are_no_iris_and_stay_as_they_are(name: str) -> None:
    assert not is_iri(name)
    assert Prefixes(WELL_KNOWN).shorten(name) == name


@pytest.mark.parametrize("name", ["http://a", "HTTP://A", "urn:x", "mailto:a@b.c", "tag:x", "x-y+1.z://q"])
def test_absolute_iris_are_recognised(name: str) -> None:
    assert is_iri(name)


def test_a_namespace_itself_is_not_shortened_to_nothing() -> None:
    prefixes = Prefixes().extended_to(keys("http://ex.org/a", "http://ex.org/"))
    assert prefixes.shorten("http://ex.org/") == "http://ex.org/"


def test_angle_brackets_hold_a_full_iri() -> None:
    assert Prefixes().expand("<http://ex.org/a>") == "http://ex.org/a"
    assert Prefixes().expand("<urn:unseen:Low%20Saxon>") == "Low Saxon"
    assert Prefixes().expand("a:b") is None


def test_a_new_name_becomes_an_iri_only_where_it_stands_for_one() -> None:
    prefixes = Prefixes({"ex": "http://ex.org/"})
    assert prefixes.key_of_name("ex:a") == "http://ex.org/a"
    assert prefixes.key_of_name("<http://other.org/a>") == "http://other.org/a"
    assert prefixes.key_of_name("<urn:unseen:Low%20Saxon>") == "Low Saxon"
    assert prefixes.key_of_name("<unknown>") == "<unknown>"
    assert prefixes.key_of_name("other:a") == "other:a"


@given(ANY_NAME)
def test_every_name_has_an_iri_that_leads_back_to_it(name: str) -> None:
    assert key_of(iri_of(name)) == name


@given(IRIS)
def test_an_iri_that_rdf_can_hold_is_its_own_iri(iri: str) -> None:
    assert iri_of(iri) == iri


@pytest.mark.parametrize(
    "name", ["http://a/b c", "http://a/<b>", 'http://a/"', "http://a/{b}", "urn:a\\b", "http://a\n"]
)
def test_what_looks_like_an_iri_but_cannot_stand_in_rdf_is_escaped(name: str) -> None:
    assert iri_of(name).startswith(PLAIN_NAMESPACE)
    assert key_of(iri_of(name)) == name


def test_an_iri_in_the_namespace_of_plain_names_that_was_not_made_here_stays() -> None:
    assert key_of(PLAIN_NAMESPACE) == PLAIN_NAMESPACE
    assert key_of(PLAIN_NAMESPACE + "%FF") == PLAIN_NAMESPACE + "%FF"
    assert key_of("http://a.org/%20") == "http://a.org/%20"
