"""Questions whose answers are a table that is computed from predicted ones: counts, groups, display values, order.

The *core* of such a question is a pattern: what is predicted. Around it stands what is computed from its solutions,
as the graph records it: OPTIONAL, BIND, subqueries, FILTER over their values, then GROUP BY, HAVING, ORDER BY, OFFSET.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.logic.algebra import Query
    from unseen.logic.pattern import Pattern


class Core(Protocol):
    """What is predicted: its variables, and the question for some of them where others have a value."""

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables that it binds."""
        ...

    @property
    def value_names(self) -> frozenset[str]:
        """Those of its variables that stand for values."""
        ...

    def question(self, answers: Sequence[str], values: Mapping[str, str]) -> Query | Pattern:
        """The question for some variables; `values` are keys of entities that others have."""
        ...


class Count(NamedTuple):
    """One COUNT: what it is called, what is counted (None for all), and whether each value counts once."""

    name: str
    variable: str | None
    is_distinct: bool

    @property
    def text(self) -> str:
        """The COUNT itself, as SPARQL text."""
        return f"COUNT({'DISTINCT ' * self.is_distinct}{'*' if self.variable is None else f'?{self.variable}'})"


class CountComparison(NamedTuple):
    """HAVING: a count compared with a number."""

    counted: Count
    sign: str
    number: float


HAVING_COUNT = "unseen_having"
"""What the count of HAVING is called among the known groups, where it is no column."""


class Order(NamedTuple):
    """One key of ORDER BY: a column, and whether the largest value comes first."""

    name: str
    is_falling: bool


@dataclass(frozen=True)
class Grouping:
    """How solutions are counted."""

    keys: tuple[str, ...]
    counts: tuple[Count, ...]
    others: tuple[str, ...] = ()
    """Columns of other aggregates, which are computed from what is known."""
    having: CountComparison | None = None
    order: tuple[Order, ...] = ()


@dataclass(frozen=True)
class OuterForm:
    """A question with a core and what is computed around it."""

    text: str
    core: Core
    columns: tuple[str, ...]
    """What is selected."""
    needed: tuple[str, ...]
    """The variables of the core that anything else uses."""
    grouping: Grouping | None = None
    is_distinct: bool = False
    limit: int | None = None
    offset: int = 0
    prologue: str = ""
    select: str = ""
    """What is selected, as SPARQL text."""
    aggregates: str = ""
    """The aggregates among it, as SPARQL text."""
    outer: str = ""
    """The patterns around the core, as SPARQL text."""
    order: str = ""
    """ORDER BY, as SPARQL text."""
    group: str = ""
    """The whole pattern, core and all, as SPARQL text; empty for a formula."""
    group_by: str = ""
    having: str = ""
    is_filtered: bool = False
    """Whether what stands around the core may remove solutions, or order them anew."""

    @property
    def asks_for_scores(self) -> bool:
        """Whether it uses columns that only predictions have."""
        return any(f"?{name}" in f"{self.select} {self.outer} {self.order}" for name in ("score", "known"))

    def exact(self) -> str:
        """The whole question as SPARQL for an exact engine."""
        distinct = "DISTINCT " if self.is_distinct else ""
        tail = f"{self.group_by} {self.having} {self.order}"
        return f"{self.prologue} SELECT {distinct}{self.select} WHERE {self.group} {tail}"

    def known_groups(self, *, with_having: bool) -> str:
        """The groups that the graph knows, as SPARQL; with all of them or those that pass HAVING."""
        having = self.having if with_having else ""
        keys = " ".join(f"?{key}" for key in self.grouping.keys) if self.grouping else ""
        aggregates = f"{self.aggregates} {self._count_of_having()}"
        return f"{self.prologue} SELECT {keys} {aggregates} WHERE {self.group} {self.group_by} {having}"

    def _count_of_having(self) -> str:
        """The count that HAVING compares, as SPARQL, unless it is a column."""
        having = self.grouping.having if self.grouping else None
        if having is None or having.counted.name:
            return ""
        return f"({having.counted.text} AS ?{HAVING_COUNT})"

    def around(self, table: str) -> str:
        """What is computed from a table of solutions, as SPARQL."""
        names = [f"?{name}" for name in ("score", "known")]
        if self.grouping is None:
            order = f"{self.order or 'ORDER BY'} DESC(?known) DESC(?score)"
            more = [] if self.select == "*" else [name for name in names if name not in self.select.split()]
            shown = " ".join([self.select, *more])
        else:
            counted = [one.variable for one in self.grouping.counts if one.variable is not None]
            shown, order = " ".join(f"?{name}" for name in dict.fromkeys([*self.grouping.keys, *counted, "score"])), ""
        return f"{self.prologue} SELECT {shown} WHERE {{ {table} {self.outer} }} {order}"
