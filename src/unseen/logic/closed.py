"""Statements: formulas without an answer variable, which hold or do not.

| node | holds if |
| --- | --- |
| `At(part, entity)` | the entity is a member of `part`; a fact is `At(Project(relation, Anchor(head)), tail)` |
| `Some(part)` | `part` has a member |
| `And`, `Or`, `Not` | as everywhere |

`statement_of` makes one of a formula. What `exists` says is split: parts that share no variable are statements of their
own, and each of the others becomes a tree, with that of its variables as the root that gives the smallest one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.algebra import (
    Anchor,
    Not,
    Project,
    Query,
    bind,
    conjunction,
    disjunction,
    rebuild,
)
from unseen.logic.events import At
from unseen.logic.formula import (
    Atom,
    Conjunction,
    Constant,
    Disjunction,
    Equal,
    Exists,
    Formula,
    Negation,
    binds,
    conjuncts,
    free_variables,
)
from unseen.logic.tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.logic.formula import Variable


@dataclass(frozen=True)
class Some(Query):
    """Whether a set has a member; `variable` is what the user called it."""

    part: Query
    variable: str | None = field(default=None, compare=False, repr=False)

    @property
    def children(self) -> tuple[Query, ...]:
        """The set."""
        return (self.part,)

    def __str__(self) -> str:
        return f"[some {self.part}]"


def fact(head: str | int, relation: str | int, tail: str | int) -> At:
    """The statement that an edge is there, asked from its head; ids have the directed relation."""
    return At(Project(relation, Anchor(head)), tail)


def statement_of(formula: Formula, text: str | None = None) -> Query:
    """The statement that a closed formula makes, with names; `text` is what was written, to show places in it."""
    match formula:
        case Atom(subject=Constant(), object=Constant()):
            return fact(formula.subject.name, formula.relation, formula.object.name)
        case Conjunction():
            return conjunction([statement_of(part, text) for part in formula.parts])
        case Disjunction():
            return disjunction([statement_of(part, text) for part in formula.parts])
        case Negation():
            return Not(statement_of(formula.part, text))
        case Exists():
            return _existing(formula.part, text)
    names = ", ".join(f"?{variable.name}" for variable in free_variables(formula))
    reason = f"a statement has no open variable, and {names} is not bound by `exists`"
    raise QueryRefused(reason, text=text, position=formula.place.position, place=formula.place.shown)


def bound_statement(
    statement: Query, entity_id: Callable[[str], int], relation_id: Callable[[str, bool], int]
) -> Query:
    """The statement with ids in place of names."""

    def bound(node: Query) -> Query:
        match node:
            case At(entity=str(name)):
                return At(bind(node.event, entity_id, relation_id), entity_id(name))
            case Some():
                return Some(bind(node.part, entity_id, relation_id), node.variable)
        return rebuild(node, tuple(bound(child) for child in node.children))

    return bound(statement)


def with_parts(statement: Query, change: Callable[[Query], Query]) -> Query:
    """The statement with other sets in it."""
    match statement:
        case At():
            return At(change(statement.event), statement.entity)
        case Some():
            return Some(change(statement.part), statement.variable)
    return rebuild(statement, tuple(with_parts(child, change) for child in statement.children))


def _existing(formula: Formula, text: str | None) -> Query:
    """The statement that some values of the free variables of a formula make it hold."""
    if isinstance(formula, Disjunction):
        return disjunction([_existing(part, text) for part in formula.parts])
    parts = conjuncts(formula)
    closed = [part for part in parts if not free_variables(part)]
    groups = _connected([part for part in parts if free_variables(part)])
    return conjunction([*(statement_of(part, text) for part in closed), *(_some(group, text) for group in groups)])


def _connected(parts: Sequence[Formula]) -> list[list[Formula]]:
    """The parts in groups that share no variable."""
    groups: list[tuple[set[Variable], list[Formula]]] = []
    for part in parts:
        variables, members = set(free_variables(part)), [part]
        for group in [one for one in groups if one[0] & variables]:
            groups.remove(group)
            variables |= group[0]
            members = [*group[1], *members]
        groups.append((variables, members))
    return [members for _, members in groups]


def _some(parts: Sequence[Formula], text: str | None) -> Query:
    """That some values of their variables make all parts hold: the smallest tree that says so."""
    variables = sorted(set().union(*map(free_variables, parts)), key=lambda one: (one.name, one.scope))
    named = {variable for part in parts if binds(part) for variable in free_variables(part)}
    trees, refusal = [], None
    for variable in variables:
        if variable not in named:
            place = parts[0].place
            reason = f"negation must be bound: say what ?{variable.name} is, not only what it is not"
            raise QueryRefused(reason, text=text, position=place.position, place=place.shown)
        try:
            trees.append(Some(tree_of(parts, variable, text), variable.name))
        except QueryRefused as error:
            refusal = refusal or error
    if not trees:
        raise refusal or QueryRefused("it says nothing about a variable", text=text)
    return min(trees, key=lambda some: (some.depth, some.size, str(some)))


def is_positive(formula: Formula) -> bool:
    """Whether a formula states something positive, which the graph can know."""
    return binds(formula) or isinstance(formula, Equal)


def relations_of(statement: Query) -> list[int]:
    """The directed relations that a statement needs outside of negation, each once."""
    found: dict[int, None] = {}

    def visit(node: Query) -> None:
        if isinstance(node, Not):
            return
        if isinstance(node, Project) and isinstance(node.relation, int):
            found.setdefault(node.relation)
        for child in node.children:
            visit(child)

    visit(statement)
    return list(found)
