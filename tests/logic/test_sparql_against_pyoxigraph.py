"""The same question on the same graph: exact traversal, brute force and a SPARQL engine agree."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyoxigraph
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.logic.brute_force import answer_set
from tests.logic.strategies import ENTITIES, RELATIONS, queries, shaped_queries, triples
from unseen.errors import QueryRefused
from unseen.graph import KnowledgeGraph
from unseen.graph.prefixes import iri_of
from unseen.graph.vocabulary import Vocabulary
from unseen.logic.algebra import Query, bind
from unseen.logic.shapes import SHAPES
from unseen.logic.sparql import parse_sparql
from unseen.logic.sparql.writer import is_bound, to_sparql
from unseen.logic.traverse import answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    Triple = tuple[str, str, str]


def key(name: str) -> str:
    """What an entity is called in a graph: `<iri>` without the brackets."""
    return name.removeprefix("<").removesuffix(">")


def by_engine(facts: Sequence[Triple], text: str, entities: Sequence[str] = ENTITIES) -> set[str]:
    """The names that pyoxigraph finds."""
    store = pyoxigraph.Store()
    store.extend(pyoxigraph.Quad(*(pyoxigraph.NamedNode(iri_of(key(name))) for name in fact)) for fact in facts)
    names = {iri_of(key(entity)): entity for entity in entities}
    found = store.query(f"PREFIX : <urn:unseen:> {text}")
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return {names[solution[0].value] for solution in found}


def by_traversal(facts: Sequence[Triple], query: Query) -> set[str]:
    """The names that exact traversal finds."""
    columns = zip(*[(ENTITIES.index(h), RELATIONS.index(r), ENTITIES.index(t)) for h, r, t in facts], strict=True)
    heads, relations, tails = (np.array(column, np.int32) for column in (columns if facts else ((), (), ())))
    graph = KnowledgeGraph(heads, relations, tails, Vocabulary.of([key(name) for name in ENTITIES], RELATIONS))
    bound = bind(query, graph.vocabulary.entity_id, graph.vocabulary.relation_id)
    return {ENTITIES[entity] for entity in answers(graph, bound)}


def check_agreement(facts: Sequence[Triple], query: Query) -> None:
    text = to_sparql(query)
    expected = answer_set(facts, query, set(ENTITIES))
    assert by_engine(facts, text) == expected
    assert by_traversal(facts, query) == expected
    assert by_traversal(facts, parse_sparql(text).query) == expected


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=max(10, settings.default.max_examples // 4))
@given(facts=triples(), data=st.data())
def test_all_agree_on_every_shape(shape: str, facts: list[Triple], data: st.DataObject) -> None:
    check_agreement(facts, data.draw(shaped_queries(names=[shape])))


@settings(max_examples=2 * settings.default.max_examples)
@given(triples(), queries(max_depth=4))
def test_all_agree_on_random_queries(facts: list[Triple], query: Query) -> None:
    check_agreement(facts, query)


@settings(max_examples=2 * settings.default.max_examples)
@given(triples(), queries(max_depth=4, safe=False))
def test_whatever_is_bound_can_be_written_wherever_its_negations_stand(facts: list[Triple], query: Query) -> None:
    assume(is_bound(query))
    check_agreement(facts, query)


class SparqlMaker:
    """Random SPARQL texts of all constructs, most of them nonsense."""

    entities = tuple("ABCDE")

    def __init__(self, random: Random) -> None:
        self.random = random
        self.variables = ["?x", "?y", "?z"][: random.choice([1, 2, 2, 3])]

    def select(self) -> str:
        return f"SELECT ?x {{ ?x {self.path()} {self.entity()} . {self.group(self.random.choice([1, 2, 3]))} }}"

    def group(self, depth: int) -> str:
        anchored = [f"{self.variable()} {self.path()} {self.entity()} ."] if self.random.random() < 0.7 else []
        parts = anchored + [self.part(depth) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]
        self.random.shuffle(parts)
        return f"{{ {' '.join(parts)} }}"

    def part(self, depth: int) -> str:
        kinds = [self.triple] * 9
        if depth > 0:
            kinds += [self.values, lambda: self.group(depth - 1), lambda: f"MINUS {self.group(depth - 1)}"]
            kinds += [lambda: f"{self.group(depth - 1)} UNION {self.group(depth - 1)}"] * 3
            kinds += [lambda: f"FILTER({self.test(depth)})"] * 3
        return self.random.choice(kinds)()

    def triple(self) -> str:
        others = [variable for variable in self.variables if variable != self.variables[0]] or [self.entity()]
        ends = [self.variables[0], self.random.choice([*others, self.entity()])]
        if self.random.random() < 0.3:
            ends = [self.variable(), self.entity()]
        self.random.shuffle(ends)
        return f"{ends[0]} {self.path()} {ends[1]} ."

    def test(self, depth: int) -> str:
        compare = f"{self.variable()} {self.random.choice(['=', '!='])} {self.entity()}"
        belong = f"{self.variable()} {self.random.choice(['IN', 'NOT IN'])} ({self.entity()}, {self.entity()})"
        exists = f"{self.random.choice(['EXISTS', 'NOT EXISTS', 'NOT EXISTS'])} {self.group(depth - 1)}"
        kind = self.random.random()
        if kind < 0.2:
            return f"({self.test(depth)} {self.random.choice(['&&', '||'])} {self.test(depth)})"
        return f"!({self.test(depth)})" if kind < 0.3 else self.random.choice([compare, belong, exists, exists])

    def values(self) -> str:
        names = " ".join(self.entity() for _ in range(self.random.choice([1, 1, 2])))
        return f"VALUES {self.variable()} {{ {names} }}"

    def path(self, depth: int = 2) -> str:
        kind = self.random.random() if depth else 0.0
        if kind < 0.7:
            return f":{self.random.choice('pqr')}"
        if kind < 0.8:
            return f"^({self.path(depth - 1)})"
        return f"({self.path(depth - 1)}{'/' if kind < 0.9 else '|'}{self.path(depth - 1)})"

    def variable(self) -> str:
        return self.random.choice(self.variables)

    def entity(self) -> str:
        return f":{self.random.choice(self.entities)}"


@pytest.mark.parametrize("seed", range(8))
def test_every_text_that_is_accepted_means_what_the_engine_says(seed: int) -> None:
    random = Random(seed)
    accepted = 0
    for _ in range(40):
        text = SparqlMaker(random).select()
        facts = [(random.choice("ABCDE"), random.choice("pqr"), random.choice("ABCDE")) for _ in range(10)]
        try:
            query = parse_sparql(text).query
        except QueryRefused:
            continue
        accepted += 1
        assert answer_set(facts, query, set("ABCDE")) == by_engine(facts, text, "ABCDE"), text
    assert accepted >= 5
