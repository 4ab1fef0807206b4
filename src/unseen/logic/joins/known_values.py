"""Recorded values in tables of bindings: they have numbers behind those of all entities, and are joined like edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.formula import Variable, free_variables
from unseen.logic.joins.bindings import Bindings, followed_in, linked_in
from unseen.logic.values.attribute_names import attribute_id
from unseen.logic.values.testing import RowTests

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.formula import HasValue, Term, Test

    Ids = NDArray[np.int32]


class KnownValues:
    """Joins of recorded values and tests on one graph; `entity_id` finds names."""

    def __init__(self, graph: KnowledgeGraph, entity_id: Callable[[str], int]) -> None:
        self.graph, self.entity_id = graph, entity_id
        self.tests = RowTests(graph, entity_id)

    def joined(self, part: HasValue, table: Bindings) -> Bindings:
        """The rows of a table with the values that an attribute has for them."""
        entities, nodes = self.pairs(part)
        starts, ends = self._of(part.subject, table), self._of_value(part, table)
        if starts is not None and ends is not None:
            return table.taken(linked_in(entities, nodes, starts, ends))
        if starts is not None:
            return followed_in(entities, nodes, table, starts, _variable(part.value))
        if ends is not None:
            order = np.lexsort((entities, nodes))
            return followed_in(nodes[order], entities[order], table, ends, _variable(part.subject))
        rows = Bindings({_variable(part.subject): entities, _variable(part.value): nodes}, len(entities))
        return table.joined(rows)

    def pairs(self, part: HasValue) -> tuple[Ids, Ids]:
        """Entities and nodes of the values of an attribute, in order."""
        attribute = attribute_id(self.graph, part.attribute, part.place)
        entities, values = self.graph.attributes.of_attribute(attribute)
        return entities, (values + np.int32(self.graph.num_entities)).astype(np.int32)

    def tested(self, part: Test, table: Bindings) -> Bindings:
        """The rows of a table that pass a test; a variable without a value may be any entity."""
        table = self.with_any(sorted(free_variables(part), key=lambda one: (one.name, one.scope)), table)
        return table.taken(self.tests.passing(part.expression, table.columns, table.rows))

    def with_any(self, variables: Sequence[Variable], table: Bindings) -> Bindings:
        """The rows of a table with every entity as the value of each variable that has none."""
        for variable in (one for one in variables if one not in table.columns):
            table = table.joined(Bindings({variable: self.graph.candidates}, len(self.graph.candidates)))
        return table

    def rows_of(self, part: HasValue) -> int:
        """How many values an attribute has."""
        return len(self.pairs(part)[0])

    def _of(self, term: Term, table: Bindings) -> Ids | None:
        if isinstance(term, Variable):
            return table.columns.get(term)
        return np.full(table.rows, self.entity_id(term.name), np.int32)

    def _of_value(self, part: HasValue, table: Bindings) -> Ids | None:
        if isinstance(part.value, Variable):
            return table.columns.get(part.value)
        found = self.graph.attributes.literals.find(part.value.text, part.value.tag)
        return np.full(table.rows, self.graph.num_entities + found if found >= 0 else -1, np.int32)


def _variable(term: object) -> Variable:
    if not isinstance(term, Variable):
        raise TypeError(f"not a variable: {term!r}")
    return term
