"""Parts of a question that have nothing to do with each other once some variables have values.

Two films that share five kinds of things: with values for both films, each of the five is looked for by itself. Without
that, a table would hold all combinations of the five.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.logic.formula import Formula, Variable, free_variables

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

LEAST_GROUPS = 3
"""Groups into which a variable must take the rest apart to have its value before others."""


def groups_of(parts: Sequence[Formula], bound: Collection[Variable]) -> list[list[Formula]]:
    """The parts that have a variable without a value, those together that share one."""
    pending = [(part, free_variables(part) - frozenset(bound)) for part in parts]
    pending = [(part, names) for part, names in pending if names]
    found = []
    while pending:
        first, names = pending.pop(0)
        group = [first]
        while more := [pair for pair in pending if pair[1] & names]:
            pending = [pair for pair in pending if not pair[1] & names]
            group += [part for part, _ in more]
            names = names.union(*(others for _, others in more))
        found.append(group)
    return found


def group_apart(parts: Sequence[Formula], kept: frozenset[Variable], bound: Collection[Variable]) -> list[Formula]:
    """Parts whose own variables are not kept: they only say which rows stay.

    None if that would be all there is to do for the whole table, which is no less work apart.
    """
    for group in groups_of(parts, bound) if bound else ():
        names = frozenset().union(*(free_variables(part) for part in group))
        if not (names - frozenset(bound)) & kept and (len(group) < len(parts) or not names >= frozenset(bound)):
            return group
    return []


def separated_by(parts: Sequence[Formula], bound: Collection[Variable]) -> dict[Variable, int]:
    """The variables that take the rest apart, with the number of groups that are left when one has a value."""
    names = frozenset().union(*(free_variables(part) for part in parts)) - frozenset(bound)
    before = len(groups_of(parts, bound))
    counts = {name: len(groups_of(parts, [*bound, name])) for name in names}
    return {name: count for name, count in counts.items() if count - before + 1 >= LEAST_GROUPS}
