"""The tuples for which the graph itself satisfies a formula: exact, even with cycles.

Parts that test what is bound come first, then the part that leads to the fewest rows. Before that, the values that each
variable can have are narrowed by all edges of the question together, which keeps tables of cyclic questions small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused
from unseen.graph.distinct import distinct
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
from unseen.logic.joins.bindings import Bindings, followed, linked, too_many, union_of
from unseen.logic.joins.known_values import KnownValues
from unseen.logic.joins.repetition import repeated_steps
from unseen.logic.joins.separating import group_apart, separated_by
from unseen.logic.pattern import always_bound
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.formula import Term

    Ids = NDArray[np.int32]
    Domains = dict[Variable, NDArray[np.bool_]]

ROUNDS = 12
"""How often all edges narrow what variables can be."""
ENDS = START, END = Variable("\0start"), Variable("\0end")
"""Columns of the two ends of a repeated relation."""
TOGETHER, VALUES_TOGETHER = 500_000, 1_000_000
"""Matches of a link that are looked at together, and values in all of their columns: each link may hold so many."""
FEW_ROWS = 20_000
"""Rows for which it is counted, not estimated, what a link makes of them."""
MOST_TUPLES, MOST_VALUES = 3_000_000, 6_000_000
"""Tuples, and values in all of them, from which on no more are looked for."""


@dataclass(frozen=True)
class _Steps:
    """Parts that are still to be joined, and the columns that are kept."""

    parts: Sequence[Formula]
    kept: frozenset[Variable]
    domains: Domains
    can_be_cut: bool = False
    """Whether some of the rows will do."""


class KnownTuples:
    """Formulas with names on one graph; `entity_id` and `relation_id` find names."""

    def __init__(
        self, graph: KnowledgeGraph, entity_id: Callable[[str], int], relation_id: Callable[[str, bool], int]
    ) -> None:
        self.graph, self._entity_id, self._relation_id = graph, entity_id, relation_id
        self._values_of = KnownValues(graph, entity_id)
        self.is_cut = False
        """Whether there are more tuples than were found."""

    def tuples(self, formula: Formula, answers: Sequence[Variable]) -> Bindings:
        """The values of the answers for which a formula holds, each tuple once, in order of ids.

        Where there are very many, some of them, and `is_cut` says so.
        """
        self.is_cut = False
        parts = self._without_apart(_opened(formula), frozenset(answers))
        if parts is None:
            return Bindings.never(answers)
        steps = _Steps(parts, frozenset(answers), {}, can_be_cut=True)
        return self._stepwise(steps, Bindings.always()).projected(answers)

    def extended(self, formula: Formula, table: Bindings, variables: Sequence[Variable]) -> Bindings:
        """The rows of a table for which a formula holds, with the values of further variables."""
        wanted = [*table.columns, *(v for v in variables if v not in table.columns)]
        return self._evaluated(formula, table, frozenset(wanted)).projected(wanted)

    def _evaluated(self, formula: Formula, table: Bindings, needed: frozenset[Variable]) -> Bindings:
        """The rows of a table that a formula extends or keeps, with the columns that are needed."""
        kept = needed | frozenset(table.columns)
        parts = self._without_apart(_opened(formula), kept)
        found = Bindings.never(kept) if parts is None else self._stepwise(_Steps(parts, kept, {}), table)
        return found if found.rows else Bindings.never(kept & free_variables(formula) | frozenset(table.columns))

    def _without_apart(self, parts: list[Formula], kept: frozenset[Variable]) -> list[Formula] | None:
        """The parts that have to do with the columns that are kept; None if the others do not hold."""
        reached, pending = kept, list(parts)
        while joined := [part for part in pending if free_variables(part) & reached]:
            pending = [part for part in pending if part not in joined]
            reached = reached.union(*(free_variables(part) for part in joined))
        pending = [part for part in pending if free_variables(part)]
        while pending and len(pending) < len(parts):
            names, group = free_variables(pending[0]), [pending[0]]
            while more := [part for part in pending if part not in group and free_variables(part) & names]:
                group += more
                names = names.union(*(free_variables(part) for part in more))
            if not self._stepwise(_Steps(group, frozenset(), {}), Bindings.always()).rows:
                return None
            pending = [part for part in pending if part not in group]
            parts = [part for part in parts if part not in group]
        return parts

    def _stepwise(self, steps: _Steps, table: Bindings) -> Bindings:
        """The rows of a table that some parts extend or keep, part by part."""
        parts, kept, together = list(steps.parts), steps.kept, _together(steps.parts, table)
        domains = steps.domains or (self._domains(parts) if table.rows else {})
        while parts and table.rows:
            check_stop()
            if group := group_apart(parts, kept, table.columns.keys()):
                parts = [part for part in parts if part not in group]
                table = self._where(group, table, domains)
                later = kept.union(*(free_variables(one) for one in parts))
                table = _with_columns(table, later)
                continue
            part = self._next(parts, table, domains)
            if (matches := self._matches(part, table)) > together and table.rows > 1:
                return self._in_pieces(replace(steps, parts=parts, domains=domains), table, matches, together)
            parts.remove(part)
            later = kept.union(*(free_variables(one) for one in parts))
            table = _with_columns(self._joined(part, table, later, domains), later)
        return table if table.rows else Bindings.never(kept)

    def _where(self, group: Sequence[Formula], table: Bindings, domains: Domains) -> Bindings:
        """The rows of a table for which some parts hold that share nothing else with the rest.

        They are asked once for each combination of the values that they share with the table.
        """
        names = frozenset().union(*(free_variables(part) for part in group))
        shared = [variable for variable in table.columns if variable in names]
        given = table.projected(shared)
        found = self._stepwise(_Steps(group, frozenset(shared), domains), given).projected(shared)
        return table if found.rows == given.rows else table.joined(found)

    def _next(self, parts: Sequence[Formula], table: Bindings, domains: Domains) -> Formula:
        """The part that is joined next: tests first, then what takes the rest apart, then what makes few rows."""
        growths = {id(part): self._growth(part, table) for part in parts}
        part = min(parts, key=lambda one: growths[id(one)])
        if growths[id(part)][0] != 1 or not table.columns:
            return part
        separating = separated_by(parts, table.columns.keys())
        for variable in sorted(separating, key=lambda v: (-separating[v], v.name, v.scope)):
            most = table.rows * float(domains[variable].sum()) if variable in domains else float("inf")
            leading = [one for one in parts if growths[id(one)][0] == 1 and variable in free_variables(one)]
            rows = {id(one): min(most, growths[id(one)][1]) for one in leading if isinstance(one, Atom)}
            if rows and min(rows.values()) <= TOGETHER:
                return min((one for one in leading if id(one) in rows), key=lambda one: growths[id(one)])
        return part

    def _matches(self, part: Formula, table: Bindings) -> int:
        """How many rows a link that leads on from the rows of a table makes of them."""
        if not isinstance(part, Atom) or part.repeat:
            return 0
        directed, is_forwards = self._relation_id(part.relation, False), True
        known = self._values(part.subject, table)
        if known is None:
            known, is_forwards = self._values(part.object, table), False
        elif self._values(part.object, table) is not None:
            return 0
        if known is None:
            return 0
        starts = self.graph.edges_from(directed if is_forwards else int(inverse_relation(directed)))[0]
        ends = np.searchsorted(starts, known, side="right") - np.searchsorted(starts, known)
        return int(ends.sum())

    def _in_pieces(self, steps: _Steps, table: Bindings, matches: int, together: int) -> Bindings:
        """As `_stepwise`, some rows after the others, which bounds the memory it takes."""
        size = max(1, table.rows * together // matches)
        found: list[Bindings] = []
        rows = 0
        there = frozenset(table.columns).union(*(free_variables(part) for part in steps.parts))
        wanted = sorted(steps.kept & there, key=lambda v: (v.name, v.scope))
        for start in range(0, table.rows, size):
            piece = table.taken(np.arange(start, min(start + size, table.rows)))
            if found and steps.kept <= table.columns.keys():  # what is found needs no second proof
                piece = piece.without(union_of(found, wanted))
            found.append(self._stepwise(steps, piece).projected(wanted))
            rows += found[-1].rows
            if rows > together:
                found = [union_of(found, wanted)]
                rows = found[0].rows
            if rows > min(MOST_TUPLES, MOST_VALUES // max(1, len(wanted))):
                if not steps.can_be_cut:
                    raise too_many(rows)
                self.is_cut = True
            if self.is_cut and steps.can_be_cut:  # perhaps by a part of this piece
                break
        return union_of(found, wanted)

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
        if atom.repeat:
            return self._repeated(atom, table)
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

    def _repeated(self, atom: Atom, table: Bindings) -> Bindings:
        """Several steps of a relation in a row, from the values of the end that has some."""
        directed, ends = self._relation_id(atom.relation, False), (atom.subject, atom.object)
        columns = dict(zip(ENDS, (self._values(end, table) for end in ends), strict=True))
        given = {name: column for name, column in columns.items() if column is not None}
        way = directed if START in given or not given else int(inverse_relation(directed))
        starts = distinct(given[START if START in given else END]) if given else None
        near, far = repeated_steps(self.graph, way, atom.repeat, starts)
        if atom.subject == atom.object:
            near, far = near[near == far], far[near == far]
        pairs = dict(zip(ENDS if way == directed else ENDS[::-1], (near, far), strict=True))
        joined = Bindings({**table.columns, **given}, table.rows).joined(Bindings(pairs, len(near)))
        found = dict(joined.columns)
        for name, end in zip(ENDS, ends, strict=True):
            column = found.pop(name)
            if isinstance(end, Variable):
                found[end] = column
        return Bindings(found, joined.rows)

    def _unbound(self, atom: Atom, directed: int, table: Bindings, domains: Domains) -> Bindings:
        """All edges of a relation, beside each row."""
        sources, targets = self.graph.edges_from(directed)
        subject, target = _variable(atom.subject), _variable(atom.object)
        if subject == target:
            loops = distinct(sources[sources == targets])
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
        tables = [self._values_of.with_any(wanted, self._evaluated(one, table, needed)) for one in part.parts]
        return union_of([one.projected(wanted) for one in tables], wanted)

    def _growth(  # noqa: PLR0911  # one for each kind of part
        self, part: Formula, table: Bindings
    ) -> tuple[int, float]:
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
        if part.repeat:
            return (2 if len(unbound) == 1 else 4), 0.0
        directed = self._relation_id(part.relation, False)
        edges = len(self.graph.edges_from(directed)[0])
        if len(unbound) == 2 or (part.subject == part.object):
            return (2 if table.columns else 1), float(edges)
        if table.rows <= FEW_ROWS:
            return 1, float(self._matches(part, table))
        way = directed if part.object in unbound else int(inverse_relation(directed))
        return 1, table.rows * edges / max(1, len(self.graph.range_of(int(inverse_relation(way)))[0]))

    def _growth_by_values(self, part: HasValue, table: Bindings, unbound: int) -> tuple[int, float]:
        rows = float(self._values_of.rows_of(part))
        if isinstance(part.subject, Variable) and part.subject in table.columns:
            return 1, float(table.rows)
        return (2 if table.columns and unbound == 2 else 1), rows

    def _domains(self, parts: Sequence[Formula]) -> Domains:
        """What each variable can be by the edges of the question, narrowed round by round."""
        atoms = [part for part in parts if isinstance(part, Atom) and not part.repeat]
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


def _with_columns(table: Bindings, wanted: frozenset[Variable]) -> Bindings:
    """A table without the columns that are not wanted, each row once."""
    if wanted >= table.columns.keys():
        return table
    return table.projected([variable for variable in table.columns if variable in wanted])


def _within(table: Bindings, variable: Variable, domains: Domains) -> Bindings:
    mask = domains.get(variable)
    return table if mask is None else table.taken(mask[table.columns[variable]])


def _together(parts: Sequence[Formula], table: Bindings) -> int:
    """How many matches are looked at together: fewer where there are many columns."""
    columns = table.columns.keys() | frozenset().union(*(free_variables(part) for part in parts))
    return min(TOGETHER, VALUES_TOGETHER // max(1, len(columns)))


def _opened(formula: Formula) -> list[Formula]:
    """The parts of nested conjunctions; a quantifier stays closed, because its variables are its own."""
    if isinstance(formula, Conjunction):
        return [inner for part in formula.parts for inner in _opened(part)]
    return _opened(formula.part) if isinstance(formula, Exists) else [formula]
