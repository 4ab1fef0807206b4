from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.datasets.random_graphs import content, graphs_with_missing_edges, random_edges, sets
from tests.graph.graphs import graph_of
from unseen.datasets import answering
from unseen.datasets.answering import answer_table
from unseen.datasets.edge_index import index_of
from unseen.datasets.sampling import sample
from unseen.datasets.sampling.branches import Branches
from unseen.datasets.sampling.grounding import Grounder, stream_key
from unseen.datasets.sampling.sample import SampleOptions, sample_queries
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.graph.vocabulary import directed_relation, inverse_relation
from unseen.logic.shapes import SHAPES, Shape

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph


@pytest.fixture(scope="module")
def graphs() -> SplitGraphs:
    return graphs_with_missing_edges()


@pytest.fixture(scope="module")
def training(graphs: SplitGraphs) -> SplitGraphs:
    return SplitGraphs("train", graphs.complete, graphs.complete)


@pytest.mark.parametrize("compatible", [False, True])
@pytest.mark.parametrize("name", [name for name in SHAPES if name != "1p"])
def test_every_query_keeps_the_rules(graphs: SplitGraphs, name: str, compatible: bool) -> None:
    table = sample_queries(graphs, SHAPES[name], 60, SampleOptions(compatible=compatible)).table
    full = sets(answer_table(graphs.complete, table.shape, table.slots))
    seen = sets(answer_table(graphs.observed, table.shape, table.slots))
    assert len(table) == 60
    assert len({row.tobytes() for row in table.slots}) == 60
    assert sets(table.hard) == [a - b for a, b in zip(full, seen, strict=True)]
    assert sets(table.easy) == (seen if compatible else [a & b for a, b in zip(full, seen, strict=True)])
    assert all(table.hard.lengths > 0)
    if table.shape.has_negation:
        assert all(b - a for a, b in zip(full, seen, strict=True))


@pytest.mark.parametrize("name", ["2p", "2i", "up", "3in"])
def test_training_queries_have_only_easy_answers(training: SplitGraphs, name: str) -> None:
    table = sample_queries(training, SHAPES[name], 50).table
    assert sets(table.easy) == sets(answer_table(training.complete, table.shape, table.slots))
    assert all(table.easy.lengths > 0)
    assert table.hard.lengths.tolist() == [0] * 50


@pytest.mark.parametrize("compatible", [False, True])
def test_answers_are_capped(monkeypatch: pytest.MonkeyPatch, graphs: SplitGraphs, compatible: bool) -> None:
    monkeypatch.setattr("unseen.datasets.sampling.selection_rules.MAX_ANSWERS", 3)
    table = sample_queries(graphs, SHAPES["2p"], 40, SampleOptions(compatible=compatible)).table
    assert table.hard.lengths.max() <= 3
    assert ((table.easy.lengths + table.hard.lengths).max() <= 3) == (not compatible)


@pytest.mark.parametrize("name", ["3p", "3i", "inp"])
def test_the_same_seed_gives_the_same_bytes_whatever_the_batches(
    monkeypatch: pytest.MonkeyPatch, graphs: SplitGraphs, name: str
) -> None:
    usual = content(sample_queries(graphs, SHAPES[name], 300, SampleOptions(seed=5)).table)
    monkeypatch.setattr(sample, "SMALLEST_BATCH", 7)
    monkeypatch.setattr(answering, "BATCH_BYTES", 64)
    assert content(sample_queries(graphs, SHAPES[name], 300, SampleOptions(seed=5)).table) == usual
    assert content(sample_queries(graphs, SHAPES[name], 300, SampleOptions(seed=6)).table) != usual


def test_a_prefix_of_a_longer_sample_is_the_shorter_one(graphs: SplitGraphs) -> None:
    short, long = (sample_queries(graphs, SHAPES["pi"], count).table.slots for count in (20, 200))
    assert (long[:20] == short).all()


