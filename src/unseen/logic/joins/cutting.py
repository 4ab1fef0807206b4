"""How a pattern is taken apart: variables that get a value one after the other, and a tree for each of them.

The *assigned* variables are the answers, and as many inner ones as it takes to leave trees behind (a cut set). Every
part of the question belongs to the last assigned variable that it touches, through inner variables if need be. With
values in place of all variables before it, the parts of a variable are a tree with that variable as its root; the
probability of an assignment is the product of the memberships in these trees.

To find promising values early, each variable also has a *relaxed* tree: its own parts, and whatever else is about it or
leads on from it, without the parts that would close a cycle. Leaving out parts never makes anything less likely, so a
relaxed tree gives an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.formula import Atom, Constant, Equal, Formula, Negation, Variable, free_variables, substituted
from unseen.logic.tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.logic.algebra import Query
    from unseen.logic.pattern import Pattern

MOST_ASSIGNED = 64
"""Most variables that get values one after the other."""


@dataclass(frozen=True)
class VariableStep:
    """One assigned variable; the trees have a placeholder for each variable before it, see `placeholder`."""

    variable: Variable
    own: Query | None
    """The tree of its own parts; None if it has none."""
    relaxed: Query | None
    """The tree that bounds what its values can lead to; None if there is nothing to say."""


@dataclass(frozen=True)
class AcyclicPart:
    """A pattern with one answer, without the parts that close its cycles."""

    whole: Query
    """Its tree."""
    own: tuple[Query | None, ...]
    """The own trees of the assigned variables in it."""


@dataclass(frozen=True)
class SearchPlan:
    """The assigned variables of a pattern in order."""

    answers: tuple[Variable, ...]
    steps: tuple[VariableStep, ...]
    acyclic: AcyclicPart | None = None
    """None for several answers, and where the answer alone is assigned."""


def placeholder(variable: Variable) -> str:
    """The name that stands in a tree for the value of an assigned variable; no entity can have it."""
    return f"\0{variable.name}\0{variable.scope}"


def planned(pattern: Pattern) -> SearchPlan:
    """A plan for a pattern; an error if too many variables would have to be assigned."""
    parts, order = pattern.parts, list(pattern.answers)
    while len(order) <= MOST_ASSIGNED:
        order = _ordered(order, parts, pattern.answers)
        try:
            steps = tuple(_steps(parts, order, pattern.text))
            return SearchPlan(pattern.answers, steps, _acyclic(parts, order, pattern.answers))
        except _NoTree as found:
            if found.variable in order:
                raise QueryRefused("every alternative must be about the same variables", text=pattern.text) from None
            order.insert(0, found.variable)
        except QueryRefused:
            more = _most_joined(parts, order)
            if more is None:
                raise
            order.insert(0, more)
    raise QueryRefused(f"it has too many cycles: more than {MOST_ASSIGNED} variables would have to be tried one by one")


class _NoTree(Exception):
    """Parts with inner variables that do not form a tree; `variable` is to be assigned too."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        super().__init__(variable)


def _steps(parts: Sequence[Formula], order: Sequence[Variable], text: str | None) -> list[VariableStep]:
    blocks = _blocks(parts, order)
    steps = []
    for place, variable in enumerate(order):
        values = {before: Constant(placeholder(before)) for before in order[:place]}
        own = [part for block in blocks if _last(block, order) == variable for part in block]
        tree = _own_tree([substituted(part, values) for part in own], variable, text)
        rest = [part for part in parts if part not in own and not free_variables(part) <= values.keys()]
        relaxed = tree
        if rest:
            relaxed = _relaxed_tree(
                [substituted(p, values) for p in own], [substituted(p, values) for p in rest], variable
            )
        steps.append(VariableStep(variable, tree, relaxed if relaxed is not None else tree))
    return steps


def _acyclic(parts: Sequence[Formula], order: Sequence[Variable], answers: Sequence[Variable]) -> AcyclicPart | None:
    """A pattern with one answer without the parts that close its cycles; None if that leaves no tree."""
    if len(answers) > 1 or len(order) == 1:
        return None
    kept = _spanning(sorted(parts, key=lambda part: answers[0] not in free_variables(part)), answers[0])
    try:
        steps = _steps(kept, order, None)
        return AcyclicPart(tree_of(kept, answers[0]), tuple(step.own for step in steps))
    except (QueryRefused, _NoTree):
        return None


