"""ORDER BY: variables and `?score`, ascending or descending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.logic.ordering import PROBABILITY, Ordering
from unseen.logic.sparql.terms import kind_of
from unseen.logic.sparql.value_tests import bare

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def order_of(clause: Any, refuse: Callable[[str], NoReturn]) -> tuple[Ordering, ...]:
    """The keys of an ORDER BY, none if there is no such clause."""
    return tuple(_ordering(condition, refuse) for condition in clause.condition) if clause else ()


def _ordering(condition: Any, refuse: Callable[[str], NoReturn]) -> Ordering:
    node = bare(condition.expr)
    if kind_of(node) != "Variable":
        refuse("ORDER BY takes variables and ?score only, with ASC() or DESC() around them")
    name = str(node)
    return Ordering(name, str(condition.order).upper() == "DESC", is_variable=name not in PROBABILITY)
