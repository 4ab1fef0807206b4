"""The one suite that every method passes: symmetries, purity, and what "inductive" promises."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import unseen.methods
import unseen.probability
from tests.conformance.methods import METHODS, RELATION_NAMES, MethodCase
from tests.graph.graphs import edges_of
from unseen.errors import QueryRefused
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, rebuild
from unseen.logic.protocols import Answerer
from unseen.logic.shapes import SHAPES

NUM_ENTITIES, NUM_RELATIONS, NUM_EDGES, NUM_ISOLATED = 12, len(RELATION_NAMES), 30, 2


@dataclass(frozen=True)
class World:
    """A graph and questions about it."""

    graph: KnowledgeGraph
    queries: list[Query]


def random_world(seed: int) -> World:
    """Random edges, two entities without any, and a question of every shape and some of no named shape."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, NUM_ENTITIES - NUM_ISOLATED, (2, NUM_EDGES)).astype(np.int32)
    relations = random.integers(0, NUM_RELATIONS, NUM_EDGES).astype(np.int32)
    names = [f"entity {seed}/{number}" for number in range(NUM_ENTITIES)]
    graph = KnowledgeGraph(ends[0], relations, ends[1], Vocabulary.of(names, RELATION_NAMES))
    limits = {"e": NUM_ENTITIES - NUM_ISOLATED, "r": 2 * NUM_RELATIONS}
    queries = [shape.fill([int(random.integers(limits[slot])) for slot in shape.slots]) for shape in SHAPES.values()]
    nested = And((Or((queries[0], Project(1, queries[3]))), Not(Project(0, Not(queries[1])))))
    return World(graph, [*queries, Anchor(3), Not(queries[0]), nested])


def with_anchors(query: Query, number: np.ndarray) -> Query:
    if isinstance(query, Anchor):
        return Anchor(int(number[query.entity]))
    return rebuild(query, tuple(with_anchors(child, number) for child in query.children))


