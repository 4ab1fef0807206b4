"""The parts of a formula about values, gathered into one part for the entities that they are about.

What is said of one value, or of several that are compared, stands together in a `Recorded` part. It holds as the graph
records it; what remains of the formula has variables for entities only, so it can be predicted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unseen.logic.formula import (
    Conjunction,
    Disjunction,
    Exists,
    Formula,
    HasValue,
    Negation,
    Recorded,
    Test,
    Variable,
    conjuncts,
    free_variables,
    quantified_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def value_variables(formula: Formula) -> frozenset[Variable]:
    """The variables that stand for values; those inside of a `Recorded` part are its own."""
    return frozenset(part.value for part in value_patterns(formula) if isinstance(part.value, Variable))


def gathered(formula: Formula, values: frozenset[Variable]) -> Formula:
    """The formula with its parts about values gathered; it is the same formula if there are none."""
    match formula:
        case Conjunction() | Exists():
            parts = conjuncts(formula)
            about = [part for part in parts if _is_about(part, values)]
            if not about and isinstance(formula, Exists):
                return replace(formula, part=gathered(formula.part, values))
            rest = [gathered(part, values) for part in parts if part not in about]
            found = [*rest, *(_recorded(group, values) for group in _joined(about, values))]
            whole = found[0] if len(found) == 1 else Conjunction(tuple(found), formula.place)
            own = tuple(one for one in quantified_in(formula) if one in free_variables(whole))
            return Exists(own, whole, formula.place) if own else whole
        case Disjunction():
            return replace(formula, parts=tuple(gathered(part, values) for part in formula.parts))
        case Negation():
            return replace(formula, part=gathered(formula.part, values))
        case HasValue() | Test():
            return _recorded([formula], values)
    return formula


def is_about_values(formula: Formula) -> bool:
    """Whether a formula has parts about values that are not gathered."""
    match formula:
        case HasValue() | Test():
            return True
        case Negation() | Exists():
            return is_about_values(formula.part)
        case Conjunction() | Disjunction():
            return any(map(is_about_values, formula.parts))
    return False


def _is_about(part: Formula, values: frozenset[Variable]) -> bool:
    return isinstance(part, HasValue | Test) or bool(free_variables(part) & values)


def _joined(parts: Sequence[Formula], values: frozenset[Variable]) -> list[list[Formula]]:
    """Parts that share values, together."""
    groups: list[tuple[frozenset[Variable], list[Formula]]] = []
    for part in parts:
        own = free_variables(part) & values
        near = [group for group in groups if group[0] & own]
        groups = [group for group in groups if group not in near]
        members = [one for _, group in near for one in group]
        groups.append((own.union(*(shared for shared, _ in near)), [*members, part]))
    return [group for _, group in groups]


def _recorded(parts: Sequence[Formula], values: frozenset[Variable]) -> Recorded:
    place = parts[0].place
    whole: Formula = parts[0] if len(parts) == 1 else Conjunction(tuple(parts), place)
    own = sorted(free_variables(whole) & values, key=lambda one: (one.name, one.scope))
    return Recorded(Exists(tuple(own), whole, place) if own else whole, place)


def value_patterns(formula: Formula) -> Iterator[HasValue]:
    """The patterns of values in a formula outside of `Recorded` parts."""
    match formula:
        case HasValue():
            yield formula
        case Negation() | Exists():
            yield from value_patterns(formula.part)
        case Conjunction() | Disjunction():
            for part in formula.parts:
                yield from value_patterns(part)
