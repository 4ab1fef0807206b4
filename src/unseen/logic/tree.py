"""From a formula to the query tree it describes, or the reason why it describes none.

The answer variable is the root. What is said about it alone becomes a branch; what is said about it through another
variable becomes a projection from the tree of that variable. A formula fits if every variable is reached from the root
along exactly one way, and if negation only excludes from what is otherwise bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from unseen.errors import QueryRefused
from unseen.logic.algebra import (
    MAX_DEPTH,
    Anchor,
    Anything,
    Loop,
    Not,
    Project,
    Query,
    Repeat,
    Valued,
    conjunction,
    disjunction,
)
from unseen.logic.formula import (
    Atom,
    Conjunction,
    Constant,
    Disjunction,
    Equal,
    Formula,
    HasValue,
    Negation,
    Place,
    Recorded,
    Test,
    Variable,
    binds,
    conjuncts,
    every_variable,
    free_variables,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.logic.formula import Term


MOST_VARIABLES = 1000


def to_query(formula: Formula, answer: Variable, text: str | None = None) -> Query:
    """The query whose answers are the values of `answer` for which `formula` holds.

    `text` is the question as written, to show the place of a refusal in it.
    """
    return _TreeBuilder(text).root(formula, answer)


def tree_of(parts: Sequence[Formula], root: Variable, text: str | None = None) -> Query:
    """The tree of the values of `root` for which all parts hold; they may only exclude."""
    return _TreeBuilder(text).join(parts, root)


class _TreeBuilder:
    """One translation; `sources` are variables whose own tree is already known."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.sources: dict[Variable, Query] = {}
        self.depth = 0

    def refuse(self, reason: str, place: Place) -> NoReturn:
        raise QueryRefused(reason, text=self.text, position=place.position, place=place.shown)

    def root(self, formula: Formula, answer: Variable) -> Query:
        if answer not in free_variables(formula):
            self.refuse(f"the answer variable ?{answer.name} does not occur in it", formula.place)
        if not binds(formula):
            reason = f"negation must be bound: say what ?{answer.name} is, not only what it is not"
            self.refuse(reason, _unbound_part(formula).place)
        if len(every_variable(formula)) > MOST_VARIABLES:
            self.refuse(f"it has more than {MOST_VARIABLES:,} variables", formula.place)
        return self.members(formula, answer)

    def members(self, formula: Formula, variable: Variable) -> Query:
        """The tree of the values of `variable` for which `formula` holds."""
        return self.join(conjuncts(formula), variable)

    def join(self, parts: Sequence[Formula], variable: Variable) -> Query:
        """The tree of the values of `variable` for which all parts hold."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"it is nested deeper than {MAX_DEPTH} levels", parts[0].place)
        branches = [self.branch(group, variable) for group in self.groups(parts, variable)]
        self.depth -= 1
        return conjunction(branches)

    def groups(self, parts: Sequence[Formula], variable: Variable) -> list[list[Formula]]:
        """Parts that talk about `variable` independently of each other: joined by shared other variables, in order."""
        leader: dict[Variable, Variable] = {}
        others = [sorted(self.unknown(part) - {variable}, key=lambda v: (v.name, v.scope)) for part in parts]
        for first, *rest in filter(None, others):
            for other in rest:
                leader[_leader(other, leader)] = _leader(first, leader)
        groups: dict[object, list[Formula]] = {}
        for part, shared in zip(parts, others, strict=True):
            key = _leader(shared[0], leader) if shared else id(part)
            groups.setdefault(key, []).append(part)
        return list(groups.values())

    def unknown(self, part: Formula) -> frozenset[Variable]:
        return free_variables(part) - self.sources.keys()

    def branch(self, group: list[Formula], variable: Variable) -> Query:
        """One group of parts as a tree: directly, or through the one variable that links it to `variable`."""
        links = [part for part in group if variable in free_variables(part)]
        if not links:
            strangers = ", ".join(f"?{v.name}" for v in sorted(self.unknown(group[0]), key=lambda v: v.name))
            self.refuse(self.unconnected(strangers, variable), group[0].place)
        if not self.unknown(links[0]) - {variable}:
            return self.about(links[0], variable)
        link, inner = self.only_link(links, variable)
        rest = [part for part in group if part is not link]
        self.sources[inner] = self.join(rest, inner) if rest else Anything()
        self.check_used_once(link, inner)
        tree = self.members(link, variable)
        del self.sources[inner]
        return tree

    def unconnected(self, strangers: str, variable: Variable) -> str:
        return (
            f"{strangers} has no connection with ?{variable.name}" if strangers else "it says nothing about a variable"
        )

    def only_link(self, links: list[Formula], variable: Variable) -> tuple[Formula, Variable]:
        """The single part that joins `variable` with the rest of its group, and the variable at the other end."""
        if len(links) > 1:
            self.refuse(f"?{variable.name} lies on a cycle: this is a second way to it", links[1].place)
        others = sorted(self.unknown(links[0]) - {variable}, key=lambda v: v.name)
        if len(others) > 1:
            names = ", ".join(f"?{v.name}" for v in [variable, *others])
            self.refuse(f"one part joins {names}; a part may join only two variables", links[0].place)
        return links[0], others[0]

    def check_used_once(self, link: Formula, inner: Variable) -> None:
        """A linking part may use its inner variable only once in each alternative, and not under negation."""
        if isinstance(link, Disjunction):
            for part in link.parts:
                self.check_used_once(part, inner)
            return
        uses = [part for part in conjuncts(link) if inner in free_variables(part)]
        if not uses:
            self.refuse(f"every alternative must mention ?{inner.name}", link.place)
        if len(uses) > 1:
            self.refuse(f"?{inner.name} lies on a cycle: this is a second way to it", uses[1].place)
        if isinstance(uses[0], Negation):
            self.refuse(f"negation may not join two variables, and here one of them is ?{inner.name}", uses[0].place)
        if isinstance(uses[0], Disjunction):
            self.check_used_once(uses[0], inner)

    def about(self, part: Formula, variable: Variable) -> Query:
        """A part that is only about `variable`, as a tree."""
        match part:
            case Atom():
                return self.projection(part, variable)
            case Equal():
                return Anchor(part.constant.name)
            case Recorded():
                return self.valued(part, variable)
            case Test():
                self.refuse("it compares variables with each other", part.place)
            case HasValue():
                self.refuse(f"?{variable.name} stands for values", part.place)
            case Negation():
                return Not(self.members(part.part, variable))
            case Disjunction():
                return self.alternatives(part, variable)
        return self.members(part, variable)

    def valued(self, part: Recorded, variable: Variable) -> Query:
        others = free_variables(part) - {variable}
        if others:
            names = ", ".join(f"?{v.name}" for v in sorted({variable, *others}, key=lambda v: v.name))
            self.refuse(f"values of {names} are compared with each other", part.place)
        return Valued(part, variable, self.text)

    def alternatives(self, part: Disjunction, variable: Variable) -> Query:
        """One of the parts; if one only excludes, not the opposite of all of them."""
        if not binds(part) and binds(denied := _denied(part)):
            return Not(self.members(denied, variable))
        return disjunction([self.alternative(one, variable) for one in part.parts])

    def alternative(self, part: Formula, variable: Variable) -> Query:
        if variable not in free_variables(part):
            self.refuse(f"every alternative must say something about ?{variable.name}", part.place)
        if not binds(part):
            self.refuse("negation must be bound: an alternative may not consist of exclusions only", part.place)
        return self.members(part, variable)

    def projection(self, atom: Atom, variable: Variable) -> Query:
        if atom.subject == atom.object:
            if atom.repeat:
                self.refuse("several steps of a relation from a variable to itself are not supported", atom.place)
            return Loop(atom.relation)
        inverse = atom.subject == variable
        other = atom.object if inverse else atom.subject
        name = other.name if isinstance(other, Variable) else None
        if atom.repeat:
            return Repeat(atom.relation, self.source(other), atom.repeat, inverse, name)
        return Project(atom.relation, self.source(other), inverse, name)

    def source(self, term: Term) -> Query:
        return Anchor(term.name) if isinstance(term, Constant) else self.sources[term]


def _unbound_part(formula: Formula) -> Formula:
    """The first alternative that only excludes, inside a formula that does not bind."""
    while isinstance(formula, Disjunction):
        formula = next(part for part in formula.parts if not binds(part))
    return formula


def _denied(formula: Disjunction) -> Formula:
    """That no alternative holds."""
    parts = (part.part if isinstance(part, Negation) else Negation(part, part.place) for part in formula.parts)
    return Conjunction(tuple(parts), formula.place)


def _leader(variable: Variable, leader: dict[Variable, Variable]) -> Variable:
    """The variable that stands for all those joined with `variable` so far; halves the path on the way."""
    while (above := leader.get(variable, variable)) != variable:
        leader[variable] = leader.get(above, above)
        variable = above
    return variable