def test_one_link_questions_are_all_listed(graphs: SplitGraphs, training: SplitGraphs) -> None:
    table = sample_queries(graphs, SHAPES["1p"], None).table
    complete, observed = edge_sets(graphs.complete), edge_sets(graphs.observed)
    wanted = {key for key, tails in complete.items() if tails - observed.get(key, set())}
    assert {tuple(row) for row in table.slots.tolist()} == wanted
    assert sets(table.hard) == [complete[tuple(k)] - observed.get(tuple(k), set()) for k in table.slots.tolist()]
    assert sets(table.easy) == [observed.get(tuple(key), set()) for key in table.slots.tolist()]
    listed = sample_queries(training, SHAPES["1p"], None).table
    assert {tuple(row) for row in listed.slots.tolist()} == set(complete)
    assert sets(listed.easy) == [complete[tuple(key)] for key in listed.slots.tolist()]


def edge_sets(graph: KnowledgeGraph) -> dict[tuple[int, int], set[int]]:
    """Tails by (head, directed relation)."""
    found: dict[tuple[int, int], set[int]] = {}
    for head, relation, tail in zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True):
        found.setdefault((head, directed_relation(relation)), set()).add(tail)
        found.setdefault((tail, directed_relation(relation, inverse=True)), set()).add(head)
    return found


def test_fewer_one_link_questions_are_chosen_at_random(graphs: SplitGraphs) -> None:
    everything = sample_queries(graphs, SHAPES["1p"], None).table
    some = sample_queries(graphs, SHAPES["1p"], 10)
    assert len(some.table) == 10
    assert some.shortfall is None
    assert {tuple(row) for row in some.table.slots.tolist()} <= {tuple(row) for row in everything.slots.tolist()}


@pytest.mark.parametrize(("compatible", "name"), [(False, "2p"), (True, "2p"), (False, "2i"), (True, "2i")])
def test_asked_for_more_than_there_are_it_says_how_many_there_are(compatible: bool, name: str) -> None:
    complete = graph_of(random_edges(3, 14, 6, 2).tolist(), 6, 2)
    observed = complete.restricted_to(np.arange(complete.num_triples) % 3 > 0)
    graphs = SplitGraphs("test", observed, complete)
    shape = SHAPES[name]
    found = sample_queries(graphs, shape, 100_000, SampleOptions(compatible=compatible))
    rows = product(*(range(6 if slot == "e" else 4) for slot in shape.slots))
    expected = {row for row in rows if is_wanted(graphs, shape, row, compatible)}
    if name == "2i" and not compatible:
        expected = {min(row, row[2:] + row[:2]) for row in expected}
    assert len(found.table) == len(expected)
    assert found.shortfall == f"{len(expected)} of 100,000 queries: there are no more"


def is_wanted(graphs: SplitGraphs, shape: Shape, row: tuple[int, ...], compatible: bool) -> bool:
    """Whether a query has a hard answer and could be grounded: no step straight back, no two equal branches."""
    slots = np.array([row], np.int32)
    if sets(answer_table(graphs.complete, shape, slots)) == sets(answer_table(graphs.observed, shape, slots)):
        return False
    if shape.name == "2i":
        return row[:2] != row[2:]
    return row[2] == row[1] or guard(row[1], compatible) != guard(row[2], compatible)


def guard(relation: int, compatible: bool) -> int:
    """Two relations with the same guard do not follow each other; published ids of 2 relations: 0 1, inverses 2 3."""
    return {0: 0, 1: 2, 2: 1, 3: 3}[relation] // 2 if compatible else relation // 2


def test_sampling_gives_up_on_a_graph_too_large_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "SEARCHED_WAYS", 0)
    monkeypatch.setattr(sample, "PATIENCE", 30_000)
    complete = graph_of([(0, 0, 1), (1, 0, 2), (2, 1, 0)], 3, 2)
    graphs = SplitGraphs("test", complete.restricted_to(np.array([True, False, True])), complete)
    found = sample_queries(graphs, SHAPES["2p"], 1000)
    assert not found.exact
    assert "no more were found among" in str(found.shortfall)