def close(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and torch.allclose(left, right, atol=1e-5, rtol=1e-4)


@pytest.fixture(params=METHODS, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> MethodCase:
    return request.param


@pytest.fixture
def method(case: MethodCase) -> Answerer:
    return case.make()


@pytest.fixture(params=[1, 2])
def world(request: pytest.FixtureRequest) -> World:
    return random_world(request.param)


class TestEveryMethod:
    """Each test runs for every entry of `METHODS`."""

    def test_it_is_an_answerer(self, method: Answerer) -> None:
        assert isinstance(method, Answerer)

    def test_scores_have_one_row_a_query_and_one_column_an_entity(self, method: Answerer, world: World) -> None:
        scores = method.answer(world.graph, world.queries)
        assert scores.shape == (len(world.queries), world.graph.num_entities)
        assert scores.is_floating_point()
        assert not scores.requires_grad
        assert not bool(scores.isnan().any())

    def test_probabilities_lie_between_zero_and_one(self, case: MethodCase, method: Answerer, world: World) -> None:
        scores = method.answer(world.graph, world.queries)
        assert not case.is_probability or bool(((scores >= 0) & (scores <= 1)).all())

    def test_renumbering_entities_permutes_the_scores(self, method: Answerer, world: World) -> None:
        number = np.random.default_rng(5).permutation(NUM_ENTITIES)
        graph, names = world.graph, world.graph.vocabulary.entities.keys.to_pylist()
        moved_names = [names[old] for old in np.argsort(number)]
        vocabulary = Vocabulary.of(moved_names, RELATION_NAMES)
        moved = KnowledgeGraph(number[graph.heads], graph.relations, number[graph.tails], vocabulary)
        moved_queries = [with_anchors(query, number) for query in world.queries]
        expected = method.answer(graph, world.queries)
        assert close(method.answer(moved, moved_queries)[:, number.tolist()], expected)

    def test_reordering_edges_changes_nothing(self, method: Answerer, world: World) -> None:
        graph = world.graph
        order = np.random.default_rng(5).permutation(graph.num_triples)
        columns = (graph.heads[order], graph.relations[order], graph.tails[order])
        reordered = KnowledgeGraph(*columns, graph.vocabulary)
        assert close(method.answer(reordered, world.queries), method.answer(graph, world.queries))

    def test_repeating_edges_changes_nothing(self, method: Answerer, world: World) -> None:
        graph = world.graph
        columns = (np.concatenate([column, column]) for column in (graph.heads, graph.relations, graph.tails))
        doubled = KnowledgeGraph(*columns, graph.vocabulary)
        assert close(method.answer(doubled, world.queries), method.answer(graph, world.queries))

    def test_reordering_and_repeating_queries_does_the_same_to_the_rows(self, method: Answerer, world: World) -> None:
        order = [*np.random.default_rng(5).permutation(len(world.queries)).tolist(), 0, 0, 3]
        together = method.answer(world.graph, [world.queries[position] for position in order])
        assert close(together, method.answer(world.graph, world.queries)[order])

    def test_a_batch_of_n_is_n_batches_of_one(self, method: Answerer, world: World) -> None:
        together = method.answer(world.graph, world.queries)
        alone = [method.answer(world.graph, [query]) for query in world.queries]
        assert close(together, torch.cat(alone))

    def test_no_query_gives_no_row(self, method: Answerer, world: World) -> None:
        assert method.answer(world.graph, []).shape == (0, world.graph.num_entities)

    def test_asking_twice_gives_the_same_and_inputs_stay_as_they_are(self, method: Answerer, world: World) -> None:
        graph, before, asked = world.graph, edges_of(world.graph), list(world.queries)
        first = method.answer(graph, world.queries)
        kept = first.clone()
        first.fill_(0.5)
        assert close(method.answer(graph, world.queries), kept)
        assert edges_of(graph) == before
        assert world.queries == asked

    def test_the_order_of_branches_does_not_matter(self, method: Answerer, world: World) -> None:
        def turned(query: Query) -> Query:
            return rebuild(query, tuple(turned(child) for child in reversed(query.children)))

        expected = method.answer(world.graph, world.queries)
        assert close(method.answer(world.graph, [turned(query) for query in world.queries]), expected)

    def test_a_graph_never_seen_before_is_answered(self, case: MethodCase, method: Answerer, world: World) -> None:
        method.answer(world.graph, world.queries)
        grown = world.graph.extended_with([("newcomer", "r0", "entity 1/0"), ("another", "r1", "newcomer")])
        newcomer = grown.vocabulary.entity_id("newcomer")
        asked = [*world.queries, Project(0, Anchor(newcomer)), Project(3, Project(0, Anchor(newcomer)))]
        scores = method.answer(grown, asked)
        assert scores.shape == (len(asked), grown.num_entities)
        assert close(scores, case.make().answer(grown, asked))

    def test_a_relation_never_seen_before_is_answered(self, case: MethodCase, method: Answerer, world: World) -> None:
        if not case.knows_new_relations:
            pytest.skip("this method knows the relations it was made for")
        method.answer(world.graph, world.queries)
        grown = world.graph.extended_with([("newcomer", "unheard of", "entity 1/0")])
        relation = grown.vocabulary.relation_id("unheard of")
        newcomer = grown.vocabulary.entity_id("newcomer")
        scores = method.answer(grown, [Project(relation, Anchor(newcomer))])
        assert float(scores[0, grown.vocabulary.entity_id("entity 1/0")]) == float(scores.max())

    def test_what_a_new_entity_links_to_counts_unless_the_method_is_transductive(
        self, case: MethodCase, method: Answerer, world: World
    ) -> None:
        linked = world.graph.extended_with([("newcomer", "r0", "another"), ("newcomer", "r1", "entity 1/0")])
        unlinked = linked.restricted_to(np.arange(linked.num_triples) < world.graph.num_triples)
        asked = [Project(0, Anchor(linked.vocabulary.entity_id("newcomer")))]
        scores, without = (method.answer(graph, asked) for graph in (linked, unlinked))
        assert close(scores, without) == case.is_transductive

    def test_a_transductive_method_says_that_it_does_not_know_a_relation(
        self, case: MethodCase, method: Answerer, world: World
    ) -> None:
        if not case.is_transductive:
            pytest.skip("this method is inductive")
        grown = world.graph.extended_with([("newcomer", "unheard of", "entity 1/0")])
        with pytest.raises(QueryRefused, match="unheard of"):
            method.answer(grown, [Project(grown.vocabulary.relation_id("unheard of"), Anchor(0))])

    def test_the_graph_argument_decides(self, case: MethodCase, method: Answerer) -> None:
        first, second = random_world(1), random_world(2)
        scores = [method.answer(graph, first.queries) for graph in (first.graph, second.graph, first.graph)]
        assert close(scores[0], scores[2])
        assert not close(scores[0], scores[1])
        assert close(scores[1], case.make().answer(second.graph, first.queries))

    def test_saved_and_loaded_or_made_again_it_answers_the_same(
        self, case: MethodCase, method: Answerer, world: World, tmp_path: Path
    ) -> None:
        expected = method.answer(world.graph, world.queries)
        again = case.made_again(method, tmp_path)
        assert again is not method
        assert close(again.answer(world.graph, world.queries), expected)
        assert not any(_may_execute_code(path) for path in tmp_path.rglob("*") if path.is_file())

    def test_questions_without_an_answer_are_fine(self, method: Answerer, world: World) -> None:
        lonely = Project(0, Anchor(NUM_ENTITIES - 1))
        nothing = And((lonely, Project(1, lonely)))
        asked = [lonely, Project(1, lonely), nothing, Project(2, nothing), And((lonely, Not(lonely))), Not(Not(lonely))]
        scores = method.answer(world.graph, asked)
        assert bool(scores.isfinite().all())

    def test_a_graph_without_edges_is_fine(self, method: Answerer, world: World) -> None:
        empty = world.graph.restricted_to(np.zeros(world.graph.num_triples, bool))
        scores = method.answer(empty, world.queries)
        assert scores.shape == (len(world.queries), empty.num_entities)
        assert bool(scores.isfinite().all())

    def test_a_graph_with_one_self_loop_is_fine(self, method: Answerer) -> None:
        loop = KnowledgeGraph([0], [0], [0], Vocabulary.of(["alone"], RELATION_NAMES))
        scores = method.answer(loop, [Project(0, Anchor(0)), Not(Project(1, Anchor(0)))])
        assert scores.shape == (2, 1)
        assert bool(scores.isfinite().all())


def _may_execute_code(path: Path) -> bool:
    """Pickles and torch archives of them, by their first bytes."""
    return path.read_bytes()[:4].startswith((b"\x80", b"PK"))


def classes_that_answer() -> set[type]:
    """Every class of `methods` and `probability`, sub-packages too, that can be made and has an `answer` method."""
    rooms = (unseen.methods, unseen.probability)
    names = [module.name for room in rooms for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    classes = [kind for name in names for kind in vars(importlib.import_module(name)).values() if _is_class(kind, name)]
    return {kind for kind in classes if callable(getattr(kind, "answer", None)) and not _is_abstract(kind)}


def _is_class(value: object, module: str) -> bool:
    return isinstance(value, type) and value.__module__ == module


def _is_abstract(kind: type) -> bool:
    """Whether it is a protocol or leaves something to those who inherit from it."""
    left = any(getattr(getattr(kind, name, None), "__isabstractmethod__", False) for name in dir(kind))
    return left or bool(getattr(kind, "_is_protocol", False))


def test_no_method_escapes_this_suite() -> None:
    registered = {kind for case in METHODS for kind in _kinds_within(case.make())}
    missing = classes_that_answer() - registered
    assert not missing, f"add to tests/conformance/methods.py: {sorted(kind.__qualname__ for kind in missing)}"


def test_methods_in_sub_folders_are_looked_for_too() -> None:
    found = {kind.__name__ for kind in classes_that_answer()}
    assert found >= {"BetaE", "Calibrated", "CqdBeam", "EdgeType", "Exact", "GnnQe", "ZeroShot"}
    assert not found & {"NeuralProjector", "Method"}


def _kinds_within(method: object) -> set[type]:
    """The class of a method and those of what it wraps: `Estimated` of the suite shows the estimates of another."""
    inner = getattr(method, "method", None)
    return {type(method)} | (_kinds_within(inner) if inner is not None else set())


def test_the_names_of_methods_are_unique() -> None:
    assert len({case.name for case in METHODS}) == len(METHODS)
