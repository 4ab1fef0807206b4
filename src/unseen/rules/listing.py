"""The rules of a graph with names, each with an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.vocabulary import inverse_relation
from unseen.rules.adjacency import adjacency_of
from unseen.rules.groundings import example
from unseen.rules.naming import VARIABLES, Edge, Naming, Rule, numbers_of, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph import KnowledgeGraph
    from unseen.rules.rule_set import ConstantRules, PathRules, Rules


class ListedRules(list[Rule]):
    """Rules with names, the most confident first; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        from unseen.rules.rules_display import listed_html

        return listed_html(self)


def listed(rules: Rules, graph: KnowledgeGraph, relation: int | None = None, top: int | None = None) -> ListedRules:
    """The most confident rules of a graph, or of one of its relations; heads are read forwards.

    A rule over a path says the same of a relation and of its inverse and is listed once.
    """
    candidates = [*_chosen(rules.paths, relation, True, top), *_chosen(rules.constants, relation, False, top)]
    candidates.sort(key=lambda found: (-found[0], -found[1]))
    named = Listing(rules, graph)
    return ListedRules(named.rule(place, is_path) for _, _, place, is_path in candidates[:top])


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


class Listing:
    """The rules of one graph, with examples."""

    def __init__(self, rules: Rules, graph: KnowledgeGraph) -> None:
        self.rules, self.adjacency, self.naming = rules, adjacency_of(graph), Naming(graph.vocabulary)

    def rule(self, place: int, is_path: bool) -> Rule:
        """One rule with an example."""
        if not is_path:
            return self._constant_rule(place)
        paths = self.rules.paths
        found = example(self.adjacency, int(paths.heads[place]), steps_of(paths, place))
        return self.naming.path_rule(paths, place, found)

    def _constant_rule(self, place: int) -> Rule:
        found = self.rules.constants
        head, constant = int(found.heads[place]), int(found.constants[place])
        relation, value = int(found.relations[place]), int(found.values[place])
        name = self.naming.vocabulary.entity_name
        other = name(value) if value >= 0 else VARIABLES[1]
        body, shown = self.naming.edge("x", relation, other), self._constant_example(head, constant, relation, value)
        return Rule(self.naming.edge("x", head, name(constant)), (body,), *numbers_of(found, place), example=shown)

    def _constant_example(self, head: int, constant: int, relation: int, value: int) -> tuple[Edge, ...]:
        """The body of the first entity for which the head holds and the body too."""
        name = self.naming.vocabulary.entity_name
        for source in self._targets(constant, inverse_relation(head)):
            reached = self._targets(source, relation)
            if (value in reached) if value >= 0 else reached:
                return (self.naming.edge(name(source), relation, name(value if value >= 0 else reached[0])),)
        return ()

    def _targets(self, entity: int, relation: int) -> list[int]:
        from unseen.rules.lookups import row_of

        row = row_of(self.adjacency, entity, relation)
        edges = self.adjacency.row_edges
        return [] if row < 0 else self.adjacency.targets[edges[row] : edges[row + 1]].tolist()
