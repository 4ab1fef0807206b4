"""Which formulas are trees: each one means what first-order logic says, or is refused with reason and place."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logic.brute_force import answer_set
from tests.logic.strategies import triples
from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, Loop, Project, Query
from unseen.logic.formula import (
    Atom,
    Conjunction,
    Constant,
    Disjunction,
    Equal,
    Exists,
    Formula,
    Negation,
    Place,
    Term,
    Variable,
)
from unseen.logic.text import parse_formula
from unseen.logic.tree import MOST_VARIABLES, to_query

NOWHERE = Place()
ANSWER = Variable("x", 0)
ENTITIES, RELATIONS = ("a", "b", "c"), ("r", "s")
Triples = list[tuple[str, str, str]]

REFUSALS = [
    ("?x : r(a, b)", 5, "the answer variable ?x does not occur in it"),
    ("?x : exists x . r(a, x)", 5, "the answer variable ?x does not occur in it"),
    ("?x : !r(a, x)", 5, "negation must be bound: say what ?x is, not only what it is not"),
    ("?x : !r(a, x) & !s(b, x)", 5, "negation must be bound: say what ?x is"),
    ("?x : r(a, x) | !s(b, x)", 15, "negation must be bound: say what ?x is"),
    ("?x : exists v . !r(a, x)", 5, "negation must be bound: say what ?x is"),
    ("?x : !!!r(a, x)", 5, "negation must be bound: say what ?x is"),
    ("?x : s(b, x) & (r(a, x) | (exists v . !s(c, x)))", 27, "an alternative may not consist of exclusions only"),
    ("?x : r(a, x) & r(b, c)", 15, "it says nothing about a variable"),
    ("?x : r(a, x) & (exists v . s(b, v))", 27, "?v has no connection with ?x"),
    ("?x : r(a, x) & !(exists v . s(b, v))", 15, "it says nothing about a variable"),
    ("?x : exists v . r(a, v) & r(v, x) & s(v, x)", 36, "?x lies on a cycle: this is a second way to it"),
    ("?x : exists v, w . r(v, x) & s(w, x) & t(v, w)", 29, "?x lies on a cycle: this is a second way to it"),
    ("?x : exists v . r(a, v) & r(v, x) & !s(v, x)", 36, "?x lies on a cycle: this is a second way to it"),
    (
        "?x : exists v . r(a, v) & s(b, x) & !t(v, x)",
        36,
        "negation may not join two variables, and here one of them is ?v",
    ),
    (
        "?x : s(b, x) & (exists v . r(a, v) & !t(v, x))",
        37,
        "negation may not join two variables, and here one of them is ?v",
    ),
    ("?x : exists v . r(a, v) & (s(v, x) | t(b, x))", 37, "every alternative must mention ?v"),
    ("?x : exists v . r(a, v) & (s(v, x) | t(v, x) & u(v, x))", 47, "?v lies on a cycle: this is a second way to it"),
    ("?x : exists v . r(a, v) & (s(v, x) | t(v, b))", 37, "every alternative must say something about ?x"),
    ("?x : exists v, w . r(a, v) & r(b, w) & (s(v, x) | t(w, x))", 40, "one part joins ?x, ?v, ?w"),
    ("?x : r(a, x) & (s(b, x) | t(c, d))", 26, "every alternative must say something about ?x"),
]


@pytest.mark.parametrize(("text", "position", "reason"), REFUSALS)
def test_what_is_no_tree_is_refused_with_reason_and_place(text: str, position: int, reason: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        parse_formula(text)
    assert reason in caught.value.reason
    assert str(caught.value).startswith("cannot answer this question: ")
    assert caught.value.position == position
    assert str(caught.value).splitlines()[1:] == [f"  {text}", "  " + " " * position + "^"]


def test_a_refusal_without_a_text_shows_the_pattern_in_words() -> None:
    unbound = Negation(Atom("r", ANSWER, Constant("a"), Place()), Place(shown="?x :r :a"))
    with pytest.raises(QueryRefused, match=r"negation must be bound.* \(in \?x :r :a\)"):
        to_query(unbound, ANSWER)


def test_what_is_related_to_itself_is_a_loop_of_the_graph() -> None:
    assert parse_formula("?x : r(x, x)") == Loop("r")


def test_more_than_a_thousand_variables_are_refused() -> None:
    names = [f"v{number}" for number in range(MOST_VARIABLES)]
    joined = " & ".join(f"(exists {name} . r(a, {name}) & s({name}, x))" for name in names)
    with pytest.raises(QueryRefused, match="more than 1,000 variables"):
        parse_formula(f"?x : {joined}")


def test_many_branches_are_one_wide_conjunction() -> None:
    query = parse_formula("?x : " + " & ".join(f"r(a{number}, x)" for number in range(3000)))
    assert len(query.children) == 3000
    assert query.depth == 3


def test_a_union_between_two_variables_repeats_the_inner_set_in_each_branch() -> None:
    query = parse_formula("?x : exists v . r(a, v) & (s(v, x) | t(x, v) & u(b, x))")
    assert str(query) == "s(r(a)) ∨ (t⁻¹(r(a)) ∧ u(b))"


def test_a_negated_branch_may_have_variables_of_its_own() -> None:
    query = parse_formula("?x : r(a, x) & !(exists v . s(b, v) & t(v, x))")
    assert str(query) == "r(a) ∧ ¬t(s(b))"


def test_an_inner_variable_may_be_bound_by_exclusion_alone_because_its_edge_binds_it() -> None:
    assert str(parse_formula("?x : exists v . !r(a, v) & s(v, x)")) == "s(¬r(a))"


def test_unused_variables_do_no_harm() -> None:
    assert parse_formula("?x : exists v, w . r(a, x)") == Project("r", Anchor("a"))


@st.composite
def atoms(draw: st.DrawFn, first: tuple[Term, ...], second: tuple[Term, ...]) -> Atom:
    ends = draw(st.permutations([draw(st.sampled_from(first)), draw(st.sampled_from(second))]))
    return Atom(draw(st.sampled_from(RELATIONS)), ends[0], ends[1], NOWHERE)


@st.composite
def formulas(draw: st.DrawFn, scope: tuple[Variable, ...] = (ANSWER,), depth: int = 3, place: int = 1) -> Formula:
    """Random formulas over the variables in scope: about half of them are trees. `place` tells variables apart."""
    constants = tuple(map(Constant, ENTITIES))
    kind = draw(st.sampled_from(["atom", "equal", "not", "and", "and", "or", "exists", "exists"])) if depth else "atom"
    if kind == "atom":
        return draw(atoms(scope, constants))
    if kind == "equal":
        return Equal(draw(st.sampled_from(scope)), draw(st.sampled_from(constants)), NOWHERE)
    if kind == "not":
        return Negation(draw(formulas(scope, depth - 1, 4 * place)), NOWHERE)
    if kind == "exists":
        inner = Variable("v", place)
        link = draw(st.lists(atoms((inner,), scope), min_size=1, max_size=2))
        said = draw(formulas((inner,), depth - 1, 4 * place))
        rest = draw(st.sampled_from([(), (), (Atom("r", inner, scope[0], NOWHERE),)]))
        linked = link[0] if len(link) == 1 else Disjunction(tuple(link), NOWHERE)
        return Exists((inner,), Conjunction((linked, said, *rest), NOWHERE), NOWHERE)
    count = draw(st.integers(2, 3))
    parts = tuple(draw(formulas(scope, depth - 1, 4 * place + number)) for number in range(count))
    return Conjunction(parts, NOWHERE) if kind == "and" else Disjunction(parts, NOWHERE)


def holds(formula: Formula, values: dict[Variable, str], edges: Triples) -> bool:
    """First-order truth by definition: every variable ranges over all entities."""
    match formula:
        case Atom():
            ends = [
                values[term] if isinstance(term, Variable) else term.name for term in (formula.subject, formula.object)
            ]
            return (ends[0], formula.relation, ends[1]) in edges
        case Equal():
            return values[formula.variable] == formula.constant.name
        case Negation():
            return not holds(formula.part, values, edges)
        case Conjunction():
            return all(holds(part, values, edges) for part in formula.parts)
        case Disjunction():
            return any(holds(part, values, edges) for part in formula.parts)
    choices = product(ENTITIES, repeat=len(formula.variables))
    return any(
        holds(formula.part, {**values, **dict(zip(formula.variables, choice, strict=True))}, edges)
        for choice in choices
    )


@settings(max_examples=6 * settings.default.max_examples)
@given(formulas(), triples(ENTITIES, RELATIONS, max_size=8))
def test_a_formula_means_what_first_order_logic_says_or_is_refused(formula: Formula, edges: Triples) -> None:
    try:
        query = to_query(formula, ANSWER)
    except QueryRefused:
        return
    assert isinstance(query, Query)
    expected = {entity for entity in ENTITIES if holds(formula, {ANSWER: entity}, edges)}
    assert answer_set(edges, query, set(ENTITIES)) == expected


@settings(max_examples=3 * settings.default.max_examples)
@given(formulas(), triples(ENTITIES, RELATIONS, max_size=8))
def test_answers_do_not_depend_on_entities_that_are_in_no_edge_and_in_no_question(
    formula: Formula, edges: Triples
) -> None:
    """Safely bound negation: a larger universe has no more answers."""
    try:
        query = to_query(formula, ANSWER)
    except QueryRefused:
        return
    assert answer_set(edges, query, {*ENTITIES, "stranger"}) == answer_set(edges, query, set(ENTITIES))
