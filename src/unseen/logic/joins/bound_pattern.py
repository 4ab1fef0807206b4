"""A pattern with a graph's names found: what is asked of the graph, and of a method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.logic.algebra import Anchor, And, Anything, Project, Query, bind, conjunction
from unseen.logic.formula import Atom, constants_of, links_of
from unseen.logic.joins.cutting import planned
from unseen.logic.joins.known_tuples import KnownTuples
from unseen.logic.resolving import resolved

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.logic.joins.best_tuples import PatternNames
    from unseen.logic.joins.bindings import Bindings
    from unseen.logic.joins.cutting import SearchPlan
    from unseen.logic.pattern import Pattern


@dataclass(frozen=True)
class BoundPattern:
    """A pattern, how it is taken apart, and how its names are found."""

    pattern: Pattern
    plan: SearchPlan
    names: PatternNames

    @classmethod
    def of(cls, pattern: Pattern, names: PatternNames) -> BoundPattern:
        """The pattern with the names of a graph; one that the graph does not have is an error."""
        for constant in constants_of(pattern.formula):
            names.entity_id(constant.name)
        return cls(pattern, planned(pattern), names)

    def known(self, graph: KnowledgeGraph) -> Bindings:
        """The tuples for which the graph satisfies the pattern."""
        known = KnownTuples(graph, self.names.entity_id, self.names.relation_id)
        return known.tuples(self.pattern.formula, self.pattern.answers)

    def named(self, graph: KnowledgeGraph) -> Query:
        """The relations that lead to anything, and the entities that the pattern names, as one query with ids."""
        anchors: list[Query] = [
            Anchor(self.names.entity_id(constant.name))
            for constant in constants_of(self.pattern.formula, positive=True)
        ]
        return And((self.relations(graph), *anchors))

    def relations(self, graph: KnowledgeGraph) -> Query:
        """All relations that predicted answers need, each from anything, as one query with ids."""
        needed = [atom for atom in links_of(self.pattern.formula, positive=True) if isinstance(atom, Atom)]
        steps: list[Query] = [Project(atom.relation, Anything()) for atom in needed]
        if not steps:
            return resolved(Anything(), graph, None)
        bound = bind(conjunction(steps), self.names.entity_id, self.names.relation_id)
        return (
            And(tuple(resolved(step, graph, None) for step in bound.children))
            if len(steps) > 1
            else resolved(bound, graph, None)
        )
