"""Counts in the readable syntax: `count x : formula`, and `?c, count x : formula` for one count a group."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.formula import Conjunction, Constant, Equal, Place, Variable
from unseen.logic.outer_form import Count, Grouping, OuterForm
from unseen.logic.pattern import Pattern, query_or_pattern
from unseen.logic.text import parse_answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.logic.algebra import Query

_HEAD = re.compile(r"\s*(?:\?[^\W\d]\w*\s*,\s*(?:\?\s*)?)*(count\s+)\??[^\W\d]\w*\s*:", re.IGNORECASE)


@dataclass(frozen=True)
class FormulaCore:
    """The core of a question that counts, as a formula."""

    pattern: Pattern

    @property
    def variables(self) -> tuple[str, ...]:
        """Groups and what is counted."""
        return self.pattern.names

    @property
    def value_names(self) -> frozenset[str]:
        """None: a formula counts entities."""
        return frozenset()

    def question(self, answers: Sequence[str], values: Mapping[str, str]) -> Query | Pattern:
        """The question for some variables, where others are certain entities, given by key."""
        by_name = {variable.name: variable for variable in self.pattern.answers}
        formula, place = self.pattern.formula, self.pattern.formula.place
        fixed = tuple(Equal(by_name[name], constant_of(key), Place()) for name, key in values.items())
        whole = Conjunction((formula, *fixed), place) if fixed else formula
        return query_or_pattern(Pattern(whole, tuple(by_name[name] for name in answers), self.pattern.text))


def constant_of(key: str) -> Constant:
    """An entity by its key."""
    return Constant(f"<{key}>" if re.match(r"[A-Za-z][\w+.-]*:\S*$", key) else key)


def parse_counted(text: str) -> OuterForm | None:
    """The form of a question that counts; None for any other."""
    match = _HEAD.match(text)
    if match is None:
        return None
    start, end = match.span(1)
    sign = "" if text[end] == "?" else "?"
    plain = f"{text[:start]}{sign.rjust(end - start)}{text[end:]}"
    formula, answers = parse_answers(plain)
    counted: Variable = answers[-1]
    keys = tuple(answer.name for answer in answers[:-1])
    if "count" in keys:
        raise QueryRefused("the variable ?count stands for the number: name yours otherwise", text=text, position=0)
    core = FormulaCore(Pattern(formula, answers, plain))
    grouping = Grouping(keys, (Count("count", counted.name, is_distinct=True),))
    return OuterForm(text, core, (*keys, "count"), (*keys, counted.name), grouping)
