"""Rules with names: readable, as data, and with an example from the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.graph.vocabulary import inverse_relation, is_inverse
from unseen.rules.adjacency import adjacency_of
from unseen.rules.groundings import example, grounded
from unseen.rules.rule_set import SMOOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.rules.rule_set import ConstantRules, PathRules, Rules

VARIABLES = ("x", "y", "w", "z")
"""What the entities of a path are called; the last is always z."""
Edge = tuple[str, str, str]


@dataclass(frozen=True)
class Rule:
    """One rule with names; an atom is (head, relation, tail), read forwards."""

    head: Edge
    body: tuple[Edge, ...]
    support: float
    pairs: float
    confidence: float
    example: tuple[Edge, ...] = ()
    """The body in this graph, once; the head holds there too."""

    def __str__(self) -> str:
        return f"{atom(self.head)} <- {', '.join(atom(part) for part in self.body)}"

    def as_json(self) -> dict[str, Any]:
        """The rule as plain data."""
        return {
            "rule": str(self),
            "head": list(self.head),
            "body": [list(part) for part in self.body],
            "support": round(self.support, 1),
            "pairs": round(self.pairs, 1),
            "confidence": round(self.confidence, 4),
            "example": [list(part) for part in self.example],
        }


def atom(edge: Edge) -> str:
    """An edge as it is written in questions."""
    return f"{edge[1]}({edge[0]}, {edge[2]})"


def listed(rules: Rules, graph: KnowledgeGraph, relation: int | None = None, top: int | None = None) -> list[Rule]:
    """The most confident rules of a graph, or of one of its relations; heads are read forwards.

    A rule over a path says the same of a relation and of its inverse and is listed once.
    """
    candidates = [*_chosen(rules.paths, relation, True, top), *_chosen(rules.constants, relation, False, top)]
    candidates.sort(key=lambda found: (-found[0], -found[1]))
    named = _Naming(rules, graph)
    return [named.rule(place, is_path) for _, _, place, is_path in candidates[:top]]


def reasons(rules: Rules, graph: KnowledgeGraph, source: int, relation: int, target: int, top: int = 3) -> list[Rule]:
    """The most confident rules over paths that lead from source to target, each with the edges that ground it."""
    adjacency, named = adjacency_of(graph), _Naming(rules, graph)
    low, high = np.searchsorted(rules.paths.heads, [relation, relation + 1])
    found: list[Rule] = []
    for place in range(low, high):
        path = grounded(adjacency, _steps(rules.paths, place), source, target)
        if path:
            found.append(named.path_rule(place, path))
        if len(found) == top:
            break
    return found


def _chosen(
    part: PathRules | ConstantRules, relation: int | None, is_path: bool, top: int | None
) -> Iterator[tuple[float, float, int, bool]]:
    """Confidence, support and place of the rules with the wanted head; of both readings of a path the forward one."""
    wanted = np.ones(len(part.heads), bool) if relation is None else part.heads >> 1 == relation
    if is_path:
        wanted &= part.heads % 2 == 0
    places, confidence = np.flatnonzero(wanted), part.confidence
    for place in places[np.lexsort((-part.support[places], -confidence[places]))[:top]]:
        yield float(confidence[place]), float(part.support[place]), int(place), is_path


def _numbers(part: PathRules | ConstantRules, place: int) -> tuple[float, float, float]:
    """Support, pairs and confidence of one rule."""
    support, pairs = float(part.support[place]), float(part.pairs[place])
    return support, pairs, support / (pairs + SMOOTHING)


def _steps(paths: PathRules, place: int) -> list[int]:
    return [step for step in paths.steps[place].tolist() if step >= 0]


class _Naming:
    """Names for the rules of one graph."""

    def __init__(self, rules: Rules, graph: KnowledgeGraph) -> None:
        self.rules, self.adjacency, self.vocabulary = rules, adjacency_of(graph), graph.vocabulary

    def rule(self, place: int, is_path: bool) -> Rule:
        """One rule with an example."""
        if not is_path:
            return self._constant_rule(place)
        head = int(self.rules.paths.heads[place])
        return self.path_rule(place, example(self.adjacency, head, _steps(self.rules.paths, place)))

    def path_rule(self, place: int, path: Sequence[int]) -> Rule:
        """A rule over a path, grounded by the entities of one."""
        paths, steps = self.rules.paths, _steps(self.rules.paths, place)
        variables = [*VARIABLES[: len(steps)], VARIABLES[-1]]
        names = [self.vocabulary.entity_name(entity) for entity in path]
        head = self._edge(variables[0], int(paths.heads[place]), variables[-1])
        shown = self._walk(names, steps) if names else ()
        return Rule(head, self._walk(variables, steps), *_numbers(paths, place), example=shown)

    def _constant_rule(self, place: int) -> Rule:
        found = self.rules.constants
        head, constant = int(found.heads[place]), int(found.constants[place])
        relation, value = int(found.relations[place]), int(found.values[place])
        name = self.vocabulary.entity_name
        other = name(value) if value >= 0 else VARIABLES[1]
        body, shown = self._edge("x", relation, other), self._constant_example(head, constant, relation, value)
        return Rule(self._edge("x", head, name(constant)), (body,), *_numbers(found, place), example=shown)

    def _constant_example(self, head: int, constant: int, relation: int, value: int) -> tuple[Edge, ...]:
        """The body of the first entity for which the head holds and the body too."""
        name = self.vocabulary.entity_name
        for source in self._targets(constant, inverse_relation(head)):
            reached = self._targets(source, relation)
            if (value in reached) if value >= 0 else reached:
                return (self._edge(name(source), relation, name(value if value >= 0 else reached[0])),)
        return ()

    def _targets(self, entity: int, relation: int) -> list[int]:
        from unseen.rules.lookups import row_of

        row = row_of(self.adjacency, entity, relation)
        edges = self.adjacency.row_edges
        return [] if row < 0 else self.adjacency.targets[edges[row] : edges[row + 1]].tolist()

    def _walk(self, names: Sequence[str], steps: Sequence[int]) -> tuple[Edge, ...]:
        return tuple(self._edge(names[i], step, names[i + 1]) for i, step in enumerate(steps))

    def _edge(self, source: str, relation: int, target: str) -> Edge:
        """An edge read forwards."""
        name = self.vocabulary.relation_name(relation)[0]
        return (target, name, source) if is_inverse(relation) else (source, name, target)
