"""Small worlds in which a rule is known to hold: facts that are there, and facts that were hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.graph import KnowledgeGraph

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class RuleWorld:
    """A graph, and the facts of one relation that follow from it but are not in it."""

    graph: KnowledgeGraph
    hidden: list[Triple]


def rule_world(kind: str, *, entities: int = 200, noise: float = 0.0, seed: int = 0) -> RuleWorld:
    """A world of one kind; a share `noise` of the facts of its relations beside it is random."""
    random = np.random.default_rng(seed)
    names = [f"e{number}" for number in range(entities)]
    given, concluded = _KINDS[kind](names, random)
    known, hidden = _hidden(concluded, 0.1, random)
    wrong = [
        (names[random.integers(entities)], "other" if relation == "r" else relation, names[random.integers(entities)])
        for _, relation, _ in given
        if random.random() < noise
    ]
    graph = KnowledgeGraph.from_triples([*given, *known, *wrong])
    there = set(graph.triples())
    return RuleWorld(graph, [triple for triple in hidden if triple not in there])


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


_KINDS = {
    "composition": _composition,
    "inverse": _inverse,
    "symmetry": _symmetry,
    "sub-relation": _sub_relation,
    "attribute": _attribute,
    "chain": _chain,
}
