"""Questions about values: none holds up what comes after it, and none takes memory that grows with texts times rows."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest

import unseen
from unseen import KnowledgeGraph
from unseen.errors import QueryRefused, Stopped
from unseen.graph.attributes.value_kinds import XSD, Kind, Tag, kind_of
from unseen.logic.stopping import checked_by, stop_when
from unseen.logic.values.matching import states_of

COUNT = 400
SLOW = "((a{0,1000}){0,1}b?){0,1}" + ".*" * 6 + "y"
"""Tens of thousands of states, all of which most texts keep alive."""
DATE = Tag(f"{XSD}date")


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    triples = [(f"n{i}", "in", "hub") for i in range(COUNT)]
    values: list[tuple[str, str, object]] = [(f"n{i}", "note", "a" * 5000 + str(i)) for i in range(COUNT)]
    values += [(f"n{i}", "age", i) for i in range(COUNT)]
    return KnowledgeGraph.from_triples(triples).extended_with(values=values)


def known(graph: KnowledgeGraph, question: str, **wishes: object) -> unseen.Answers:
    return unseen.ask(graph, question, method="exact", **wishes)  # type: ignore[arg-type]


def test_a_slow_regular_expression_is_stopped_on_its_way(graph: KnowledgeGraph) -> None:
    """All texts together take minutes."""
    began = time.process_time()
    with pytest.raises(Stopped), stop_when(lambda: time.process_time() > began + 0.2):
        known(graph, f'?x : in(x, hub) & note(x) ~ "{SLOW}"')
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "pattern", ["(a?){1000}" * 50, "((a{30}){30}b?){100}", r"(\\p{L}\\p{N}){60}", "[^a]{1000}" * 3]
)
def test_an_expression_that_is_too_large_for_its_texts_is_refused(graph: KnowledgeGraph, pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(QueryRefused, match="too large"):
        known(graph, f'?x : in(x, hub) & note(x) ~ "{pattern}"')
    assert time.process_time() - began < 2


def test_usual_expressions_are_small() -> None:
    for pattern in (r"^New (York|Jersey)$", r"[A-Z][a-z]{2,30}(-\d{4})?", r"\p{Lu}\w+", "(?i:stra(ss|ß)e).*[^x]", ""):
        assert states_of(pattern) < 10_000
    assert states_of("(ab){3}") == states_of("ababab") + 3
    assert states_of("a{2,}") == 3


def test_long_texts_are_compared_in_pieces(graph: KnowledgeGraph) -> None:
    """160,000 pairs of texts of 5,000 signs would take 1.6 GB at once."""
    with counted_memory() as pool:
        found = known(graph, "?x, y : in(x, hub) & in(y, hub) & note(x) = note(y)", top=1000)
    assert found.known == COUNT
    assert pool.max_memory() < 300 << 20


@contextmanager
def counted_memory() -> Iterator[pa.MemoryPool]:
    """A pool of Arrow's memory that counts what is taken in the block."""
    before = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(before)
    pa.set_memory_pool(counting)
    try:
        yield counting
    finally:
        pa.set_memory_pool(before)


def test_known_tuples_are_counted_without_an_object_for_each(graph: KnowledgeGraph) -> None:
    tracemalloc.start()
    try:
        found = known(graph, "?x, y : exists h . in(x, h) & in(y, h)", order_by="name desc")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.known, found[0].values) == (COUNT**2, {"x": "n99", "y": "n0"})
    assert most < 200 * COUNT**2


def test_an_order_has_a_bounded_number_of_keys(graph: KnowledgeGraph) -> None:
    with pytest.raises(QueryRefused, match="at most 16 keys, not 8,000"):
        known(graph, "?x : in(x, hub)", order_by=", ".join(["age desc", "name"] * 4000))


@pytest.mark.parametrize("year", ["9" * 10, "-" + "9" * 400, "9" * 10_000])
def test_a_year_may_have_any_number_of_digits(graph: KnowledgeGraph, year: str) -> None:
    kind, number = kind_of(f"{year}-01-01", DATE)
    assert kind is Kind.DATE
    assert abs(number) > 1e16
    assert known(graph, f"?x : in(x, hub) & age(x) < {year}-01-01").known == (0 if year.startswith("-") else COUNT)


def test_years_are_in_order_where_they_become_long() -> None:
    years = ["-9999999999", "-1000000000", "-99999999", "0001", "999999999", "1000000000", "9999999999"]
    numbers = [kind_of(f"{year}-06-01", DATE)[1] for year in years]
    assert numbers == sorted(numbers)


def test_checks_come_often_enough_between_rows(graph: KnowledgeGraph) -> None:
    gaps, last = [], time.process_time()

    def check() -> None:
        nonlocal last
        gaps.append(time.process_time() - last)
        last = time.process_time()

    with checked_by(check):
        known(graph, '?x, y : in(x, hub) & in(y, hub) & note(x) ~ "a+b" & age(x) > age(y)')
    assert max(gaps) < 1
