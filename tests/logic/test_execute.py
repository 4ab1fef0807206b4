"""The level-by-level executor: Boolean on zeros and ones, one `project` call a level, equal parts once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.graph.graphs import named_graph
from tests.logic.brute_force import answer_set
from tests.logic.strategies import ENTITIES, RELATIONS, queries, shaped_queries, triples
from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, bind
from unseen.logic.execute import execute, projection_levels
from unseen.logic.fuzzy import GOEDEL, LOGICS, PRODUCT, Logic
from unseen.logic.protocols import Projector
from unseen.logic.shapes import SHAPES
from unseen.methods.exact import Exact
from unseen.methods.known_facts import follow_edges

if TYPE_CHECKING:
    from jaxtyping import Float, Int

    from unseen.graph import KnowledgeGraph

Triples = list[tuple[str, str, str]]


@dataclass
class CountingProjector:
    """Follows edges and remembers how many rows each call had."""

    calls: list[int] = field(default_factory=list)

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        self.calls.append(len(sets))
        return follow_edges(graph, sets, relations)


@dataclass(frozen=True)
class HalfSure:
    """Every relation leads to every entity with half the largest membership of the sources."""

    def project(self, graph: KnowledgeGraph, sets: Tensor, relations: Tensor) -> Tensor:
        return (sets.max(dim=1, keepdim=True).values / 2).expand_as(sets).clone()


def bound(query: Query, graph: KnowledgeGraph) -> Query:
    return bind(query, graph.vocabulary.entity_id, graph.vocabulary.relation_id)


@pytest.mark.parametrize("logic", LOGICS.values(), ids=list(LOGICS))
@settings(max_examples=2 * settings.default.max_examples)
@given(edges=triples(), batch=st.lists(queries(safe=False) | shaped_queries(), min_size=1, max_size=4))
def test_sets_of_zeros_and_ones_equal_brute_force(logic: Logic, edges: Triples, batch: list[Query]) -> None:
    graph = named_graph(edges, ENTITIES, RELATIONS)
    ids = [bound(query, graph) for query in batch]
    found = execute(Exact(), graph, ids, logic).stacked(ids)
    for row, query in zip(found.tolist(), batch, strict=True):
        expected = answer_set(edges, query, set(ENTITIES))
        assert row == [float(name in expected) for name in ENTITIES]


def all_shapes(graph: KnowledgeGraph) -> list[Query]:
    """One query of each shape, all different."""
    numbers = iter(range(10**6))
    filled = []
    for shape in SHAPES.values():
        limits = {"e": graph.num_entities, "r": graph.vocabulary.num_directed_relations}
        filled.append(shape.fill([next(numbers) % limits[slot] for slot in shape.slots]))
    return filled


def test_a_mixed_batch_of_all_fourteen_shapes_makes_three_calls(countries: KnowledgeGraph) -> None:
    batch = all_shapes(countries)
    projector = CountingProjector()
    execution = execute(projector, countries, batch)
    assert len(projector.calls) == 3
    assert projector.calls == [len(level) for level in projection_levels(batch)]
    assert sum(projector.calls) == len({node for level in projection_levels(batch) for node in level})
    assert execution.stacked(batch).shape == (14, countries.num_entities)
    assert len(projector.calls) == 3


@pytest.mark.parametrize(("shape", "calls"), [("1p", 1), ("2p", 2), ("3p", 3), ("2i", 1), ("ip", 2), ("pni", 2)])
def test_one_call_is_made_for_each_level_of_a_shape(family: KnowledgeGraph, shape: str, calls: int) -> None:
    projector = CountingProjector()
    slots = SHAPES[shape].slots
    execute(projector, family, [SHAPES[shape].fill([1] * len(slots))])
    assert len(projector.calls) == calls


def test_an_anchor_alone_needs_no_call(family: KnowledgeGraph) -> None:
    projector = CountingProjector()
    execution = execute(projector, family, [Anchor(2), Not(Anchor(2))])
    assert projector.calls == []
    assert execution.memberships(Not(Anchor(2))).tolist() == [1, 1, 0, 1, 1, 1, 1]


def test_equal_sub_queries_are_computed_once_in_the_whole_batch(family: KnowledgeGraph) -> None:
    children = Project(0, Anchor(0))
    batch = [children, Project(0, children), Project(2, children), And((children, Not(children))), children]
    projector = CountingProjector()
    execution = execute(projector, family, batch)
    assert projector.calls == [1, 2]
    assert execution.memberships(batch[0]) is execution.memberships(batch[4])


def test_an_empty_batch_is_an_empty_table(family: KnowledgeGraph) -> None:
    assert execute(CountingProjector(), family, []).stacked([]).shape == (0, family.num_entities)
    assert projection_levels([]) == []


@given(st.lists(queries(safe=False), max_size=4))
def test_every_projection_comes_after_those_it_needs(batch: list[Query]) -> None:
    levels = projection_levels(batch)
    level_of = {node: number for number, level in enumerate(levels) for node in level}
    assert len(level_of) == sum(map(len, levels))
    assert all(levels)
    for number, level in enumerate(levels):
        for node in level:
            inner = [level_of[below] for query in [node.source] for below in _outermost_projections(query)]
            assert number == max(inner, default=-1) + 1


def _outermost_projections(query: Query) -> list[Query]:
    if isinstance(query, Project):
        return [query]
    return [found for child in query.children for found in _outermost_projections(child)]


@pytest.mark.parametrize("query", [Anchor("Ada"), Project(0, Anchor("Ada")), Not(Anchor("Ada"))])
def test_names_must_be_bound_first(family: KnowledgeGraph, query: Query) -> None:
    with pytest.raises(QueryRefused, match="bind it first"):
        execute(CountingProjector(), family, [query]).stacked([query])


@pytest.mark.parametrize(("logic", "both", "either"), [(PRODUCT, 0.25, 0.75), (GOEDEL, 0.5, 0.5)])
def test_half_sure_branches_are_combined_by_the_logic(
    family: KnowledgeGraph, logic: Logic, both: float, either: float
) -> None:
    left, right = Project(0, Anchor(0)), Project(2, Anchor(1))
    batch = [And((left, right)), Or((left, right)), Not(left), Project(0, left)]
    execution = execute(HalfSure(), family, batch, logic)
    assert execution.stacked(batch)[:, 0].tolist() == [both, either, 0.5, 0.25]


def test_a_projector_is_what_has_a_project_method() -> None:
    assert isinstance(CountingProjector(), Projector)
    assert isinstance(Exact(), Projector)
    assert not isinstance(object(), Projector)


class TestBestBindings:
    """What an inner variable most likely is, on the way to an answer."""

    def test_a_value_that_the_graph_links_to_the_answer_comes_first(self, family: KnowledgeGraph) -> None:
        query = Project(0, Project(0, Anchor(0)), variable="child")
        execution = execute(Exact(), family, [query])
        names = family.vocabulary
        for grandchild, child in (("Dora", "Ben"), ("Emil", "Cleo")):
            best = execution.best_bindings(query, names.entity_id(grandchild))
            assert best == {"child": (names.entity_id(child), 1.0)}

    def test_without_a_link_it_is_the_likeliest_member(self, family: KnowledgeGraph) -> None:
        chess = family.vocabulary.entity_id("Chess")
        query = Project(0, And((Project(0, Anchor(0)), Project(3, Anchor(chess)))), variable="v")
        best = execute(Exact(), family, [query]).best_bindings(query, chess)
        assert best == {"v": (family.vocabulary.entity_id("Ben"), 1.0)}

    def test_nothing_is_explained_by_itself_if_anything_else_will_do(self, family: KnowledgeGraph) -> None:
        ben, cleo = family.vocabulary.entity_id("Ben"), family.vocabulary.entity_id("Cleo")
        query = Project(0, Project(0, Anchor(0)), variable="child")
        assert execute(Exact(), family, [query]).best_bindings(query, ben) == {"child": (cleo, 1.0)}
        alone = Project(0, And((Project(0, Anchor(0)), Anchor(ben))), variable="child")
        assert execute(Exact(), family, [alone]).best_bindings(alone, ben) == {"child": (ben, 1.0)}

    def test_a_union_is_explained_by_its_likelier_branch(self, family: KnowledgeGraph) -> None:
        left = Project(0, Project(0, Anchor(0)), variable="left")
        right = Project(2, Project(0, Anchor(0)), variable="right")
        execution = execute(Exact(), family, [Or((left, right))])
        assert list(execution.best_bindings(Or((left, right)), family.vocabulary.entity_id("Dora"))) == ["left"]
        assert list(execution.best_bindings(Or((left, right)), family.vocabulary.entity_id("Chess"))) == ["right"]

    def test_every_branch_of_a_conjunction_is_explained_and_negation_is_not(self, family: KnowledgeGraph) -> None:
        inner = Project(0, Anchor(0))
        parts = [Project(relation, inner, variable=name) for relation, name in ((0, "a"), (2, "b"), (0, "c"))]
        query = And((parts[0], parts[1], Not(parts[2])))
        assert list(execute(Exact(), family, [query]).best_bindings(query, 0)) == ["a", "b"]

    @given(edges=triples(), query=queries(safe=False))
    def test_every_binding_is_a_member_with_its_membership(self, edges: Triples, query: Query) -> None:
        graph = named_graph(edges, ENTITIES, RELATIONS)
        from unseen.logic.variables import inner_variables, with_variables

        ids = with_variables(bound(query, graph))
        execution = execute(Exact(), graph, [ids])
        for entity in range(len(ENTITIES)):
            for variable, (value, membership) in execution.best_bindings(ids, entity).items():
                inner = inner_variables(ids)[variable]
                assert float(execution.memberships(inner)[value]) == membership


def test_shapes_in_signatures_are_checked_here(family: KnowledgeGraph) -> None:
    with pytest.raises(Exception, match=r"(?s)sets|relations|batch"):
        follow_edges(family, torch.zeros(2, 7), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(Exception, match=r"(?s)sets"):
        Exact().project(family, torch.zeros(7), torch.zeros(1, dtype=torch.int64))
