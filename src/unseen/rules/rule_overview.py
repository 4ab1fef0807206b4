"""The rules of a graph as a person reads them: by the relation that they conclude, without variants of better ones.

A rule is a variant if its body has the relations of the body of a rule that concludes the same and is as sure, and
perhaps more of them. Each further edge of a body has to pay for itself. A symmetric relation is the same in both
directions. Of rules that only differ in constants at both ends, the best one stands for all.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.rules.link_rules import FURTHER_EDGE
from unseen.rules.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph import KnowledgeGraph
    from unseen.rules.naming import Rule
    from unseen.rules.rule_set import Rules

SYMMETRIC = 0.5
"""Confidence of r(x, z) <- r(z, x) from which a relation counts as symmetric."""
LIKELY = 0.5
"""Confidence from which rules to several constants by any edge of one kind each say something."""
LOOKED_AT = 5000
"""Rules that are looked at, the best ones, and as many more as are wanted."""
NO_CONSTANT = -1


class RuleOverview(NamedTuple):
    """The best rules by the relation that they conclude, and how many variants as sure as these were left out."""

    groups: dict[str, list[Rule]]
    variants: int

    def __len__(self) -> int:
        return sum(map(len, self.groups.values()))


class _Candidate(NamedTuple):
    confidence: float
    support: float
    place: int
    is_path: bool


def rule_overview(rules: Rules, graph: KnowledgeGraph, relation: int | None, top: int) -> RuleOverview:
    """The most confident rules of a graph, or of one of its relations, of which no two say the same."""
    finder, chosen, variants = _Variants(rules), list[_Candidate](), list[_Candidate]()
    for one in islice(_by_worth(rules, relation), LOOKED_AT + top):
        (chosen if finder.is_new(one) else variants).append(one)
    chosen.sort(key=lambda one: (-one.confidence, -one.support))
    del chosen[top:]
    least = min((one.confidence for one in chosen), default=0.0)
    groups: dict[str, list[Rule]] = {}
    named = Listing(rules, graph)
    for one in chosen:
        rule = named.rule(one.place, one.is_path)
        groups.setdefault(rule.head[1], []).append(rule)
    return RuleOverview(groups, sum(one.confidence >= least for one in variants))


def _by_worth(rules: Rules, relation: int | None) -> Iterator[_Candidate]:
    """Rules of a relation, by confidence for their length; a path is read forwards."""
    paths, constants = rules.paths, rules.constants
    lengths = (paths.steps >= 0).sum(axis=1)
    worth = np.concatenate([paths.confidence * FURTHER_EDGE ** (lengths - 1), constants.confidence])
    support = np.concatenate([paths.support, constants.support])
    confidence = np.concatenate([paths.confidence, constants.confidence])
    heads = np.concatenate([paths.heads, constants.heads])
    wanted = np.concatenate([paths.heads % 2 == 0, np.ones(len(constants.heads), bool)])
    if relation is not None:
        wanted &= heads >> 1 == relation
    places, count = np.flatnonzero(wanted), len(paths.heads)
    for place in places[np.lexsort((-support[places], -worth[places]))].tolist():
        is_path = place < count
        yield _Candidate(float(confidence[place]), float(support[place]), place if is_path else place - count, is_path)


class _Variants:
    """What the rules so far say, and whether another one says more."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._symmetric, self._confidence = rules, _symmetric(rules), rules.constants.confidence
        self._bodies: dict[int, list[Counter[int]]] = {}
        self._shapes: set[tuple[int, int, int]] = set()

    def is_new(self, one: _Candidate) -> bool:
        """Whether a rule says something that no rule before it does."""
        return self._is_new_path(one.place) if one.is_path else self._is_new_constant(one.place)

    def _is_new_path(self, place: int) -> bool:
        paths = self._rules.paths
        body = Counter(self._undirected(step) for step in paths.steps[place].tolist() if step >= 0)
        before = self._bodies.setdefault(int(paths.heads[place]), [])
        if any(other <= body for other in before):
            return False
        before.append(body)
        return True

    def _is_new_constant(self, place: int) -> bool:
        found = self._rules.constants
        head, body = self._undirected(int(found.heads[place])), self._undirected(int(found.relations[place]))
        is_likely = self._confidence[place] >= LIKELY
        of_any = head, body, int(found.constants[place]) if is_likely else NO_CONSTANT
        shape = (head, body, NO_CONSTANT) if found.values[place] >= 0 else of_any
        if of_any in self._shapes or shape in self._shapes:
            return False
        self._shapes.add(shape)
        return True

    def _undirected(self, relation: int) -> int:
        return relation & ~1 if relation >> 1 in self._symmetric else relation


def _symmetric(rules: Rules) -> set[int]:
    """Relations that mostly hold in both directions."""
    paths = rules.paths
    is_back = (paths.steps[:, 0] == (paths.heads ^ 1)) & (paths.steps[:, 1] < 0)
    return set((paths.heads[is_back & (paths.confidence >= SYMMETRIC)] >> 1).tolist())
