"""The tuples for which the graph itself satisfies a formula: exact, even with cycles.

Parts that test what is bound come first, then the part that leads to the fewest rows. Before that, the values that each
variable can have are narrowed by all edges of the question together, which keeps tables of cyclic questions small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.formula import (
    Atom,
    Conjunction,
    Disjunction,
    Equal,
    Exists,
    Formula,
    HasValue,
    Negation,
    Recorded,
    Test,
    Variable,
    free_variables,
)
from unseen.logic.joins.bindings import Bindings, followed, linked, union_of
from unseen.logic.joins.known_values import KnownValues
from unseen.logic.pattern import always_bound
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.formula import Term

    Ids = NDArray[np.int32]
    Domains = dict[Variable, NDArray[np.bool_]]

ROUNDS = 4
"""How often all edges narrow what variables can be."""


class KnownTuples:
    """Formulas with names on one graph; `entity_id` and `relation_id` find names."""

    def __init__(
        self, graph: KnowledgeGraph, entity_id: Callable[[str], int], relation_id: Callable[[str, bool], int]
    ) -> None:
        self.graph, self._entity_id, self._relation_id = graph, entity_id, relation_id
        self._values_of = KnownValues(graph, entity_id)

    def extended(self, formula: Formula, table: Bindings, answers: Sequence[Variable]) -> Bindings:
        """The rows of a table with the values of more variables for which a formula holds."""
        return self._evaluated(formula, table, frozenset(answers))

    def tuples(self, formula: Formula, answers: Sequence[Variable]) -> Bindings:
        """The values of the answers for which a formula holds, each tuple once, in order of ids."""
        return self._evaluated(formula, Bindings.always(), frozenset(answers)).projected(answers)

    def _evaluated(self, formula: Formula, table: Bindings, needed: frozenset[Variable]) -> Bindings:
        """The rows of a table that a formula extends or keeps, with the columns that are needed."""
        parts = _opened(formula)
        domains = self._domains(parts) if table.rows else {}
        kept = needed | frozenset(table.columns)
        while parts and table.rows:
            check_stop()
            part = min(parts, key=lambda one: self._growth(one, table))
            parts.remove(part)
            later = kept.union(*(free_variables(one) for one in parts))
            table = self._joined(part, table, later, domains)
            table = (
                table if later >= table.columns.keys() else table.projected([v for v in table.columns if v in later])
            )
        return table if table.rows else Bindings.never(kept & free_variables(formula) | frozenset(table.columns))

    def _joined(  # noqa: PLR0911 - a table
        self, part: Formula, table: Bindings, needed: frozenset[Variable], domains: Domains
    ) -> Bindings:
        match part:
            case Atom():
                return self._atom(part, table, domains)
            case Equal():
                return self._equal(part, table)
            case Negation():
                return self._excluded(part, table)
            case HasValue():
                return self._values_of.joined(part, table)
            case Test():
                return self._values_of.tested(part, table)
            case Recorded():
                return self._evaluated(part.part, table, needed)
            case Disjunction():
                return self._either(part, table, needed)
        return self._evaluated(part, table, needed)

    def _equal(self, part: Equal, table: Bindings) -> Bindings:
        value = self._entity_id(part.constant.name)
        if part.variable in table.columns:
            return table.taken(table.columns[part.variable] == value)
        return table.with_column(part.variable, np.full(table.rows, value, np.int32))

    def _atom(self, atom: Atom, table: Bindings, domains: Domains) -> Bindings:
        directed = self._relation_id(atom.relation, False)
        start, end = self._values(atom.subject, table), self._values(atom.object, table)
        if start is not None and end is not None:
            return table.taken(linked(self.graph, directed, start, end))
        if start is None and end is None:
            return self._unbound(atom, directed, table, domains)
        if start is not None:
            known, new, way = start, _variable(atom.object), directed
        else:
            known, new, way = np.asarray(end), _variable(atom.subject), int(inverse_relation(directed))
        return _within(followed(self.graph, table, way, known, new), new, domains)

    def _unbound(self, atom: Atom, directed: int, table: Bindings, domains: Domains) -> Bindings:
        """All edges of a relation, beside each row."""
        sources, targets = self.graph.edges_from(directed)
        subject, target = _variable(atom.subject), _variable(atom.object)
        if subject == target:
            loops = np.unique(sources[sources == targets])
            return table.joined(Bindings({subject: loops}, len(loops)))
        edges = Bindings({subject: sources, target: targets}, len(sources))
        return table.joined(_within(_within(edges, subject, domains), target, domains))

    def _values(self, term: Term, table: Bindings) -> Ids | None:
        if isinstance(term, Variable):
            return table.columns.get(term)
        return np.full(table.rows, self._entity_id(term.name), np.int32)

    def _excluded(self, part: Negation, table: Bindings) -> Bindings:
        shared = [variable for variable in table.columns if variable in free_variables(part.part)]
        if missing := free_variables(part.part) - frozenset(shared):
            names = ", ".join(sorted(f"?{variable.name}" for variable in missing))
            raise QueryRefused(f"negation must be bound: say what {names} is", place=part.place.shown)
        found = self._evaluated(part.part, table.projected(shared), frozenset(shared))
        return table.without(found.projected(shared))

    def _either(self, part: Disjunction, table: Bindings, needed: frozenset[Variable]) -> Bindings:
        wanted = sorted(needed & (free_variables(part) | frozenset(table.columns)), key=lambda v: (v.name, v.scope))
        tables = [self._evaluated(one, table, needed) for one in part.parts]
        return union_of([one.projected(wanted) for one in tables], wanted)

    def _growth(self, part: Formula, table: Bindings) -> tuple[int, float]:  # noqa: PLR0911 - a table
        """How soon a part is taken: tests first, then what makes few rows, and what excludes when all is bound."""
        unbound = free_variables(part) - table.columns.keys()
        if isinstance(part, Test):
            return (0, 0.5) if not unbound else (6, 0.0)
        if not unbound:
            return 0, float(not isinstance(part, Atom | Equal | HasValue))
        if isinstance(part, HasValue):
            return self._growth_by_values(part, table, len(unbound))
        if isinstance(part, Negation):
            return 4, 0.0
        if isinstance(part, Equal):
            return 0, 0.0
        if not isinstance(part, Atom):
            return (3 if unbound <= always_bound(part) else 5), 0.0
        directed = self._relation_id(part.relation, False)
        edges = len(self.graph.edges_from(directed)[0])
        if len(unbound) == 2 or (part.subject == part.object):
            return (2 if table.columns else 1), float(edges)
        way = directed if part.object in unbound else int(inverse_relation(directed))
        return 1, table.rows * edges / max(1, len(self.graph.range_of(int(inverse_relation(way)))[0]))

    def _growth_by_values(self, part: HasValue, table: Bindings, unbound: int) -> tuple[int, float]:
        rows = float(self._values_of.rows_of(part))
        if isinstance(part.subject, Variable) and part.subject in table.columns:
            return 1, float(table.rows)
        return (2 if table.columns and unbound == 2 else 1), rows

    def _domains(self, parts: Sequence[Formula]) -> Domains:
        """What each variable can be by the edges of the question, narrowed round by round."""
        atoms = [part for part in parts if isinstance(part, Atom)]
        domains: Domains = {}
        for _ in range(ROUNDS if len(atoms) > 1 else 0):
            before = {variable: int(mask.sum()) for variable, mask in domains.items()}
            for atom in atoms:
                self._narrow(atom, domains)
            if before == {variable: int(mask.sum()) for variable, mask in domains.items()}:
                break
        return domains

    def _narrow(self, atom: Atom, domains: Domains) -> None:
        sources, targets = self.graph.edges_from(self._relation_id(atom.relation, False))
        kept = self._allowed(atom.subject, sources, domains) & self._allowed(atom.object, targets, domains)
        for term, ends in ((atom.subject, sources), (atom.object, targets)):
            if isinstance(term, Variable):
                mask = np.zeros(self.graph.num_entities, bool)
                mask[ends[kept]] = True
                domains[term] = mask

    def _allowed(self, term: Term, ends: Ids, domains: Domains) -> NDArray[np.bool_]:
        if not isinstance(term, Variable):
            is_named: NDArray[np.bool_] = ends == self._entity_id(term.name)
            return is_named
        return domains[term][ends] if term in domains else np.ones(len(ends), bool)


def _variable(term: Term) -> Variable:
    if not isinstance(term, Variable):
        raise TypeError(f"not a variable: {term!r}")
    return term


def _within(table: Bindings, variable: Variable, domains: Domains) -> Bindings:
    mask = domains.get(variable)
    return table if mask is None else table.taken(mask[table.columns[variable]])


def _opened(formula: Formula) -> list[Formula]:
    """The parts of nested conjunctions; a quantifier stays closed, because its variables are its own."""
    if isinstance(formula, Conjunction):
        return [inner for part in formula.parts for inner in _opened(part)]
    return _opened(formula.part) if isinstance(formula, Exists) else [formula]
