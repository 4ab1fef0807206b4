"""Statements: what a closed formula becomes, what the graph says of it, and how likely it is."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.graphs import named_graph
from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.closed import bound_statement, relations_of, statement_of
from unseen.logic.coherent import execute_coherently
from unseen.logic.sparql.asking import parse_ask, place_of_ask
from unseen.logic.statement_chances import StatementChance
from unseen.logic.text import parse_closed
from unseen.logic.traverse import Traversal
from unseen.scoring.bound_statements import candidates_of, holds, prepare_statement

if TYPE_CHECKING:
    from torch import Tensor

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query

CLOSE = 1e-6
NAMES, RELATIONS = ("a", "b", "c", "d"), ("p", "q")
EDGES = [("a", "p", "b"), ("b", "q", "c"), ("c", "p", "a"), ("d", "q", "a")]
GRAPH = named_graph(EDGES, NAMES, RELATIONS)


class Uneven:
    """A projector that gives every link a probability of its own; links of the graph are certain."""

    is_monotone = True

    def project(self, graph: KnowledgeGraph, sets: Tensor, relations: Tensor) -> Tensor:
        import torch

        n = graph.num_entities
        heads, tails = torch.arange(n, dtype=torch.float64).view(-1, 1), torch.arange(n, dtype=torch.float64)
        rows = []
        for members, relation in zip(sets.double(), relations.tolist(), strict=True):
            links = torch.sin(heads * 7.31 + tails * 3.17 + relation * 5.77).abs() * 0.8
            rows.append((members.view(-1, 1) * links).amax(dim=0))
        return torch.stack(rows)


def bound(text: str) -> Query:
    vocabulary = GRAPH.vocabulary
    return bound_statement(statement_of(parse_closed(text), text), vocabulary.entity_id, vocabulary.relation_id)


def chance(text: str) -> float:
    found = StatementChance(bound(text))
    execution = execute_coherently(Uneven(), GRAPH, found.needed)
    return found.of(execution.memberships, candidates_of(GRAPH))


FACTS = st.builds(lambda r, h, t: f"{r}({h}, {t})", *(map(st.sampled_from, (RELATIONS, NAMES, NAMES))))
INNER = st.builds(lambda r, h: f"{r}({h}, v)", *(map(st.sampled_from, (RELATIONS, NAMES))))
SOME = st.builds(lambda one, sign, other: f"(exists v . {one} {sign} {other})", INNER, st.sampled_from("&|"), INNER)
STATEMENTS = FACTS | FACTS | SOME | INNER.map(lambda one: f"(exists v . {one})")


@settings(max_examples=12)
@given(STATEMENTS, STATEMENTS, STATEMENTS)
def test_statements_obey_the_laws(a: str, b: str, c: str) -> None:
    same = [
        (a, f"{a} & {a}", f"{a} | {a}", f"!!{a}", f"{a} | ({a} & {b})", f"({a} & {b}) | ({a} & !{b})"),
        (f"!({a} & {b})", f"!{b} | !{a}"),
        (f"{a} & ({b} | {c})", f"({c} & {a}) | ({b} & {a})"),
    ]
    for group in same:
        values = [chance(text) for text in group]
        assert values == pytest.approx([values[0]] * len(values), abs=CLOSE)
    one, other, both, either = chance(a), chance(b), chance(f"{a} & {b}"), chance(f"{a} | {b}")
    assert both <= min(one, other) + CLOSE
    assert either >= max(one, other) - CLOSE
    assert both + either == pytest.approx(one + other, abs=CLOSE)
    assert chance(f"!{a}") == pytest.approx(1 - one, abs=CLOSE)
    assert chance(f"{a} & {b} & {c}") <= both + CLOSE


@settings(max_examples=8)
@given(INNER, INNER, st.sampled_from(NAMES))
def test_exists_obeys_the_laws(a: str, b: str, name: str) -> None:
    def some(text: str) -> str:
        return f"(exists v . {text})"

    proof = a.replace(", v)", f", {name})")
    assert chance(some(f"({a} | {b})")) == pytest.approx(chance(f"{some(a)} | {some(b)}"), abs=CLOSE)
    assert chance(some(f"{a} & {b}")) <= chance(f"{some(a)} & {some(b)}") + CLOSE
    assert chance(some(f"{a} & !{b}")) <= chance(some(a)) + CLOSE
    assert chance(f"{proof} & {some(a)}") == pytest.approx(chance(proof), abs=CLOSE)
    assert chance(some(f"{a} & v = {name}")) == pytest.approx(chance(proof), abs=CLOSE)


def test_exists_is_as_likely_as_that_not_every_entity_fails() -> None:
    alone = [chance(f"p(a, {name})") for name in NAMES]
    assert chance("exists v . p(a, v)") == pytest.approx(1 - np.prod([1 - value for value in alone]), abs=CLOSE)


@pytest.mark.parametrize("text", ["p(a, b)", "p(b, a)", "exists v . p(a, v) & q(v, c)", "!q(a, b) & p(a, b)"])
def test_the_graph_says_what_it_has(text: str) -> None:
    edges = {f"{relation}({head}, {tail})" for head, relation, tail in EDGES}
    expected = {"exists v . p(a, v) & q(v, c)": True, "!q(a, b) & p(a, b)": True}.get(text, text in edges)
    assert holds(bound(text), Traversal(GRAPH), candidates_of(GRAPH)) == expected


def test_what_is_only_denied_is_not_known() -> None:
    assert not prepare_statement(GRAPH, "!p(b, a)").is_known(Traversal(GRAPH))
    assert prepare_statement(GRAPH, "p(a, b) & !p(b, a)").is_known(Traversal(GRAPH))


def test_exists_is_split_where_its_parts_share_nothing() -> None:
    for one, other in [
        ("exists v, w . p(a, v) & q(b, w)", "(exists v . p(a, v)) & (exists w . q(b, w))"),
        ("exists v . p(a, v) & q(b, c)", "q(b, c) & exists v . p(a, v)"),
        ("exists v, w . p(a, v) & q(v, w) & p(w, c)", "exists w, v . p(w, c) & p(a, v) & q(v, w)"),
    ]:
        assert chance(one) == pytest.approx(chance(other), abs=CLOSE)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("?x : p(a, x)", QuerySyntaxError, "has no answer variable"),
        ("p(a, b) q(a, b)", QuerySyntaxError, "the end of the statement"),
        ("exists v . !p(a, v)", QueryRefused, "negation must be bound"),
        ("exists v, w . p(v, w) & q(w, v)", QueryRefused, "cycle"),
    ],
)
def test_what_is_no_statement_is_refused_with_its_place(text: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        bound(text)


def test_too_many_alternatives_under_exists_are_refused() -> None:
    parts = " | ".join(f"{r}({h}, {t})" for r, h, t in product(RELATIONS, NAMES, NAMES))
    assert 0 < chance(parts) < 1
    with pytest.raises(QueryRefused, match="more than"):
        chance(f"(exists v . p(a, v)) & ({parts})")


def test_relations_under_negation_are_not_needed() -> None:
    assert relations_of(bound("p(a, b) & !q(a, b) & exists v . p(a, v)")) == [0]


def test_ask_means_the_same_as_a_formula() -> None:
    pytest.importorskip("rdflib")
    for sparql, formula in [
        ("ASK { :a :p :b }", "p(a, b)"),
        ("prefix x: <urn:x> ASK WHERE { :a :p ?v . ?v :q :c }", "exists v . p(a, v) & q(v, c)"),
        ("ASK { { :a :p :b } UNION { :b :q :c } }", "p(a, b) | q(b, c)"),
        ("ASK { :a :p ?v MINUS { ?v :q :c } }", "exists v . p(a, v) & !q(v, c)"),
    ]:
        vocabulary = GRAPH.vocabulary
        query = bound_statement(statement_of(parse_ask(sparql, {})), vocabulary.entity_id, vocabulary.relation_id)
        assert StatementChance(query).expression == StatementChance(bound(formula)).expression
    assert place_of_ask("SELECT ?ASK { ?ASK :p :b }") is None
    with pytest.raises(QueryRefused) as error:
        parse_ask("ASK { :a :p ?v FILTER(?v > 3) } GROUP BY ?v", {})
    assert error.value.text is not None
    assert error.value.text.startswith("ASK")
