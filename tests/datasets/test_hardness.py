from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.datasets.test_answering import ALL_SHAPES, ENTITIES, RELATIONS, tables
from tests.graph.graphs import Triple, graph_of, triples
from unseen.datasets.query_table import Ragged
from unseen.errors import QueryRefused
from unseen.evaluation.hardness import NO_ANSWER, hardness, positive_links, table_hardness
from unseen.graph.vocabulary import is_inverse, undirected_relation
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.shapes import SHAPES, Shape

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph


def fewest(complete: set[Triple], observed: set[Triple], query: Query, entity: int) -> float:
    """The fewest missing links, by definition: all ways to make the query true are tried."""
    match query:
        case Anchor():
            return 0 if query.entity == entity else np.inf
        case And():
            return sum(fewest(complete, observed, part, entity) for part in query.parts)
        case Or():
            return min(fewest(complete, observed, part, entity) for part in query.parts)
        case Not():
            connected = any(entity in (head, tail) for head, _, tail in complete)
            outside = fewest(complete, observed, query.part, entity) == np.inf
            return 0 if connected and outside else np.inf
    relation, backwards = undirected_relation(query.relation), is_inverse(query.relation)
    found = np.inf
    for source in range(ENTITIES):
        edge = (entity, relation, source) if backwards else (source, relation, entity)
        if edge in complete:
            found = min(found, fewest(complete, observed, query.source, source) + (edge not in observed))
    return found


def everyone(count: int) -> Ragged:
    return Ragged.from_rows([np.arange(ENTITIES)] * count)


@given(triples(ENTITIES, RELATIONS, max_size=14), st.integers(0, 2**14 - 1), tables())
def test_hardness_is_the_fewest_missing_links_of_all_ways_to_make_the_query_true(
    edges: list[Triple], bits: int, table: tuple[Shape, np.ndarray]
) -> None:
    complete = graph_of(edges, ENTITIES, RELATIONS)
    observed = complete.restricted_to(np.array([bits >> i & 1 for i in range(complete.num_triples)], bool))
    shape, slots = table
    known = {edge for i, edge in enumerate(dict.fromkeys(edges)) if bits >> i & 1}
    fast = table_hardness(complete, observed, shape, slots, everyone(len(slots))).reshape(len(slots), ENTITIES)
    for row, costs in zip(slots.tolist(), fast.tolist(), strict=True):
        query = shape.fill(row)
        expected = [fewest(set(edges), known, query, entity) for entity in range(ENTITIES)]
        expected = [NO_ANSWER if cost == np.inf else cost for cost in expected]
        assert hardness(complete, observed, query).tolist() == expected
        assert costs == expected


def chain() -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """0 -> 1 -> 2 over relation 0, and 0 -> 2 over relation 1; the first two edges are missing."""
    complete = graph_of([(0, 0, 1), (1, 0, 2), (0, 1, 2)], 3, 2)
    return complete, complete.restricted_to(np.array([False, False, True]))


def test_a_path_over_two_missing_links_needs_two() -> None:
    query = Project(0, Project(0, Anchor(0)))
    assert hardness(*chain(), query).tolist() == [NO_ANSWER, NO_ANSWER, 2]


def test_of_alternatives_the_easier_one_counts() -> None:
    two_steps, one_step = Project(0, Project(0, Anchor(0))), Project(2, Anchor(0))
    assert hardness(*chain(), Or((two_steps, one_step)))[2] == 0


def test_conditions_add_up() -> None:
    two_steps, one_step = Project(0, Project(0, Anchor(0))), Project(0, Anchor(1))
    assert hardness(*chain(), And((two_steps, one_step)))[2] == 3


def test_a_negation_needs_no_links() -> None:
    assert hardness(*chain(), And((Project(0, Anchor(1)), Not(Anchor(0)))))[2] == 1


def test_a_query_with_names_is_refused() -> None:
    with pytest.raises(QueryRefused, match="bind it first"):
        hardness(*chain(), Project("knows", Anchor("Ada")))


@pytest.mark.parametrize(
    ("name", "links"),
    [("1p", 1), ("3p", 3), ("3i", 3), ("pi", 3), ("2u", 1), ("up", 2), ("2in", 1), ("3in", 2), ("inp", 2), ("pni", 1)],
)
def test_positive_links_are_the_most_that_an_answer_can_rest_on(name: str, links: int) -> None:
    assert positive_links(SHAPES[name].skeleton) == links


@given(triples(ENTITIES, RELATIONS), st.sampled_from(ALL_SHAPES), st.integers(0, 2**32 - 1))
def test_nothing_needs_more_than_all_links_and_nothing_needs_any_when_none_is_missing(
    edges: list[Triple], shape: Shape, seed: int
) -> None:
    graph = graph_of(edges, ENTITIES, RELATIONS)
    generator = np.random.default_rng(seed)
    row = [int(generator.integers(0, ENTITIES if slot == "e" else 2 * RELATIONS)) for slot in shape.slots]
    query = shape.fill(row)
    assert set(hardness(graph, graph, query).tolist()) <= {0, NO_ANSWER}
    costs = hardness(graph, graph.restricted_to(np.zeros(graph.num_triples, bool)), query)
    assert costs[costs != NO_ANSWER].max(initial=0) <= positive_links(query)