def _own_tree(parts: list[Formula], root: Variable, text: str | None) -> Query | None:
    if not parts:
        return None
    try:
        return tree_of(parts, root, text)
    except QueryRefused:
        inner = _most_joined(parts, [root])
        if inner is None:
            raise
        raise _NoTree(inner) from None


def _relaxed_tree(own: list[Formula], rest: list[Formula], root: Variable) -> Query | None:
    """The tree of a root with as many parts as it takes without a cycle."""
    kept = _spanning([*own, *rest], root)
    try:
        return tree_of(kept, root) if kept else None
    except QueryRefused:  # a negation or an alternative that is not a tree: its own parts bound it as well
        return tree_of(own, root) if own else None


def _spanning(parts: Sequence[Formula], root: Variable) -> list[Formula]:
    """As many parts joined with a root as it takes without a cycle; those about one variable come first."""
    leader: dict[Variable, Variable] = {}

    def found(variable: Variable) -> Variable:
        while variable in leader:
            variable = leader[variable]
        return variable

    kept = []
    for part in sorted(parts, key=lambda one: len(free_variables(one))):
        variables = sorted(free_variables(part), key=_by_name)
        ends = {found(variable) for variable in variables}
        if len(ends) < len(variables) or (len(variables) > 1 and not isinstance(part, Atom)) or not variables:
            continue
        for one in variables[1:]:
            leader[found(one)] = found(variables[0])
        kept.append(part)
    return [part for part in kept if all(found(variable) == found(root) for variable in free_variables(part))]


def _blocks(parts: Sequence[Formula], assigned: Sequence[Variable]) -> list[list[Formula]]:
    """Parts that are joined by variables that are not assigned; other parts alone."""
    blocks: list[tuple[set[Variable], list[Formula]]] = []
    for part in parts:
        inner = set(free_variables(part)) - set(assigned)
        joined = [block for block in blocks if block[0] & inner]
        blocks = [block for block in blocks if block not in joined]
        blocks.append(
            (inner.union(*(block[0] for block in joined)), [p for block in joined for p in block[1]] + [part])
        )
    return [block for _, block in blocks]


def _last(block: Sequence[Formula], order: Sequence[Variable]) -> Variable:
    """The last assigned variable of a block; the first of all for a block without any."""
    touched = frozenset().union(*(free_variables(part) for part in block))
    return next((variable for variable in reversed(order) if variable in touched), order[0])


def _most_joined(parts: Sequence[Formula], assigned: Sequence[Variable]) -> Variable | None:
    """The variable, not assigned yet, that most parts join with others."""
    counts: dict[Variable, int] = {}
    for part in parts:
        variables = free_variables(part)
        for variable in variables - set(assigned):
            counts[variable] = counts.get(variable, 0) + (len(variables) > 1) + 1
    return max(counts, key=lambda v: (counts[v], v.name, v.scope), default=None)


def _ordered(assigned: Sequence[Variable], parts: Sequence[Formula], answers: Sequence[Variable]) -> list[Variable]:
    """Variables that much is said about first, then those that are joined with them; an answer comes last.

    The order hangs on the question alone, not on the order of its answers: the numbers are the same.
    """
    places = _places(parts)
    order: list[Variable] = []
    pending = sorted(assigned, key=lambda v: places.get(v, len(places)))
    while pending:
        left = [variable for variable in pending if variable in answers]
        free = [v for v in pending if v not in answers] if len(left) == 1 and len(pending) > 1 else pending
        chosen = max(free, key=lambda v: _closeness(v, parts, order))
        pending.remove(chosen)
        order.append(chosen)
    return order


def _places(parts: Sequence[Formula]) -> dict[Variable, int]:
    """Variables by where they first stand in the question."""
    found: dict[Variable, int] = {}
    for part in parts:
        ends = [part.subject, part.object] if isinstance(part, Atom) else sorted(free_variables(part), key=_by_name)
        for term in ends:
            if isinstance(term, Variable):
                found.setdefault(term, len(found))
    return found


def _by_name(variable: Variable) -> tuple[str, int]:
    return variable.name, variable.scope


def _closeness(variable: Variable, parts: Sequence[Formula], before: Sequence[Variable]) -> tuple[int, int]:
    """How many parts tie a variable to names or to variables before it, and how many are about it at all."""
    about = [part for part in parts if variable in free_variables(part) and not isinstance(part, Negation)]
    tied = [part for part in about if free_variables(part) <= {variable, *before} or isinstance(part, Equal)]
    return len(tied), len(about)
