"""Worlds in which a rule is known to hold: facts that are there, and facts that follow from them but were hidden.

Every kind of world has a relation `r` (`is_a` for attributes) that follows from others; a tenth of its facts is hidden.
Noise adds random facts to the relations that it follows from: a noise of 0.1 makes one of eleven of them wrong. Where
nothing could tell a wrong fact from one whose conclusion is hidden (symmetry, asymmetry), they go to another relation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.logic.protocols import Answerer

Triple = tuple[str, str, str]
BATCH = 64
"""Questions that are asked together."""


@dataclass(frozen=True)
class RuleWorld:
    """A graph, and the facts of one relation that follow from it but are not in it."""

    graph: KnowledgeGraph
    hidden: list[Triple]

    @property
    def turned(self) -> list[Triple]:
        """Known facts of the relation, turned around, at whose head a fact is hidden: wrong where it is asymmetric."""
        relation, there = self.hidden[0][1], set(self.graph.triples())
        asked = {head for head, _, _ in self.hidden}
        turned = {(tail, relation, head) for head, own, tail in there if own == relation and tail in asked}
        return sorted(turned - there - set(self.hidden))


def rule_world(kind: str, *, entities: int = 200, noise: float = 0.0, seed: int = 0) -> RuleWorld:
    """A world of one kind; beside its facts there are random ones, `noise` for each."""
    random = np.random.default_rng(seed)
    names = [f"e{number}" for number in range(entities)]
    given, concluded = KINDS[kind](names, random)
    known, hidden = _hidden(concluded, 0.1, random)
    elsewhere = "other" if kind in ("symmetry", "asymmetry") else None
    wrong = [
        (names[random.integers(entities)], elsewhere or relation, names[random.integers(entities)])
        for _, relation, _ in given
        if random.random() < noise
    ]
    graph = KnowledgeGraph.from_triples([*given, *known, *wrong])
    there = set(graph.triples())
    return RuleWorld(graph, [triple for triple in hidden if triple not in there])


def hits_at_one(method: Answerer, world: RuleWorld, forwards: bool = True) -> float:
    """The share of hidden facts whose tail, or head, is the best answer that the graph does not know."""
    graph = world.graph
    asked = [_numbered(fact, graph, forwards) for fact in world.hidden]
    true: dict[tuple[int, int], list[int]] = {}
    for source, relation, target in asked:
        true.setdefault((source, relation), []).append(target)
    hits = 0.0
    for (source, relation, target), row in zip(asked, _scores(method, graph, asked), strict=True):
        others = row.copy()
        sources, targets = graph.edges_from(relation)
        others[targets[sources == source]] = 0
        others[true[source, relation]] = 0
        hits += float(row[target] > others.max())
    return hits / len(asked)


def turned_above_hidden(method: Answerer, world: RuleWorld) -> int:
    """How many known facts, turned around, are scored as high as a hidden fact of the same head, or higher."""
    hidden = [_numbered(fact, world.graph) for fact in world.hidden]
    turned = [_numbered(fact, world.graph) for fact in world.turned]
    count = 0
    for (source, _, target), row in zip(hidden, _scores(method, world.graph, hidden), strict=True):
        count += sum(bool(row[end] >= row[target]) for start, _, end in turned if start == source)
    return count


def _numbered(fact: Triple, graph: KnowledgeGraph, forwards: bool = True) -> tuple[int, int, int]:
    """Source, directed relation and target."""
    head, relation, tail = (
        graph.vocabulary.entity_id(fact[0]),
        graph.vocabulary.relation_id(fact[1]),
        graph.vocabulary.entity_id(fact[2]),
    )
    return (head, relation, tail) if forwards else (tail, relation ^ 1, head)


def _scores(method: Answerer, graph: KnowledgeGraph, asked: list[tuple[int, int, int]]) -> Iterator[np.ndarray]:
    for low in range(0, len(asked), BATCH):
        queries = [Project(relation, Anchor(source)) for source, relation, _ in asked[low : low + BATCH]]
        yield from method.answer(graph, queries).cpu().numpy()


def family(generations: int = 5, seed: int = 0) -> RuleWorld:
    """A family tree with a tenth of its grandparents hidden."""
    random = np.random.default_rng(seed)
    people, parents, siblings = [[f"p0/{i}" for i in range(12)]], [], []
    for generation in range(1, generations):
        born = []
        for number, parent in enumerate(people[-1]):
            children = [f"p{generation}/{number}/{i}" for i in range(1 + int(random.integers(3)))]
            parents += [(parent, "parent_of", child) for child in children]
            siblings += [(a, "sibling_of", b) for a in children for b in children if a != b]
            born += children
        people.append(born)
    grand = _composed(parents, parents, "grandparent_of")
    known, hidden = _hidden(grand, 0.1, random)
    return RuleWorld(KnowledgeGraph.from_triples([*parents, *siblings, *known]), hidden)


def _hidden(facts: list[Triple], share: float, random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    is_hidden = random.random(len(facts)) < share
    sides = ([], [])
    for fact, chosen in zip(facts, is_hidden, strict=True):
        sides[int(chosen)].append(fact)
    return sides


def _ordered(names: list[str], relation: str, random: np.random.Generator) -> list[Triple]:
    """Every entity but the last leads to up to two later ones."""
    found = set()
    for place in range(len(names) - 1):
        for end in random.integers(place + 1, len(names), 2).tolist():
            found.add((names[place], relation, names[end]))
    return sorted(found)


def _functional(names: list[str], relation: str, random: np.random.Generator) -> list[Triple]:
    """Every entity leads to one other."""
    order = random.permutation(len(names))
    return [(names[a], relation, names[b]) for a, b in zip(order, np.roll(order, 1), strict=True)]


def _composed(left: list[Triple], right: list[Triple], relation: str) -> list[Triple]:
    onward: dict[str, list[str]] = {}
    for head, _, tail in right:
        onward.setdefault(head, []).append(tail)
    return [(head, relation, end) for head, _, tail in left for end in onward.get(tail, []) if end != head]


def _composition(names: list[str], random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    first, second = _functional(names, "a", random), _functional(names, "b", random)
    return first + second, _composed(first, second, "r")


def _inverse(names: list[str], random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    first = _functional(names, "a", random)
    return first, [(tail, "r", head) for head, _, tail in first]


def _symmetry(names: list[str], random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    first = _functional(names, "r", random)
    return first, [(tail, "r", head) for head, _, tail in first]


def _asymmetry(names: list[str], random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    """A relation and its superior, both of which only ever lead onwards."""
    first = _ordered(names, "a", random)
    return first, [(head, "r", tail) for head, _, tail in first]


def _sub_relation(names: list[str], random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    first = _functional(names, "a", random)
    return first, [(head, "r", tail) for head, _, tail in first]


def _attribute(names: list[str], random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    kinds = random.integers(5, size=len(names))
    given = [(name, "likes", f"thing {kind}") for name, kind in zip(names, kinds, strict=True)]
    return given, [(name, "is_a", f"class {kind}") for name, kind in zip(names, kinds, strict=True)]


def _chain(names: list[str], random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    first, second, third = (_functional(names, relation, random) for relation in "abc")
    return first + second + third, _composed(_composed(first, second, "ab"), third, "r")


KINDS = {
    "composition": _composition,
    "inverse": _inverse,
    "symmetry": _symmetry,
    "asymmetry": _asymmetry,
    "sub-relation": _sub_relation,
    "attribute": _attribute,
    "chain": _chain,
}
