from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.graphs import graph_of, triples
from unseen.datasets.answering import answer_table, easy_and_hard_answers
from unseen.datasets.edge_index import bit_set, index_of
from unseen.datasets.shared_work import batches, in_threads
from unseen.errors import QueryRefused
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.shapes import SHAPES, Shape
from unseen.logic.traverse import answers

ENTITIES, RELATIONS = 7, 2
ODD_SHAPES = [
    Shape("e", "e"),
    Shape("n", "!e/r"),
    Shape("nn", "!!e/r"),
    Shape("4p", "e/r/r/r/r"),
    Shape("4i", "e/r & e/r & e/r & e/r"),
    Shape("anchored", "e & !e/r"),
    Shape("under", "(!(e/r & !e) | e/r/r)/r & (e/r | !e/r)/r"),
]
ALL_SHAPES = [*SHAPES.values(), *ODD_SHAPES]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Shape, np.ndarray]:
    """A shape, and a few rows of ids for its slots."""
    shape = draw(st.sampled_from(ALL_SHAPES))
    kinds = {"e": st.integers(0, ENTITIES - 1), "r": st.integers(0, 2 * RELATIONS - 1)}
    rows = draw(st.lists(st.tuples(*(kinds[slot] for slot in shape.slots)), min_size=1, max_size=4))
    return shape, np.array(rows, np.int32)


def traversed(graph: KnowledgeGraph, shape: Shape, slots: np.ndarray) -> list[list[int]]:
    """What traversal says, among connected entities; a bare anchor answers itself wherever it stands."""
    connected = set(graph.connected_entities.tolist())
    found = [answers(graph, shape.fill(row)).tolist() for row in slots.tolist()]
    return [[entity for entity in row if entity in connected or shape.template == "e"] for row in found]


def rows_of(ragged: object) -> list[list[int]]:
    return [ragged.row(index).tolist() for index in range(len(ragged))]


@given(triples(ENTITIES, RELATIONS), tables())
def test_a_table_has_the_answers_that_traversal_gives(edges: list, table: tuple) -> None:
    graph = graph_of(edges, ENTITIES, RELATIONS)
    shape, slots = table
    if shape.name == "anchored":
        slots = slots[np.isin(slots[:, 0], graph.connected_entities)]
    assert rows_of(answer_table(graph, shape, slots)) == traversed(graph, shape, slots)


@given(triples(ENTITIES, RELATIONS), st.integers(0, 2**30 - 1), tables())
def test_easy_and_hard_answers_are_those_of_both_graphs(edges: list, bits: int, table: tuple) -> None:
    complete = graph_of(edges, ENTITIES, RELATIONS)
    observed = complete.restricted_to(np.array([bits >> i & 1 for i in range(complete.num_triples)], bool))
    shape, slots = table
    full = [set(row) for row in rows_of(answer_table(complete, shape, slots))]
    seen = [set(row) for row in rows_of(answer_table(observed, shape, slots))]
    easy, hard = easy_and_hard_answers(complete, observed, shape, slots)
    published_easy, published_hard = easy_and_hard_answers(complete, observed, shape, slots, compatible=True)
    assert [set(row) for row in rows_of(easy)] == [a & b for a, b in zip(full, seen, strict=True)]
    assert [set(row) for row in rows_of(published_easy)] == seen
    assert rows_of(hard) == rows_of(published_hard) == [sorted(a - b) for a, b in zip(full, seen, strict=True)]


@pytest.mark.parametrize("density", [300, 6000])
def test_sparse_and_dense_sets_are_walked_alike(density: int) -> None:
    generator = np.random.default_rng(density)
    edges = np.stack([generator.integers(0, bound, density) for bound in (200, 3, 200)], axis=1)
    graph = graph_of(edges.tolist(), 200, 3)
    for name in ("3p", "up", "inp", "pni"):
        shape = SHAPES[name]
        slots = np.stack([generator.integers(0, 200 if s == "e" else 6, 20) for s in shape.slots], 1).astype(np.int32)
        assert rows_of(answer_table(graph, shape, slots)) == traversed(graph, shape, slots)


def test_the_complement_is_taken_among_connected_entities() -> None:
    graph = graph_of([(0, 0, 1), (2, 0, 3)], 6, 1)
    assert rows_of(answer_table(graph, Shape("n", "!e/r"), np.array([[0, 0]], np.int32))) == [[0, 2, 3]]


