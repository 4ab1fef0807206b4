"""The alternatives of a Boolean expression: one form for the ways to write it.

A term is a set of literals that all hold; a literal is an atom and whether it holds. An expression is true where one of
its terms is. Terms that contradict themselves go, and so do those that another one covers. The order of parts, double
negation, De Morgan's laws, distribution, absorption and distinctions of cases then make no difference: what follows
from two terms that disagree about one atom is a term as well (their consensus), so `(A & B) | (A & !B)` is `A`. Terms
that only deny are not joined in this way. Entities are atoms too, and a variable has one value: `x = a` excludes
`x = b`.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

from unseen.logic.algebra import Anchor, And, Not, Or, Query

if TYPE_CHECKING:
    from collections.abc import Iterable

Literal = tuple[Query, bool]
"""An atom, and whether it holds."""
Term = frozenset[Literal]
"""Literals that all hold."""


class TooManyTerms(Exception):
    """An expression has more terms than are written out."""


class Everything(Query):
    """All entities; it stands for a source of which nothing is said."""

    def __str__(self) -> str:
        return "*"


def alternatives(expression: Query, most: int) -> list[Term]:
    """The terms of a Boolean expression over atoms; `TooManyTerms` if they are more than `most`."""
    return _with_consensus(_terms(expression, positive=True, most=most), most)


def consistent(literals: Iterable[Literal]) -> Term | None:
    """The term of these literals without those that others imply; None if they contradict each other."""
    term = frozenset(literals)
    if any((atom, not holds) in term for atom, holds in term if holds):
        return None
    named = [atom for atom, holds in term if holds and isinstance(atom, Anchor)]
    if len(named) > 1:
        return None
    if named:
        term = frozenset((atom, holds) for atom, holds in term if holds or not isinstance(atom, Anchor))
    return term


def _terms(node: Query, *, positive: bool, most: int) -> list[Term]:
    """Some terms that together mean the expression, or its negation."""
    match node:
        case Everything():
            return [frozenset()] if positive else []
        case Not():
            return _terms(node.part, positive=not positive, most=most)
        case And() | Or():
            parts = [_terms(part, positive=positive, most=most) for part in node.parts]
            return _all_of(parts, most) if isinstance(node, And) == positive else _any_of(parts, most)
    return [frozenset([(node, positive)])]


def _all_of(parts: list[list[Term]], most: int) -> list[Term]:
    found: list[Term] = [frozenset()]
    for part in parts:
        joined = (consistent(left | right) for left, right in product(found, part))
        found = _absorbed([term for term in joined if term is not None])
        if len(found) > most:
            raise TooManyTerms
    return found


def _any_of(parts: list[list[Term]], most: int) -> list[Term]:
    distinct = dict.fromkeys(term for part in parts for term in part)
    if len(distinct) > most * most:
        raise TooManyTerms
    found = _absorbed(distinct)
    if len(found) > most:
        raise TooManyTerms
    return found


def _with_consensus(terms: list[Term], most: int) -> list[Term]:
    """The terms with all that follow from two of them; as they are, if these become more than `most`."""
    found = terms
    while True:
        more = [term for one, other in combinations(found, 2) if (term := _consensus(one, other)) is not None]
        joined = _absorbed([*found, *more])
        if len(joined) > most:
            return terms
        if set(joined) == set(found):
            return found
        found = joined


def _consensus(one: Term, other: Term) -> Term | None:
    """What two terms that disagree about one atom say whether it holds or not; None if they only deny."""
    opposed = [(atom, holds) for atom, holds in one if (atom, not holds) in other]
    if len(opposed) != 1:
        return None
    atom, holds = opposed[0]
    term = consistent((one - {(atom, holds)}) | (other - {(atom, not holds)}))
    return term if term is not None and any(said for _, said in term) else None


def _absorbed(terms: Iterable[Term]) -> list[Term]:
    """The terms that no shorter one covers, each once."""
    kept: list[Term] = []
    for term in sorted(dict.fromkeys(terms), key=len):
        if not any(other <= term for other in kept):
            kept.append(term)
    return kept
