"""Laws of probability that hold for any projector, over random questions, graphs and projectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.graphs import named_graph
from tests.logic.brute_force import answer_set
from tests.logic.strategies import ENTITIES, RELATIONS, queries, shaped_queries, triples
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, bind
from unseen.logic.coherent import execute_coherently
from unseen.logic.execute import execute
from unseen.logic.shapes import SHAPES
from unseen.methods.exact import Exact

if TYPE_CHECKING:
    from torch import Tensor

    from unseen.graph import KnowledgeGraph

CLOSE = 1e-6
GRAPH = named_graph([("Ada", "p", "Bob"), ("Bob", "q", "F"), ("F", "is part of", "Ada")], ENTITIES, RELATIONS)


class Erratic:
    """A projector without any order: it may find more from less, and says something else of every set."""

    def project(self, graph: KnowledgeGraph, sets: Tensor, relations: Tensor) -> Tensor:
        places = torch.arange(graph.num_entities, dtype=torch.float64)
        mixed = (sets.double() * (3 + places)).sum(dim=1, keepdim=True) + sets.double() * 5
        turned = torch.sin(mixed * 12.9898 + relations.unsqueeze(1) * 78.233 + places * 37.719) * 43.75
        return turned - turned.floor()


def bound(query: Query) -> Query:
    return bind(query, GRAPH.vocabulary.entity_id, GRAPH.vocabulary.relation_id)


def chances(*asked: Query) -> list[Tensor]:
    ids = [bound(query) for query in asked]
    return list(execute_coherently(Erratic(), GRAPH, ids).stacked(ids))


def agree(*asked: Query) -> bool:
    first, *others = chances(*asked)
    return all(bool(((first - other).abs() < CLOSE).all()) for other in others)


def ordered(less: Query, more: Query) -> bool:
    low, high = chances(less, more)
    return bool((low <= high + CLOSE).all())


QUERIES = queries(max_depth=3, safe=False)
LINKS = st.builds(Project, st.sampled_from(RELATIONS), st.sampled_from(ENTITIES).map(Anchor), st.booleans())
BRANCHES = LINKS | st.builds(Project, st.sampled_from(RELATIONS), LINKS, st.booleans())
POSITIVE = BRANCHES | st.builds(lambda one, other: And((one, other)), BRANCHES, BRANCHES)
BOUND = POSITIVE | st.builds(lambda one, other: And((Not(one), other)), POSITIVE, BRANCHES)
INNER = BOUND | st.builds(lambda one, other: Or((one, other)), BOUND, BOUND)
"""What can be said of an inner variable: each alternative says what it is, not only what it is not."""


def both(*parts: Query) -> Query:
    return And(parts)


def either(*parts: Query) -> Query:
    return Or(parts)


@given(QUERIES)
def test_repeating_a_question_changes_nothing(a: Query) -> None:
    assert agree(a, both(a, a), either(a, a), Not(Not(a)), both(a, either(a, a)))


@given(QUERIES, QUERIES)
def test_a_conjunction_is_at_most_and_a_disjunction_at_least_as_likely_as_its_parts(a: Query, b: Query) -> None:
    one, other, all_of, any_of = chances(a, b, both(a, b), either(a, b))
    assert bool((all_of <= torch.minimum(one, other) + CLOSE).all())
    assert bool((any_of >= torch.maximum(one, other) - CLOSE).all())
    assert bool(((all_of + any_of - one - other).abs() < CLOSE).all())


@given(QUERIES)
def test_a_question_and_its_negation_make_one(a: Query) -> None:
    one, negated, never, always = chances(a, Not(a), both(a, Not(a)), either(a, Not(a)))
    assert bool(((one + negated - 1).abs() < CLOSE).all())
    assert float(never.abs().max()) < CLOSE
    assert float((always - 1).abs().max()) < CLOSE


@given(QUERIES, st.sampled_from(ENTITIES))
def test_naming_the_answer_gives_its_probability(a: Query, name: str) -> None:
    alone, named = chances(a, both(a, Anchor(name)))
    place = GRAPH.vocabulary.entity_id(name)
    assert abs(float(alone[place] - named[place])) < CLOSE
    assert float(named.sum() - named[place]) < CLOSE


@settings(max_examples=20)
@given(QUERIES, QUERIES, QUERIES)
def test_equivalent_formulas_agree(a: Query, b: Query, c: Query) -> None:
    assert agree(Not(both(a, b)), either(Not(a), Not(b)), either(Not(b), Not(a)))
    assert agree(Not(either(a, b)), both(Not(a), Not(b)))
    assert agree(both(a, either(b, c)), either(both(a, b), both(a, c)), either(both(c, a), both(b, a)))
    assert agree(either(a, both(b, c)), both(either(a, b), either(a, c)))
    assert agree(both(a, both(b, c)), both(both(c, a), b))
    assert agree(a, either(a, both(a, b)), both(a, either(a, b)), either(both(a, b), both(a, Not(b))))


@settings(max_examples=20)
@given(INNER, INNER, BOUND, st.sampled_from(RELATIONS), QUERIES)
def test_equivalent_descriptions_of_an_inner_variable_agree(a: Query, b: Query, c: Query, r: str, d: Query) -> None:
    def led(source: Query) -> Query:
        return both(Project(r, source), d)

    assert agree(led(a), led(both(a, a)), led(either(a, a)), led(Not(Not(a))), led(either(a, both(a, b))))
    assert agree(led(both(a, b)), led(both(b, a)), led(Not(either(Not(a), Not(b)))))
    assert agree(led(both(a, either(b, c))), led(either(both(a, b), both(c, a))))


@settings(max_examples=20)
@given(POSITIVE, POSITIVE, POSITIVE, st.sampled_from(RELATIONS))
def test_cases_of_an_inner_variable_can_be_told_apart(a: Query, b: Query, c: Query, r: str) -> None:
    assert agree(Project(r, a), Project(r, either(both(a, b), both(a, Not(b)))))
    assert agree(Project(r, either(a, b)), Project(r, either(a, both(b, Not(a)))))
    assert agree(
        Project(r, either(both(a, c), both(b, Not(c)))),
        Project(r, either(both(a, c), both(b, Not(c)), both(a, b))),
    )


@settings(max_examples=20)
@given(INNER, INNER, st.sampled_from(RELATIONS))
def test_exists_is_distributed_over_alternatives(a: Query, b: Query, r: str) -> None:
    assert agree(Project(r, either(a, b)), either(Project(r, a), Project(r, b)))
    assert agree(Project(r, Project(r, either(a, b))), either(Project(r, Project(r, b)), Project(r, Project(r, a))))


@settings(max_examples=20)
@given(POSITIVE, POSITIVE, st.sampled_from(RELATIONS), st.sampled_from(RELATIONS))
def test_saying_more_about_an_inner_variable_never_raises_and_an_alternative_never_lowers(
    a: Query, b: Query, r: str, s: str
) -> None:
    assert ordered(Project(r, both(a, b)), Project(r, a))
    assert ordered(Project(r, both(a, Not(b))), Project(r, a))
    assert ordered(Project(s, Project(r, both(a, b))), Project(s, Project(r, b)))
    assert ordered(Project(r, a), Project(r, either(a, b)))
    assert ordered(both(a, Not(Project(r, either(a, b)))), both(a, Not(Project(r, b))))


@settings(max_examples=20)
@given(POSITIVE, POSITIVE, st.sampled_from(RELATIONS))
def test_an_inner_variable_that_is_said_more_about_implies_one_that_is_said_less_about(
    a: Query, b: Query, r: str
) -> None:
    more, less = Project(r, both(a, b)), Project(r, a)
    assert agree(more, both(more, less))
    assert agree(less, either(more, less))


@given(QUERIES, st.sampled_from(ENTITIES), st.sampled_from(RELATIONS))
def test_an_inner_variable_with_a_name_is_a_fact_and_a_link(a: Query, name: str, r: str) -> None:
    joined, fact, link = chances(Project(r, both(a, Anchor(name))), a, Project(r, Anchor(name)))
    expected = link * fact[GRAPH.vocabulary.entity_id(name)]
    assert bool(((joined - expected).abs() < CLOSE).all())


@given(edges=triples(), batch=st.lists(queries(safe=False) | shaped_queries(), min_size=1, max_size=4))
def test_certain_links_give_ordinary_logic(edges: list[tuple[str, str, str]], batch: list[Query]) -> None:
    graph = named_graph(edges, ENTITIES, RELATIONS)
    ids = [bind(query, graph.vocabulary.entity_id, graph.vocabulary.relation_id) for query in batch]
    found = execute_coherently(Exact(), graph, ids).stacked(ids)
    for row, query in zip(found.tolist(), batch, strict=True):
        expected = answer_set(edges, query, set(ENTITIES))
        assert row == [float(name in expected) for name in ENTITIES]


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ("ip", "inp", "up")])
def test_published_types_are_product_logic_to_the_last_bit(name: str) -> None:
    slots = SHAPES[name].slots
    query = bound(SHAPES[name].fill([(ENTITIES if slot == "e" else RELATIONS)[n % 3] for n, slot in enumerate(slots)]))
    expected = execute(Erratic(), GRAPH, [query]).memberships(query)
    assert torch.equal(execute_coherently(Erratic(), GRAPH, [query]).memberships(query), expected)


def test_what_answers_come_by_is_the_last_step_from_an_inner_variable() -> None:
    link = bound(Project("p", Anchor("Ada")))
    hop, other = bound(Project("q", Project("p", Anchor("Ada")))), bound(Project("q", Project("p", Anchor("Bob"))))
    asked = [link, hop, And((link, hop)), Or((hop, other)), And((link, Not(hop)))]
    execution = execute_coherently(Erratic(), GRAPH, asked)
    found = [execution.carried(query) for query in asked]
    assert found[0] is None
    assert found[4] is None
    expected = [execution.memberships(query) for query in (hop, hop, asked[3])]
    assert all(one is not None and torch.equal(one, other) for one, other in zip(found[1:4], expected, strict=True))
