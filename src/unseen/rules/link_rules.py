"""The rules that conclude one link, with the edges that ground them.

Rules over paths lead from source to target. Rules with constants are read in both directions: what others with a
property of the source have in common, and what others with a property of the target do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from unseen.graph.vocabulary import inverse_relation
from unseen.logic.link import Link, Triple
from unseen.rules.adjacency import adjacency_of
from unseen.rules.groundings import all_grounded
from unseen.rules.naming import ANYTHING, Naming, Rule, steps_of
from unseen.rules.shared_properties import SharedProperty, shared_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.rules.rule_set import PathRules

GROUNDED = 24
"""Rules over paths that are looked at, the most confident first."""
FURTHER_EDGE = 0.9
"""What confidence counts for with each further edge: of two rules that are about as sure, the simpler one is better."""
LEAST_SHARE = 0.1
"""Rules with less than this share of the best one's confidence are left out."""


@dataclass(frozen=True)
class LinkRule:
    """A rule that concludes a link, and what it counts."""

    rule: Rule
    is_about_pairs: bool
    """Whether support and pairs count pairs of entities; else they count other entities x."""


class _Candidate(NamedTuple):
    confidence: float
    support: float
    edges: frozenset[Triple]
    others: frozenset[int]
    """Entities of the edges beside the ends of the link."""
    shape: tuple[int | str, ...]
    """What rules have in common that only differ in entities, or in the direction of relations of a path."""
    named: Callable[[], LinkRule]

    @property
    def worth(self) -> float:
        """What rules are put in order by."""
        return self.confidence * FURTHER_EDGE ** (len(self.edges) - 1)

    def resembles(self, other: _Candidate) -> bool:
        """Whether one says little that the other does not: of the same shape, or over the same entities or edges."""
        if self.shape == other.shape:
            return True
        if self.others and other.others:
            return self.others <= other.others or self.others >= other.others
        return bool(self.edges and other.edges) and (self.edges <= other.edges or self.edges >= other.edges)


def link_rules(graph: KnowledgeGraph, paths: PathRules, link: Link, top: int) -> list[LinkRule]:
    """The best rules for a link, by confidence and simplicity; of several that say much the same only the best.

    `paths` are those of the link's relation, the most confident first.
    """
    finder = _Finder(graph, link)
    candidates = sorted(finder.candidates(paths), key=lambda one: (-one.worth, -one.support))
    return [one.named() for one in _different(candidates, top)]


def best_confidence(graph: KnowledgeGraph, paths: PathRules, link: Link) -> float:
    """The confidence of the best rule for a link; 0 without any."""
    return max((one.confidence for one in _Finder(graph, link).candidates(paths)), default=0.0)


def _different(candidates: Sequence[_Candidate], top: int) -> list[_Candidate]:
    """The first candidates that do not resemble a better one."""
    chosen: list[_Candidate] = []
    for one in candidates:
        is_weak = bool(chosen) and one.confidence < LEAST_SHARE * chosen[0].confidence
        if len(chosen) == top or is_weak:
            break
        if not any(one.resembles(other) for other in chosen):
            chosen.append(one)
    return chosen


class _Finder:
    """Rules for one link of a graph."""

    def __init__(self, graph: KnowledgeGraph, link: Link) -> None:
        self.adjacency, self.naming, self.link = adjacency_of(graph), Naming(graph.vocabulary), link

    def candidates(self, paths: PathRules) -> Iterator[_Candidate]:
        """All rules that were found, in no order."""
        source, relation, target = self.link
        for place, path in all_grounded(self.adjacency, paths.steps, source, target, GROUNDED):
            yield self._over_path(paths, place, path)
        for entity, way, constant in (self.link, (target, inverse_relation(relation), source)):
            for found in shared_properties(self.adjacency, entity, way, constant):
                if (
                    found.example >= 0 or entity == source
                ):  # who asks takes for granted that the source has the relation
                    yield self._with_constant(entity, way, constant, found)

    def _over_path(self, paths: PathRules, place: int, path: tuple[int, ...]) -> _Candidate:
        steps = steps_of(paths, place)
        edges = frozenset(Link(path[i], step, path[i + 1]).triple for i, step in enumerate(steps))
        numbers = float(paths.confidence[place]), float(paths.support[place])
        rule = lambda: LinkRule(self.naming.path_rule(paths, place, path), True)  # noqa: E731
        shape: tuple[int | str, ...] = ("path", *(step >> 1 for step in steps))
        return _Candidate(*numbers, edges, frozenset(path[1:-1]), shape, rule)

    def _with_constant(self, entity: int, relation: int, constant: int, found: SharedProperty) -> _Candidate:
        is_grounded = found.example >= 0
        edges = frozenset([Link(entity, found.relation, found.example).triple] if is_grounded else [])
        others = frozenset([found.example] if is_grounded else [])
        rule = lambda: LinkRule(self._constant_rule(entity, relation, constant, found), False)  # noqa: E731
        shape = "source" if entity == self.link.source else "target", found.relation, found.value >= 0
        return _Candidate(found.confidence, found.support, edges, others, shape, rule)

    def _constant_rule(self, entity: int, relation: int, constant: int, found: SharedProperty) -> Rule:
        edge, name = self.naming.edge, self.naming.vocabulary.entity_name
        head, numbers = edge("x", relation, name(constant)), (found.support, found.pairs, found.confidence)
        body = edge("x", found.relation, name(found.value) if found.value >= 0 else ANYTHING)
        shown = (edge(name(entity), found.relation, name(found.example)),) if found.example >= 0 else ()
        return Rule(head, (body,), *numbers, shown)