def test_a_graph_without_missing_edges_has_no_test_queries(graphs: SplitGraphs) -> None:
    copy = graphs.complete.restricted_to(np.ones(graphs.complete.num_triples, bool))
    complete = SplitGraphs("test", copy, graphs.complete)
    assert len(sample_queries(complete, Shape("one step", "e/r"), None).table) == 0


def test_branches_in_another_order_are_the_same_question_except_by_the_published_rules() -> None:
    complete = graph_of(random_edges(4, 20, 6, 2).tolist(), 6, 2)
    graphs = SplitGraphs("train", complete, complete)
    for compatible in (False, True):
        table = sample_queries(graphs, SHAPES["2u"], 100_000, SampleOptions(compatible=compatible)).table
        pairs = {tuple(row) for row in table.slots.tolist()}
        turned = {row[2:] + row[:2] for row in pairs}
        assert bool(pairs & turned) == compatible


def test_no_step_leads_straight_back_also_across_branches(training: SplitGraphs) -> None:
    chains = {"3p": [(1, 2), (2, 3)], "ip": [(1, 4), (3, 4)], "pni": [(1, 2)]}
    for name, steps in chains.items():
        slots = sample_queries(training, SHAPES[name], 300).table.slots
        assert not any((slots[:, a] == inverse_relation(slots[:, b])).any() for a, b in steps)


def test_by_the_published_rules_a_true_inverse_may_follow(training: SplitGraphs) -> None:
    slots = sample_queries(training, SHAPES["2p"], 2000, SampleOptions(compatible=True)).table.slots
    assert (slots[:, 1] == inverse_relation(slots[:, 2])).any()


def test_relations_are_drawn_by_kind_and_not_by_edge() -> None:
    graph = graph_of([(head, 0, 10) for head in range(9)] + [(9, 1, 10)], 11, 2)
    slots, grounded = Grounder(index_of(graph), SHAPES["1p"]).draw(stream_key("test"), 0, 20_000)
    assert grounded.all()
    at_hub = slots[np.isin(slots[:, 1], [directed_relation(0), directed_relation(1)])]
    assert abs((at_hub[:, 1] == directed_relation(1)).mean() - 0.5) < 0.06
    heads = np.bincount(at_hub[at_hub[:, 1] == directed_relation(0), 0], minlength=9)
    assert heads[:9].min() > 0.6 * heads[:9].mean()


def test_all_ways_to_ground_a_shape_are_those_that_can_be_drawn() -> None:
    complete = graph_of(random_edges(5, 12, 6, 2).tolist(), 6, 2)
    for name, compatible in product(("2p", "pi", "inp"), (False, True)):
        grounder = Grounder(index_of(complete), SHAPES[name], compatible)
        drawn, grounded = grounder.draw(1, 0, 100_000)
        assert {row.tobytes() for row in drawn[grounded]} == {row.tobytes() for row in grounder.everything(10**6)}
        assert grounder.everything(3) is None


def test_equal_branches_are_found_in_any_order() -> None:
    branches = Branches(Shape("two", "(e/r & e/r)/r & (e/r & e/r)/r"))
    rows = np.array([[1, 2, 3, 4, 5, 3, 4, 1, 2, 5], [1, 2, 1, 2, 5, 3, 4, 1, 2, 5]], np.int32)
    canonical = branches.canonical(rows)
    assert canonical[0].tolist() == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    assert branches.repeated(canonical).tolist() == [True, True]
    assert branches.repeated(rows).tolist() == [False, True]


OWN_SHAPES = [Shape("4p", "e/r/r/r/r"), Shape("4i", "e/r & e/r & e/r & e/r"), Shape("e", "e & e/r")]


@pytest.mark.parametrize("shape", OWN_SHAPES)
def test_any_shape_can_be_sampled(training: SplitGraphs, shape: Shape) -> None:
    table = sample_queries(training, shape, 25).table
    assert sets(table.easy) == sets(answer_table(training.complete, shape, table.slots))
    assert len(table) == 25