def test_an_empty_table_has_no_answers(family: KnowledgeGraph) -> None:
    found = answer_table(family, SHAPES["2p"], np.empty((0, 3), np.int32))
    assert len(found) == 0
    assert len(found.values) == 0


def test_progress_ends_at_the_number_of_queries(family: KnowledgeGraph) -> None:
    told: list[tuple[int, int]] = []
    slots = np.zeros((5, 2), np.int32)
    answer_table(family, SHAPES["1p"], slots, lambda done, total: told.append((done, total)))
    assert told[-1] == (5, 5)


def test_an_index_is_built_once_for_each_pair_of_graphs(family: KnowledgeGraph) -> None:
    part = family.restricted_to(np.arange(family.num_triples) < 3)
    assert index_of(family, part) is index_of(family, part)
    assert index_of(family, part) is not index_of(family)


def test_an_index_puts_observed_targets_before_missing_ones() -> None:
    complete = graph_of([(0, 0, 1), (0, 0, 2), (0, 0, 3)], 4, 1)
    observed = complete.restricted_to(np.array([False, True, False]))
    index = index_of(complete, observed)
    start, missing, end = index.group_start[0], index.group_missing[0], index.group_start[1]
    assert index.targets[start:missing].tolist() == [2]
    assert index.targets[missing:end].tolist() == [1, 3]
    assert index.num_missing == 4


def test_an_index_is_the_same_however_edges_are_sorted(monkeypatch: pytest.MonkeyPatch, family: KnowledgeGraph) -> None:
    part = family.restricted_to(np.arange(family.num_triples) % 2 == 0)
    packed = index_of(family, part)
    monkeypatch.setattr("unseen.datasets.edge_index.PACKED_BITS", 0)
    copy = family.restricted_to(np.ones(family.num_triples, bool))
    for left, right in zip(packed, index_of(copy, part), strict=True):
        assert left.tolist() == right.tolist()


def test_a_graph_without_edges_has_no_answers() -> None:
    nothing = np.empty(0, np.int32)
    graph = KnowledgeGraph(nothing, nothing, nothing, Vocabulary.numbered(3, 1))
    assert rows_of(answer_table(graph, SHAPES["pni"], np.zeros((1, 5), np.int32))) == [[]]


@given(st.sets(st.integers(0, 149)))
def test_a_bit_set_has_the_bits_of_its_members(members: set[int]) -> None:
    words = bit_set(np.array(sorted(members), np.int32), 150)
    assert {i for i in range(192) if int(words[i // 64]) >> (i % 64) & 1} == members


def test_results_of_threads_come_in_order() -> None:
    assert in_threads(lambda x: x * x, range(20), threads=3) == [x * x for x in range(20)]


def test_work_inside_a_thread_stays_in_that_thread() -> None:
    def outer(_: int) -> set[str]:
        return set(in_threads(lambda _: threading.current_thread().name, range(4), threads=2))

    assert all(len(names) == 1 for names in in_threads(outer, range(3), threads=2))


def test_with_one_thread_nothing_inside_starts_another() -> None:
    def outer(_: int) -> set[str]:
        return set(in_threads(lambda _: threading.current_thread().name, range(4)))

    assert in_threads(outer, range(2), threads=1) == [{threading.current_thread().name}] * 2


def test_a_failure_in_a_thread_is_raised_to_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda x: 1 // x, [1, 0, 1], threads=2)


def test_batches_cover_all_rows_once() -> None:
    assert [row for rows in batches(7, 3) for row in range(7)[rows]] == list(range(7))
    assert list(batches(0, 3)) == []


@pytest.mark.parametrize("row", [[7, 0], [-1, 0], [0, 4], [0, -1]])
def test_an_id_that_the_graph_does_not_have_is_refused(row: list[int]) -> None:
    graph = graph_of([(0, 0, 1), (2, 1, 3)], ENTITIES, RELATIONS)
    with pytest.raises(QueryRefused, match="does not have"):
        answer_table(graph, SHAPES["1p"], np.array([row], np.int32))


def test_a_table_with_the_wrong_number_of_columns_is_refused(family: KnowledgeGraph) -> None:
    with pytest.raises(ValueError, match="2 columns"):
        answer_table(family, SHAPES["1p"], np.zeros((1, 3), np.int32))
