"""Every method that gives probabilities obeys the laws of logic, over random questions and graphs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.methods import combined
from tests.graph.graphs import named_graph
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.methods.edge_type import EdgeType
from unseen.methods.exact import Exact
from unseen.methods.mined_rules import MinedRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from unseen.graph import KnowledgeGraph
    from unseen.logic.method import Method

CLOSE = 1e-6
NUM_ENTITIES, NUM_RELATIONS = 12, 3
METHODS: dict[str, Callable[[], Method]] = {
    "exact": Exact,
    "edge-type": EdgeType,
    "rules": lambda: MinedRules(samples=20),
    "combined": combined,
}
LINKS = st.builds(Project, st.integers(0, 2 * NUM_RELATIONS - 1), st.integers(0, NUM_ENTITIES - 1).map(Anchor))
BRANCHES = LINKS | st.builds(Project, st.integers(0, 2 * NUM_RELATIONS - 1), LINKS)
PAIRS = st.tuples(BRANCHES, BRANCHES)
FORMULAS = BRANCHES | PAIRS.map(And) | PAIRS.map(Or) | PAIRS.map(lambda pair: And((pair[0], Not(pair[1]))))


@cache
def graph_of(seed: int) -> KnowledgeGraph:
    """A random graph in which r1 often follows from r0, so that there are rules."""
    draw = torch.Generator().manual_seed(seed)
    ends = torch.randint(NUM_ENTITIES, (24, 2), generator=draw).tolist()
    names = [f"e{number}" for number in range(NUM_ENTITIES)]
    edges = [(names[head], f"r{place % 2 * 2}", names[tail]) for place, (head, tail) in enumerate(ends)]
    edges += [(head, "r1", tail) for head, relation, tail in edges[:20] if relation == "r0"]
    return named_graph(edges, names, [f"r{number}" for number in range(NUM_RELATIONS)])


@cache
def opened(name: str) -> Method:
    return METHODS[name]()


class Chances:
    """The probabilities of several questions by one call of a method."""

    def __init__(self, method: str, seed: int, *asked: Query) -> None:
        self.found = opened(method).estimate(graph_of(seed), asked)

    def __getitem__(self, query: Query) -> Tensor:
        return self.found.memberships(query)

    def agree(self, *asked: Query) -> bool:
        first, *others = [self[query] for query in asked]
        return all(bool(((first - other).abs() <= CLOSE).all()) for other in others)

    def rise(self, less: Query, more: Query) -> bool:
        return bool((self[less] <= self[more] + CLOSE).all())


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2), a=FORMULAS, b=FORMULAS, c=BRANCHES, name=st.integers(0, NUM_ENTITIES - 1))
def test_questions_obey_the_laws(method: str, seed: int, a: Query, b: Query, c: Query, name: int) -> None:
    twice, both, either, negated, named = And((a, a)), And((a, b)), Or((a, b)), Not(a), And((a, Anchor(name)))
    same = [
        (a, twice, Or((a, a)), Not(negated), Or((a, both)), And((a, either)), Or((both, And((a, Not(b)))))),
        (Not(both), Or((Not(b), negated))),
        (And((a, Or((b, c)))), Or((And((c, a)), both))),
    ]
    chances = Chances(method, seed, *(query for group in same for query in group), b, either, named, And((both, c)))
    assert all(chances.agree(*group) for group in same)
    assert float((chances[a] + chances[negated] - 1).abs().max()) <= CLOSE
    assert abs(float(chances[named][name] - chances[a][name])) <= CLOSE
    assert all(chances.rise(*pair) for pair in ((both, a), (both, b), (And((both, c)), both), (a, either), (b, either)))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2), a=BRANCHES, b=BRANCHES, relation=st.integers(0, 2 * NUM_RELATIONS - 1))
def test_inner_variables_obey_the_laws(method: str, seed: int, a: Query, b: Query, relation: int) -> None:
    def led(source: Query) -> Project:
        return Project(relation, source)

    any_of, all_of, but = led(Or((a, b))), led(And((a, b))), led(And((a, Not(b))))
    apart, turned = Or((led(b), led(a))), led(Not(Or((Not(b), Not(a)))))
    chances = Chances(method, seed, any_of, all_of, but, apart, turned, led(a), led(And((a, a))), led(Or((a, all_of))))
    assert chances.agree(any_of, apart)
    assert chances.agree(all_of, turned)
    assert chances.agree(led(a), led(And((a, a))))
    assert all(chances.rise(*pair) for pair in ((all_of, led(a)), (but, led(a)), (led(a), any_of)))


@pytest.mark.parametrize("method", ["edge-type", "rules", "combined"])
def test_a_known_answer_under_negation_is_as_likely_as_what_it_excludes_is_not(method: str) -> None:
    graph = graph_of(0)
    known, excluded = Project(0, Anchor(int(graph.edges_from(0)[0][0]))), Project(2, Anchor(3))
    answer = int(graph.edges_from(0)[1][0])
    chances = opened(method).estimate(graph, [And((known, Not(excluded))), excluded])
    assert float(chances.memberships(known)[answer]) == 1
    found = float(chances.memberships(And((known, Not(excluded))))[answer])
    assert found == pytest.approx(1 - float(chances.memberships(excluded)[answer]), abs=CLOSE)
