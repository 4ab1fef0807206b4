"""Rules and edges by the names that a graph gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.graph.vocabulary import is_inverse
from unseen.rules.rule_set import SMOOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.graph.vocabulary import Vocabulary
    from unseen.rules.rule_set import ConstantRules, PathRules

VARIABLES = ("x", "y", "w", "z")
"""What the entities of a path are called; the last is always z."""
ANYTHING = "_"
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
    """The body in this graph, once."""

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


class Naming:
    """Names for rules of one graph."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def path_rule(self, paths: PathRules, place: int, path: Sequence[int]) -> Rule:
        """A rule over a path, grounded by the entities of one."""
        steps = steps_of(paths, place)
        variables = [*VARIABLES[: len(steps)], VARIABLES[-1]]
        names = [self.vocabulary.entity_name(entity) for entity in path]
        head = self.edge(variables[0], int(paths.heads[place]), variables[-1])
        shown = self._walk(names, steps) if names else ()
        return Rule(head, self._walk(variables, steps), *numbers_of(paths, place), example=shown)

    def edge(self, source: str, relation: int, target: str) -> Edge:
        """An edge read forwards."""
        name = self.vocabulary.relation_name(relation)[0]
        return (target, name, source) if is_inverse(relation) else (source, name, target)

    def _walk(self, names: Sequence[str], steps: Sequence[int]) -> tuple[Edge, ...]:
        return tuple(self.edge(names[i], step, names[i + 1]) for i, step in enumerate(steps))


def numbers_of(part: PathRules | ConstantRules, place: int) -> tuple[float, float, float]:
    """Support, pairs and confidence of one rule."""
    support, pairs = float(part.support[place]), float(part.pairs[place])
    return support, pairs, support / (pairs + SMOOTHING)


def steps_of(paths: PathRules, place: int) -> list[int]:
    """The directed relations of one body."""
    return [step for step in paths.steps[place].tolist() if step >= 0]
