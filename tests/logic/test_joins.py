"""Several answer variables and cycles: exact against a SPARQL engine, probable against brute force."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from random import Random

import numpy as np
import pyoxigraph
import pytest
import torch
from jaxtyping import Float, Int
from torch import Tensor

import unseen
from unseen.asking.answers import Question
from unseen.errors import QueryRefused
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.logic.formula import Atom, Negation, Variable
from unseen.logic.joins import known_tuples
from unseen.logic.joins.best_tuples import LEAST, PatternNames
from unseen.logic.joins.bound_pattern import BoundPattern
from unseen.logic.pattern import Pattern
from unseen.logic.text import parse_answers, parse_question

QUERIES = int(os.environ.get("UNSEEN_JOIN_QUERIES", "300"))
"""Random queries that are held against the engine."""
VARIABLES = ("x", "y", "z", "w")


def random_graph(random: Random, entities: int = 7, relations: int = 3, edges: int = 16) -> list[tuple[str, str, str]]:
    names = [f"e{number}" for number in range(entities)]
    return list(
        dict.fromkeys(
            (random.choice(names), f"r{random.randrange(relations)}", random.choice(names)) for _ in range(edges)
        )
    )


def random_sparql(random: Random, names: Sequence[str]) -> str:
    """A SELECT of one to three variables; often cyclic, sometimes with UNION, MINUS, FILTER, VALUES or a path."""

    def term() -> str:
        return (
            f"?{random.choice(VARIABLES[: random.randint(2, 4)])}"
            if random.random() < 0.8
            else f":{random.choice(names)}"
        )

    def triple() -> str:
        path = f":r{random.randrange(3)}"
        if random.random() < 0.15:
            path = random.choice([f"{path}/:r0", f"^{path}", f"({path}|:r1)", f"{path}+", f"{path}*", f"{path}?"])
        return f"{term()} {path} {term()} ."

    parts = [triple() for _ in range(random.randint(1, 5))]
    extra = random.random()
    if extra < 0.15:
        parts.append(f"FILTER NOT EXISTS {{ {triple()} {triple() if random.random() < 0.3 else ''} }}")
    elif extra < 0.3:
        parts.append(f"{{ {triple()} }} UNION {{ {triple()} {triple()} }}")
    elif extra < 0.4:
        parts.append(f"MINUS {{ {triple()} }}")
    elif extra < 0.5:
        parts.append(f"FILTER(?x != :{random.choice(names)})")
    elif extra < 0.6:
        parts.append(f"VALUES ?y {{ {' '.join(f':{name}' for name in random.sample(list(names), 2))} }}")
    used = [name for name in VARIABLES if f"?{name}" in " ".join(parts)] or ["x"]
    selected = random.sample(used, random.randint(1, min(3, len(used))))
    return f"SELECT DISTINCT {' '.join(f'?{name}' for name in selected)} WHERE {{ {' '.join(parts)} }}"


def by_engine(facts: Sequence[tuple[str, str, str]], text: str) -> list[tuple[str | None, ...]]:
    store = pyoxigraph.Store()
    store.extend(pyoxigraph.Quad(*(pyoxigraph.NamedNode(f"urn:unseen:{name}") for name in fact)) for fact in facts)
    found = store.query(f"PREFIX : <urn:unseen:> {text}")
    assert isinstance(found, pyoxigraph.QuerySolutions)
    size = len(found.variables)
    rows = [
        tuple(None if row[place] is None else row[place].value.removeprefix("urn:unseen:") for place in range(size))
        for row in found
    ]
    return sorted(rows, key=str)


def by_graph(graph: KnowledgeGraph, text: str) -> list[tuple[str | None, ...]]:
    answers = unseen.ask(graph, text, method="exact", top=100_000)
    assert answers.complete is not False
    names = answers.variables
    return sorted((tuple(one.keys.get(name) for name in names) if names else (one.key,) for one in answers), key=str)


def test_without_predictions_random_queries_have_the_answers_of_an_engine() -> None:
    random, answered, patterns = Random(7), 0, 0
    for _ in range(QUERIES):
        facts = random_graph(random)
        graph = KnowledgeGraph.from_triples(facts)
        text = random_sparql(random, sorted({name for head, _, tail in facts for name in (head, tail)}))
        try:
            found = by_graph(graph, text)
        except (QueryRefused, unseen.UnseenError):
            continue
        assert found == by_engine(facts, text), (facts, text)
        answered += 1
        patterns += " ?" in text.split("WHERE")[0].split("?", 1)[-1]
    assert answered > QUERIES / 3
    assert patterns > QUERIES / 20


def test_large_cyclic_patterns_have_the_answers_of_an_engine() -> None:
    random, found_some = Random(11), 0
    for _ in range(QUERIES // 5):
        facts = random_graph(random, edges=60)
        graph = KnowledgeGraph.from_triples(facts)
        names = [f"?v{number}" for number in range(random.randint(4, 6))]
        triples = [f"{one} :r{random.randrange(3)} {other} ." for one, other in pairwise(names)]
        triples += [
            f"{random.choice(names)} :r{random.randrange(3)} {random.choice(names)} ." for _ in range(len(names))
        ]
        selected = " ".join(random.sample(names, random.randint(1, 2)))
        text = f"SELECT DISTINCT {selected} WHERE {{ {' '.join(triples)} }}"
        found = by_graph(graph, text)
        assert found == by_engine(facts, text), (facts, text)
        found_some += bool(found)
    assert found_some > QUERIES // 50


def test_what_two_things_share_is_looked_for_apart() -> None:
    kinds = [(f"r{kind}", f"k{kind}.{number}") for kind in range(8) for number in range(20)]
    facts = [(name, relation, value) for name in ("a", "b", "c") for relation, value in kinds]
    facts += [("a", "likes", "b"), ("b", "likes", "c"), ("d", "likes", "a")]
    shared = " & ".join(f"r{kind}(x, v{kind}) & r{kind}(y, v{kind})" for kind in range(8))
    question = f"?x, y : exists {', '.join(f'v{kind}' for kind in range(8))} . likes(x, y) & {shared}"
    assert by_graph(KnowledgeGraph.from_triples(facts), question) == [("a", "b"), ("b", "c")]  # 20 to the power 8 ways


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("?x, y : r0(x, y) & !r1(x, y)", [("a", "c"), ("b", "c")]),
        ("?x : exists y, z . r0(x, y) & r0(y, z) & r1(x, z)", []),
        ("?x : exists y . r0(x, y) & r1(x, y)", [("a",)]),
        ("?y, x : r0(x, y)", [("b", "a"), ("c", "a"), ("c", "b")]),
        ("?x, y : (r0(x, y) | r0(y, x)) & r0(a, y)", [("a", "b"), ("a", "c"), ("b", "c"), ("c", "b")]),
        ("?x, y, z : r0(x, y) & r0(y, z)", [("a", "b", "c")]),
    ],
)
def test_known_tuples_of_a_small_graph(question: str, answers: list[tuple[str | None, ...]]) -> None:
    graph = KnowledgeGraph.from_triples([("a", "r0", "b"), ("b", "r0", "c"), ("a", "r0", "c"), ("a", "r1", "b")])
    assert by_graph(graph, question) == answers


@dataclass(frozen=True, eq=False)
class LinkTable:
    """A method with a probability for every link, known ones 1; a set leads where its best member does."""

    links: np.ndarray
    """By directed relation, source and target."""

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        table = torch.from_numpy(self.links)
        return torch.stack(
            [(row[:, None] * table[relation]).amax(0) for row, relation in zip(sets, relations, strict=True)]
        )

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        return execute(self, graph, queries)


def table_of(graph: KnowledgeGraph, seed: int) -> LinkTable:
    """Random probabilities, a few of them large, and 1 for every edge."""
    size, relations = graph.num_entities, graph.num_relations
    forwards = (np.random.default_rng(seed).random((relations, size, size)) ** 4 * 0.9).astype(np.float32)
    forwards[graph.relations, graph.heads, graph.tails] = 1
    links = np.empty((2 * relations, size, size), np.float32)
    links[0::2], links[1::2] = forwards, forwards.transpose(0, 2, 1)
    return LinkTable(links)


def by_brute_force(graph: KnowledgeGraph, method: LinkTable, pattern: Pattern) -> np.ndarray:
    """The probability of every tuple: the product over all parts, for the best values of the inner variables."""
    parts = pattern.parts
    inner = sorted({v for p in parts for v in _ends(p)} - set(pattern.answers), key=lambda v: v.name)
    order = [*pattern.answers, *inner]
    factors = [_factor(graph, method, part, order) for part in parts]
    return reduce(np.multiply, factors).max(axis=tuple(range(len(pattern.answers), len(order))))


def _ends(part: object) -> list[Variable]:
    atom = part.part if isinstance(part, Negation) else part
    assert isinstance(atom, Atom)
    return [term for term in (atom.subject, atom.object) if isinstance(term, Variable)]


def _factor(graph: KnowledgeGraph, method: LinkTable, part: object, order: list[Variable]) -> np.ndarray:
    atom = part.part if isinstance(part, Negation) else part
    assert isinstance(atom, Atom)
    values = method.links[graph.vocabulary.relation_id(atom.relation)]
    places = []
    for axis, term in enumerate((atom.subject, atom.object)):
        if isinstance(term, Variable):
            places.append(order.index(term))
        else:
            values = values.take(graph.vocabulary.entity_id(term.name), axis=axis - (2 - values.ndim))
    if len(places) == 2 and places[0] > places[1]:
        values, places = values.T, places[::-1]
    shape = [graph.num_entities if place in places else 1 for place in range(len(order))]
    values = values.reshape(shape)
    return 1 - values if isinstance(part, Negation) else values


PATTERNS = [
    "?x, y : r0(x, y)",
    "?x, y : r0(x, y) & r1(e0, x)",
    "?x, y : r0(x, y) & r1(x, y) & r2(e1, y)",
    "?x : exists y . r0(x, y) & r1(x, y) & r2(e1, y)",
    "?x : exists y, z . r0(x, y) & r1(y, z) & r2(z, x) & r0(e2, x)",
    "?x, y : exists z . r0(x, z) & r1(z, y) & !r2(x, y) & r0(e0, x)",
    "?x, y, z : r0(x, y) & r1(y, z) & r2(e0, x)",
    "?x : exists y, z, w . r0(x, y) & r1(y, z) & r2(z, w) & r0(w, x) & r1(e0, y)",
]


@pytest.mark.parametrize("question", PATTERNS)
@pytest.mark.parametrize("entities", [8, 24])
def test_probabilities_of_tuples_are_those_of_brute_force(question: str, entities: int) -> None:
    random = Random(entities)
    graph = KnowledgeGraph.from_triples(
        [
            *random_graph(random, entities, 3, 2 * entities),
            *((f"e{n}", "r0", f"e{(n + 1) % entities}") for n in range(entities)),
        ]
    )
    method, top = table_of(graph, entities), 12
    pattern = parse_question(question)
    assert isinstance(pattern, Pattern)
    expected = by_brute_force(graph, method, pattern)
    answers = unseen.ask(graph, question, method=method, top=top, predicted_only=True)
    known = {tuple(row) for row in by_graph(graph, question)}
    ids = graph.vocabulary.entity_id
    found = [tuple(one.values.values()) or (one.entity,) for one in answers]
    for values, answer in zip(found, answers, strict=True):
        assert values not in known
        assert answer.probability <= float(expected[tuple(map(ids, values))]) + 1e-6
        if answers.complete:
            assert answer.probability == pytest.approx(float(expected[tuple(map(ids, values))]), rel=1e-4)
    names = [graph.vocabulary.entity_name(entity) for entity in range(graph.num_entities)]
    others = [one for one in product(names, repeat=len(pattern.answers)) if one not in known]
    probable = (float(expected[tuple(map(ids, one))]) for one in others)
    best = sorted((value for value in probable if value > LEAST), reverse=True)[:top]
    shown = [answer.probability for answer in answers]
    if answers.complete:
        assert shown == pytest.approx(best, rel=1e-4)
    else:
        assert answers.missed is not None
        assert all(
            value <= max(answers.missed, shown[-1]) * 1.0001
            for value in best
            if not any(abs(value - s) < 1e-6 for s in shown)
        )


class SetReader(LinkTable):
    """A method with a network beside its rules."""

    beside_rules = True

    @property
    def rules(self) -> LinkTable:
        return self


@pytest.mark.parametrize(
    ("question", "tree"),
    [
        ("?x : exists y . r0(x, y) & r1(x, y) & r2(e1, y)", "?x : exists y . r0(x, y) & r2(e1, y)"),
        ("?x : exists y . r0(x, y) & !r1(x, y) & r2(e1, y)", "?x : exists y . r0(x, y) & r2(e1, y)"),
    ],
)
def test_a_network_speaks_with_all_values_of_inner_variables(question: str, tree: str) -> None:
    graph = KnowledgeGraph.from_triples([*random_graph(Random(3), 8, 3, 16), ("e1", "r2", "e2"), ("e1", "r0", "e2")])
    links = table_of(graph, 4)
    numbers = [
        {one.entity: one.probability for one in unseen.ask(graph, text, method=method, top=8, predicted_only=True)}
        for text, method in ((question, links), (question, SetReader(links.links)), (tree, links))
    ]
    alone, as_a_set, at_most = numbers
    assert as_a_set
    for entity in alone.keys() & as_a_set.keys() & at_most.keys():
        assert alone[entity] <= as_a_set[entity] * 1.0001
        assert as_a_set[entity] <= at_most[entity] * 1.0001


@pytest.mark.parametrize("method", ["edge-type", "rules"])
def test_a_tree_has_the_same_numbers_as_a_pattern(method: str) -> None:
    graph = unseen.load("countries")
    opened = unseen.api.open_method(method)
    for question in (
        "?x : exists y . borders(France, y) & speaks(y, x)",
        "?x : borders(x, France) & !speaks(x, German)",
    ):
        formula, answers = parse_answers(question)
        tree = unseen.ask(graph, question, method=opened, top=40)
        bound = BoundPattern.of(
            Pattern(formula, answers), PatternNames(graph.vocabulary.entity_id, graph.vocabulary.relation_id)
        )
        asked = Question(question, bound.relations(graph), 40, pattern=bound)
        pattern = unseen.api.ask_all(graph, [asked], opened, method)[0]
        numbers = {one.entity: one.probability for one in tree}
        assert pattern.known == tree.known
        for one in pattern:
            assert one.probability == pytest.approx(numbers.get(one.entity, one.probability), abs=1e-6)


@pytest.mark.parametrize("method", ["edge-type", "rules"])
def test_the_order_of_answers_changes_no_number(method: str) -> None:
    graph = unseen.load("countries")
    opened = unseen.api.open_method(method)
    body = "borders(x, y) & speaks(y, Dutch) & !speaks(x, French)"
    found = []
    for head in ("?x, y", "?y, x"):
        answers = unseen.ask(graph, f"{head} : {body}", method=opened, top=30)
        found.append({(a.values["x"], a.values["y"]): (a.known, a.probability) for a in answers})
    one, other = found
    for key in one.keys() & other.keys():
        assert one[key][0] == other[key][0]
        assert one[key][1] == pytest.approx(other[key][1], abs=1e-6)
    assert len(one.keys() & other.keys()) > 20


def test_tuples_are_explained() -> None:
    graph = unseen.load("countries")
    answers = unseen.ask(
        graph, "?x, y : borders(x, y) & speaks(y, Dutch) & !speaks(x, French)", method="rules", explain=True, top=20
    )
    known = next(one for one in answers if one.known)
    assert (known.values["y"], "speaks", "Dutch") in known.edges
    assert (known.values["x"], "borders", known.values["y"]) in known.edges
    predicted = next(one for one in answers if not one.known)
    assert {reason.kind for reason in predicted.reasons} & {"rule", "network"}
    assert all(0 < one.probability <= 1 for one in answers)


def test_known_tuples_of_hubs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [(f"e{n}", "in", "hub") for n in range(60)]
    graph = KnowledgeGraph.from_triples(facts)
    question = "?x, y : exists z . in(x, z) & in(y, z)"
    monkeypatch.setattr(known_tuples, "TOGETHER", 500)
    whole = unseen.ask(graph, question, method="exact", top=5)
    assert whole.known == 3600
    assert whole.complete
    monkeypatch.setattr(known_tuples, "MOST_TUPLES", 1000)
    some = unseen.ask(graph, question, method="exact", top=5)
    assert 1000 < some.known < 3600
    assert some.complete is False
    assert "more than" in some.warnings[0]


def test_unconnected_and_unbound_variables_are_refused() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r0", "b"), ("b", "r1", "c")])
    for question, reason in [
        ("?x, y : r0(a, x) & r1(b, y)", "no connection"),
        ("?x, y : r0(a, x) & !r1(x, y)", r"say what \?y is"),
        ("?x, x : r0(a, x)", "already"),
    ]:
        with pytest.raises(unseen.UnseenError, match=reason):
            unseen.ask(graph, question, method="exact")
