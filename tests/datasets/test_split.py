"""The inductive splitter, against the published procedure written out with plain sets, and by its invariants."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unseen.datasets.dataset import Dataset
from unseen.datasets.split import NAMED_SHARES, InductiveSplit, inductive_split, training_share
from unseen.errors import GraphError
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import directed_relation
from unseen.logic.traverse import step

PARTS = ("train_graph", "valid_inference", "valid_predict", "test_inference", "test_predict")
Triple = tuple[int, int, int]


def random_graph(seed: int, entities: int = 60, relations: int = 5, edges: int = 400) -> KnowledgeGraph:
    """A graph with a few hubs, whose ids follow first appearance."""
    generator = np.random.default_rng(seed)
    heads = (entities * generator.random(edges) ** 2).astype(int)
    rows = zip(heads, generator.integers(0, relations, edges), generator.integers(0, entities, edges), strict=True)
    return KnowledgeGraph.from_triples([(f"e{head}", f"r{relation}", f"e{tail}") for head, relation, tail in rows])


def triples_of(graph: KnowledgeGraph) -> list[Triple]:
    return list(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))


def rows_of(edges: np.ndarray) -> list[Triple]:
    return [tuple(row) for row in edges.tolist()]


def published_split(triples: list[Triple], num_entities: int, share: float, seed: int) -> list[list[Triple]]:
    """The procedure of the published script, step by step, with sets and lists."""
    stream, shuffle = random.Random(seed), np.random.RandomState(seed)
    count = dict.fromkeys(range(num_entities), 0)
    for head, _, tail in triples:
        count[head] += 1
        count[tail] += 1
    single = {entity for entity, number in count.items() if number == 1}
    others = sorted(set(count) - single)
    new = stream.sample(others, int(len(others) * (1 - share)))
    test = stream.sample(new, int(len(new) * 0.5))
    valid = sorted(set(new) - set(test))
    train = [triple for triple in triples if not {triple[0], triple[2]} & set(new)]
    trained = {end for head, _, tail in train for end in (head, tail)}
    dangling = set(count) - set(new) - trained
    relations = {relation for _, relation, _ in train}
    parts = [train]
    for side, other in ((set(valid), set(test)), (set(test), set(valid))):
        part = [
            (head, relation, tail)
            for head, relation, tail in triples
            if {head, tail} & side and not {head, tail} & (dangling | other) and relation in relations
        ]
        mixed = [part[place] for place in shuffle.permutation(len(part))]
        inference, predict = mixed[: int(len(mixed) * 0.85)], mixed[int(len(mixed) * 0.85) :]
        seen = trained | {end for head, _, tail in inference for end in (head, tail)}
        moved = [triple for triple in predict if not {triple[0], triple[2]} <= seen]
        parts += [inference + moved, [triple for triple in predict if triple not in moved]]
    return renumbered(parts)


def renumbered(parts: list[list[Triple]]) -> list[list[Triple]]:
    ends = [{end for head, _, tail in part for end in (head, tail)} for part in parts]
    order = sorted(ends[0]) + sorted(ends[1] - ends[0]) + sorted(ends[3] - ends[0])
    entity = {old: new for new, old in enumerate(order)}
    relation = {old: new for new, old in enumerate(sorted({middle for _, middle, _ in parts[0]}))}
    return [[(entity[head], relation[middle], entity[tail]) for head, middle, tail in part] for part in parts]


@pytest.mark.parametrize("ratio", [106, 122, 175, 300])
@pytest.mark.parametrize("seed", [0, 42])
def test_the_split_is_the_published_one_edge_by_edge(ratio: int, seed: int) -> None:
    graph = random_graph(seed + ratio)
    expected = published_split(triples_of(graph), graph.num_entities, NAMED_SHARES[ratio], seed)
    found = inductive_split(graph, ratio, seed)
    assert [rows_of(getattr(found, part)) for part in PARTS] == expected


@given(st.integers(0, 10**6), st.sampled_from([110, 150.5, 175, 400]), st.booleans())
def test_every_split_keeps_its_promises(seed: int, ratio: float, disjoint: bool) -> None:
    graph = random_graph(seed)
    try:
        split = inductive_split(graph, ratio, seed, disjoint)
    except GraphError:
        assume(False)
    dataset = Dataset("x", split)
    check_sides(split, dataset)
    check_hidden_edges(split, dataset)


def check_sides(split: InductiveSplit, dataset: Dataset) -> None:
    old = set(np.unique(split.train_graph[:, [0, 2]]).tolist())
    new = {side: set(dataset.candidates(side).tolist()) - old for side in ("valid", "test")}
    assert old == set(range(len(old)))
    assert not new["valid"] & new["test"]
    assert set(dataset.candidates("valid").tolist()) | set(dataset.candidates("test").tolist()) | old == set(
        range(split.vocabulary.num_entities)
    )
    for side in ("valid", "test"):
        shared = set(dataset.candidates(side).tolist()) & old
        assert shared == (set() if split.disjoint else old)


def check_hidden_edges(split: InductiveSplit, dataset: Dataset) -> None:
    old = len(np.unique(split.train_graph[:, [0, 2]]))
    trained = set(split.train_graph[:, 1].tolist())
    for side in ("valid", "test"):
        predict, observed = getattr(split, f"{side}_predict"), dataset.observed(side)
        known = set(dataset.candidates(side).tolist())
        for head, relation, tail in predict.tolist():
            assert head >= old or tail >= old, "no edge between two old entities is hidden"
            assert {head, tail} <= known, "both ends can be reached without the hidden edge"
            assert relation in trained
            for directed, start, end in (
                (directed_relation(relation), head, tail),
                (directed_relation(relation, True), tail, head),
            ):
                assert end not in step(observed, directed, np.array([start], np.int32)), "a hidden edge leaks"
        assert dataset.complete(side).num_triples == observed.num_triples + len(predict)


def test_the_same_seed_gives_the_same_split_and_another_seed_another() -> None:
    graph = random_graph(7)
    first, again, other = (inductive_split(graph, 175, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(getattr(first, part), getattr(again, part)) for part in PARTS)
    assert not np.array_equal(first.train_graph, other.train_graph)


def test_the_state_of_pythons_own_generators_changes_nothing() -> None:
    graph = random_graph(7)
    random.seed(1)
    first = inductive_split(graph, 175)
    random.random()
    assert np.array_equal(first.test_predict, inductive_split(graph, 175).test_predict)


def test_names_go_with_their_entities_and_relations() -> None:
    graph = random_graph(3)
    split = inductive_split(graph, 150)
    known = set(graph.triples())
    for part in PARTS:
        edges = getattr(split, part)
        named = KnowledgeGraph(edges[:, 0], edges[:, 1], edges[:, 2], split.vocabulary)
        assert set(named.triples()) <= known


def test_an_entity_with_a_single_edge_is_never_new() -> None:
    hub = [(f"e{i}", "r", f"e{i + 1}") for i in range(30)] + [("e3", "s", f"e{i}") for i in range(20)]
    leaves = [("e3", "r", f"leaf{i}") for i in range(40)]
    graph = KnowledgeGraph.from_triples(hub + leaves)
    split = inductive_split(graph, 175, seed=5)
    old = len(np.unique(split.train_graph[:, [0, 2]]))
    new = [split.vocabulary.entity_name(entity) for entity in range(old, split.vocabulary.num_entities)]
    assert new
    assert not any(name.startswith("leaf") for name in new)


def test_a_loop_counts_twice_and_can_be_new() -> None:
    loops = [(f"e{i}", "r", f"e{i}") for i in range(40)]
    chain = [(f"c{i}", "r", f"c{i + 1}") for i in range(40)]
    split = inductive_split(KnowledgeGraph.from_triples(loops + chain), 175, seed=0)
    names = {split.vocabulary.entity_name(int(entity)) for entity in split.test_inference[:, 0]}
    assert any(name.startswith("e") for name in names)


@pytest.mark.parametrize(("ratio", "share"), NAMED_SHARES.items())
def test_the_papers_ratios_mean_its_shares(ratio: int, share: float) -> None:
    assert training_share(ratio) == share
    assert abs(100 * (1 + (1 - share) / 2 / share) - ratio) < 1


@given(st.floats(101, 1000))
def test_any_other_ratio_is_solved_for_the_share(ratio: float) -> None:
    assume(ratio not in NAMED_SHARES)
    share = training_share(ratio)
    assert 100 * (1 + (1 - share) / 2 / share) == pytest.approx(ratio)


@pytest.mark.parametrize("ratio", [100, 1001, -5, float("nan"), float("inf")])
def test_an_impossible_ratio_is_refused(ratio: float) -> None:
    with pytest.raises(GraphError, match="between 101 and 1000 percent"):
        inductive_split(random_graph(0), ratio)


def test_a_graph_too_small_to_split_is_refused(single_edge: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="too few"):
        inductive_split(single_edge, 175)


def test_a_ratio_that_leaves_nothing_to_train_on_is_refused() -> None:
    star = KnowledgeGraph.from_triples([("hub", f"r{j}", f"e{i}") for i in range(20) for j in range(2)])
    with pytest.raises(GraphError, match="no edge is left for training"):
        inductive_split(star, 1000, seed=0)
