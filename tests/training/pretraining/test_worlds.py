"""Worlds: what is true in them, what is hidden, and that they are the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.training.pretraining.small_graphs import SETTINGS, ring, small_graphs
from unseen.graph import KnowledgeGraph
from unseen.logic.traverse import answers
from unseen.methods.zero_shot.pretraining_settings import PretrainingConfig
from unseen.training.pretraining.held_out import held_out_split, with_validation
from unseen.training.pretraining.made_up_relations import SHORTCUTS, _shortcut, _whole_heads, with_made_up_relations
from unseen.training.pretraining.world_parts import DENSE_SIZES, FEW_EDGES, FEW_RELATIONS, _dense
from unseen.training.pretraining.world_source import drawn_batch, world_number
from unseen.training.pretraining.worlds import (
    HANDFUL,
    MISSING,
    NEW_ENTITIES,
    _new_entities,
    _of_new_entities,
    make_world,
)

GRAPHS = [one.graph for one in small_graphs()]


def config(**changes) -> PretrainingConfig:
    return PretrainingConfig(**SETTINGS | changes)


def edges(graph) -> set[tuple[int, int, int]]:
    return set(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))


def test_a_world_is_a_function_of_its_number() -> None:
    first, again, other = (make_world(GRAPHS, config(), number) for number in (3, 3, 4))
    assert edges(first.observed) == edges(again.observed)
    assert edges(first.observed) != edges(other.observed)
    for name, table in first.tables.items():
        assert np.array_equal(table.slots, again.tables[name].slots)


@pytest.mark.parametrize("number", range(8))
def test_without_hidden_edges_the_answers_are_those_of_the_world(number: int) -> None:
    world = make_world(GRAPHS, config(whole_worlds=1.0), number)
    for table in world.tables.values():
        for row in range(len(table)):
            assert np.array_equal(table.easy.row(row), answers(world.observed, table.query(row)))
            assert len(table.hard.row(row)) == 0


def test_with_hidden_edges_every_question_has_an_answer_that_cannot_be_walked_to() -> None:
    hidden = 0
    for number in range(8):
        world = make_world(GRAPHS, config(whole_worlds=0.0, hidden_share=0.8, rare_relations=0.8), number)
        for table in world.tables.values():
            for row in range(len(table)):
                missed = np.setdiff1d(table.hard.row(row), answers(world.observed, table.query(row)))
                hidden += len(missed)
                assert np.array_equal(missed, table.hard.row(row))
    assert hidden > 100


def test_some_relations_keep_a_handful_of_edges() -> None:
    worlds = [make_world(GRAPHS, config(whole_worlds=0.0, hidden_share=0.0, rare_relations=1.0), i) for i in range(8)]
    counts = [np.bincount(world.observed.relations) for world in worlds]
    assert any((count > 0).all() and (count <= HANDFUL).any() for count in counts)


def test_worlds_are_of_many_sizes_within_the_limits() -> None:
    whole = config(whole_worlds=1.0, smallest_world=50, largest_world=150)
    sizes = [make_world(GRAPHS, whole, number).observed.num_triples for number in range(20)]
    assert max(sizes) <= 150
    assert len(set(sizes)) > 10


def test_worlds_take_turns_and_are_replaced_together() -> None:
    settings = config(worlds_at_once=2, steps_per_world=2)
    assert [world_number(settings, step) for step in range(10)] == [0, 1, 0, 1, 2, 3, 2, 3, 4, 5]


def test_types_of_weight_zero_are_not_drawn() -> None:
    world = make_world(GRAPHS, config(), 0)
    batch = drawn_batch(world, {"2p": 0.0, "2i": 0.0, "2in": 0.0}, config(batch_size=50), 0)
    assert all(len(query.children) == 1 and not query.children[0].children for query in batch.queries)


def test_what_is_held_out_is_in_no_training_edge_and_in_every_missing_one() -> None:
    source = ring("ring", 60, (1, 2, 3, 4, 5, 6))
    graph = source.graph
    counts = np.bincount(graph.relations)
    rare = np.concatenate([np.flatnonzero(graph.relations != 5), np.flatnonzero(graph.relations == 5)[:10]])
    graph = graph.restricted_to(np.isin(np.arange(graph.num_triples), rare))
    dataset = held_out_split(type(source)("ring", graph), 0.2, 0)
    train, missing = dataset.split.train_graph, dataset.split.valid_predict
    seen_entities, seen_relations = np.unique(train[:, [0, 2]]), np.unique(train[:, 1])
    assert 5 not in seen_relations
    assert len(missing) > 5
    assert counts[5] > 10
    for head, relation, tail in missing.tolist():
        assert relation not in seen_relations or head not in seen_entities or tail not in seen_entities
    total = len(train) + len(missing) + len(dataset.split.valid_inference)
    assert total == graph.num_triples


def test_validation_queries_are_always_the_same_and_ask_for_what_is_missing() -> None:
    dataset = held_out_split(small_graphs()[0], 0.3, 0)
    first, again = (with_validation(dataset, ("1p", "2i"), 5, 0) for _ in range(2))
    for name, table in first.tables["valid"].items():
        assert np.array_equal(table.slots, again.tables["valid"][name].slots)
        assert (table.hard.lengths > 0).all()


def test_made_up_relations_are_pieces_of_others_and_shortcuts_over_two() -> None:
    graph = GRAPHS[0]
    made = [with_made_up_relations(graph, 1.0, np.random.default_rng(seed)) for seed in range(6)]
    steps = {(head, tail) for head, _, tail in edges(graph)}
    steps |= {(tail, head) for head, tail in steps}
    by_start = {head: {tail for start, tail in steps if start == head} for head, _ in steps}
    pairs = {(head, far) for head, near in by_start.items() for middle in near for far in by_start[middle]}
    for one in made:
        assert one.num_entities == graph.num_entities
        assert one.num_relations > graph.num_relations
        assert {(head, tail) for head, _, tail in edges(one)} <= steps | pairs
        assert {(head, tail) for head, _, tail in edges(graph)} <= {(head, tail) for head, _, tail in edges(one)}
        assert one.num_triples <= (1 + SHORTCUTS) * graph.num_triples
    assert edges(made[0]) != edges(made[1])
    same = with_made_up_relations(graph, 1.0, np.random.default_rng(0))
    assert edges(same) == edges(made[0])


@pytest.mark.parametrize(("most", "rows"), [(0, 0), (2, 0), (3, 2), (5, 2), (6, 5), (100, 6)])
def test_rows_are_cut_at_the_borders_of_heads(most: int, rows: int) -> None:
    heads, counts = np.array([7, 7, 2, 2, 2, 9]), np.array([2, 1, 1, 1, 1, 4])
    assert _whole_heads(heads, counts, most) == rows


def test_a_shortcut_has_all_edges_of_its_heads_or_none() -> None:
    graph = GRAPHS[0]
    columns = tuple(column.astype(np.int64) for column in (graph.heads, graph.relations, graph.tails))
    cut = 0
    for seed in range(20):
        some, every = (
            set(zip(*_shortcut(columns, graph.num_relations, most, np.random.default_rng(seed)), strict=True))
            for most in (20, 10**6)
        )
        heads = {head for head, _ in some}
        assert len(some) <= 20
        assert some == {(head, tail) for head, tail in every if head in heads}
        cut += len(some) < len(every)
    assert cut > 0


def test_a_world_with_made_up_relations_has_questions_about_them() -> None:
    worlds = [make_world(GRAPHS, config(made_up_relations=1.0), number) for number in range(4)]
    assert all(world.tables for world in worlds)
    assert max(world.observed.num_relations for world in worlds) > max(graph.num_relations for graph in GRAPHS)


def test_of_a_world_that_has_grown_up_to_a_share_of_the_edges_of_new_entities_is_missing_and_no_other() -> None:
    graph, shares, parts = ring("large", 4000, (1, 7, 30), share=1.0).graph, [], []
    for seed in range(60):
        new = _new_entities(graph, np.random.default_rng(seed))
        hidden = _of_new_entities(graph, np.random.default_rng(seed))
        touched = new[graph.heads] | new[graph.tails]
        assert not (hidden & ~touched).any()
        shares.append(new.mean())
        parts.append(hidden.sum() / touched.sum())
    chance = 0.03  # what the dice add to the largest shares
    assert 0.8 * NEW_ENTITIES < max(shares) < NEW_ENTITIES + chance
    assert 0.9 * MISSING < max(parts) < MISSING + chance
    assert min(shares) < 0.1
    assert min(parts) < 0.1


def test_a_world_that_has_grown_has_questions_about_what_is_missing() -> None:
    grown = config(whole_worlds=0.0, growing_worlds=1.0, largest_world=100_000)
    worlds = [make_world(GRAPHS, grown, number) for number in range(12)]
    asked = [any(table.hard.values.size for table in world.tables.values()) for world in worlds]
    assert sum(asked) >= len(worlds) // 2


def test_a_dense_part_keeps_entities_with_many_edges_among_them() -> None:
    clique = [(f"c{one}", "knows", f"c{other}") for one in range(12) for other in range(12) if one != other]
    path = [(f"p{number}", "knows", f"p{number + 1}") for number in range(500)]
    graph = KnowledgeGraph.from_triples([*clique, *path, ("c0", "knows", "p0")])
    for seed in range(5):
        left = _dense(graph, np.ones(graph.num_entities, bool), np.random.default_rng(seed))
        names = {graph.vocabulary.entities.name(int(entity)) for entity in np.flatnonzero(left)}
        assert names >= {f"c{number}" for number in range(12)}
        assert len(names) <= DENSE_SIZES[1]


def test_dense_worlds_have_questions() -> None:
    assert make_world(GRAPHS, config(dense_worlds=1.0), 0).tables


def test_worlds_of_few_relations_are_small_and_have_questions() -> None:
    graph = ring("large", 2000, tuple(range(1, 30)), share=0.9).graph
    worlds = [make_world([graph], config(few_relation_worlds=1.0), number) for number in range(6)]
    counts = [world.observed.num_relations for world in worlds]
    assert FEW_RELATIONS[0] <= min(counts)
    assert max(counts) <= FEW_RELATIONS[1]
    assert len(set(counts)) > 1
    assert all(world.tables for world in worlds)
    assert max(world.observed.num_triples for world in worlds) <= FEW_EDGES[1]


def test_nearly_complete_worlds_lack_little_and_are_asked_from_hubs() -> None:
    star = [(f"e{number}", "is_a", "hub") for number in range(300)]
    pairs = [(f"e{number}", "knows", f"e{(number + 1) % 300}") for number in range(300)]
    graph = KnowledgeGraph.from_triples([*star, *pairs])
    wanted = config(hub_worlds=1.0, smallest_world=600, largest_world=600, types=("1p",), queries_per_type=200)
    worlds = [make_world([graph], wanted, number) for number in range(8)]
    kept = [world.observed.num_triples / graph.num_triples for world in worlds]
    assert min(kept) > 0.7
    assert 0.9 < np.mean(kept) < 1
    assert all(world.from_hubs for world in worlds)
    hubs = [len(answers) for step in range(12) for answers in drawn_batch(worlds[step % 8], {}, wanted, step).answers]
    assert np.mean(np.array(hubs) > 100) > 0.05
