"""A pattern with a graph's names found: what is asked of the graph, and of a method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused, QuestionTooLarge
from unseen.graph.vocabulary import directed_relation
from unseen.logic.algebra import Anchor, And, Anything, Project, Query, bind, conjunction
from unseen.logic.formula import Atom, Conjunction, Formula, constants_of, free_variables, links_of
from unseen.logic.joins.bindings import Bindings
from unseen.logic.joins.cutting import planned
from unseen.logic.joins.known_tuples import KnownTuples
from unseen.logic.resolving import resolved
from unseen.logic.values.attribute_names import showing
from unseen.logic.values.gathering import gathered, is_about_values, value_variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.joins.best_tuples import PatternNames, Values
    from unseen.logic.joins.cutting import SearchPlan
    from unseen.logic.pattern import Pattern


def _plan(pattern: Pattern) -> tuple[SearchPlan | None, str]:
    """The plan for the entities of a pattern, and why there is none; values are looked up for them afterwards."""
    formula, answers = pattern.formula, pattern.answers
    if is_about_values(formula):
        values = value_variables(formula)
        formula, answers = gathered(formula, values), tuple(answer for answer in answers if answer not in values)
    if not answers:
        return None, ""
    try:
        return planned(replace(pattern, formula=formula, answers=answers)), ""
    except QuestionTooLarge:
        raise
    except QueryRefused as refusal:  # alternatives that are about different variables, say
        return None, refusal.reason


@dataclass(frozen=True)
class BoundPattern:
    """A pattern, how it is taken apart, and how its names are found."""

    pattern: Pattern
    plan: SearchPlan | None
    """How predicted tuples are searched for; None if they cannot be."""
    names: PatternNames
    unplanned: str = ""
    """Why predicted tuples cannot be searched for."""

    @classmethod
    def of(cls, pattern: Pattern, names: PatternNames) -> BoundPattern:
        """The pattern with the names of a graph; one that the graph does not have is an error."""
        for constant in constants_of(pattern.formula):
            names.entity_id(constant.name)
        plan, unplanned = _plan(pattern)
        return cls(pattern, plan, names, unplanned)

    def known(self, graph: KnowledgeGraph) -> tuple[Bindings, bool]:
        """The tuples for which the graph satisfies the pattern, and whether these are all of them."""
        known = KnownTuples(graph, self.names.entity_id, self.names.relation_id)
        with showing(self.pattern.text):
            return known.tuples(self.pattern.formula, self.pattern.answers), not known.is_cut

    def value_part(self) -> Formula:
        """What the pattern says about values."""
        values = value_variables(self.pattern.formula)
        parts = [part for part in self.pattern.parts if free_variables(part) & values]
        return Conjunction(tuple(parts), self.pattern.formula.place)

    def witnesses(self, graph: KnowledgeGraph, tuples: Sequence[Values]) -> dict[Values, Values]:
        """By known tuple of the plan's answers the values of all its assigned variables, the first that there are."""
        if not tuples or self.plan is None:
            return {}
        answers, assigned = self.plan.answers, [step.variable for step in self.plan.steps]
        columns = np.array(tuples, np.int32).T
        table = Bindings(dict(zip(answers, columns, strict=True)), len(tuples))
        known = KnownTuples(graph, self.names.entity_id, self.names.relation_id)
        found = known.extended(self.pattern.formula, table, assigned)
        rows = [zip(*(found.columns[v].tolist() for v in some), strict=True) for some in (answers, assigned)]
        first: dict[Values, Values] = {}
        for one, values in zip(*rows, strict=True):
            first.setdefault(one, values)
        return first

    def named(self, graph: KnowledgeGraph) -> Query:
        """The relations that lead to anything, and the entities that the pattern names, as one query with ids.

        Kinds do not count as named.
        """
        formula = self.pattern.formula
        kinds = {link.object for link in links_of(formula) if isinstance(link, Atom) and self._tells_kind(link)}
        anchors: list[Query] = [
            Anchor(self.names.entity_id(constant.name))
            for constant in constants_of(formula, positive=True)
            if constant not in kinds
        ]
        return And((self.relations(graph), *anchors))

    def _tells_kind(self, link: Atom) -> bool:
        types = self.names.type_relation
        return types is not None and self.names.relation_id(link.relation, False) == directed_relation(types)

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
