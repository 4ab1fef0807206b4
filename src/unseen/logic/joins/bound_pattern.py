"""A pattern with a graph's names found: what is asked of the graph, and of a method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, And, Anything, Project, Query, bind, conjunction
from unseen.logic.formula import Atom, Conjunction, Formula, constants_of, free_variables, links_of
from unseen.logic.joins.cutting import planned
from unseen.logic.joins.known_tuples import KnownTuples
from unseen.logic.resolving import resolved
from unseen.logic.values.attribute_names import showing
from unseen.logic.values.gathering import gathered, is_about_values, value_variables

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.logic.joins.best_tuples import PatternNames
    from unseen.logic.joins.bindings import Bindings
    from unseen.logic.joins.cutting import SearchPlan
    from unseen.logic.pattern import Pattern


def _plan(pattern: Pattern) -> SearchPlan | None:
    """The plan for the entities of a pattern; values are looked up for them afterwards."""
    if not is_about_values(pattern.formula):
        return planned(pattern)
    values = value_variables(pattern.formula)
    answers = tuple(answer for answer in pattern.answers if answer not in values)
    if not answers:
        return None
    try:
        return planned(replace(pattern, formula=gathered(pattern.formula, values), answers=answers))
    except QueryRefused:  # values that only some alternatives bind, say
        return None


@dataclass(frozen=True)
class BoundPattern:
    """A pattern, how it is taken apart, and how its names are found."""

    pattern: Pattern
    plan: SearchPlan | None
    """How predicted tuples are searched for; None if they cannot be."""
    names: PatternNames

    @classmethod
    def of(cls, pattern: Pattern, names: PatternNames) -> BoundPattern:
        """The pattern with the names of a graph; one that the graph does not have is an error."""
        for constant in constants_of(pattern.formula):
            names.entity_id(constant.name)
        return cls(pattern, _plan(pattern), names)

    def known(self, graph: KnowledgeGraph) -> Bindings:
        """The tuples for which the graph satisfies the pattern."""
        known = KnownTuples(graph, self.names.entity_id, self.names.relation_id)
        with showing(self.pattern.text):
            return known.tuples(self.pattern.formula, self.pattern.answers)

    def value_part(self) -> Formula:
        """What the pattern says about values."""
        values = value_variables(self.pattern.formula)
        parts = [part for part in self.pattern.parts if free_variables(part) & values]
        return Conjunction(tuple(parts), self.pattern.formula.place)

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
