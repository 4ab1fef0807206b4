"""Requests of the steps that compute a table: predicted answers to its core, and exact rows of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from unseen.asking.answers import DEFAULT_TOP, Answer, Answers
from unseen.database.relation_store import term_of_key

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from unseen.asking.answers import Counted
    from unseen.graph.names import Names
    from unseen.logic.outer_form import OuterForm


@dataclass(frozen=True)
class Predicted:
    """A request for answers to the core for some variables, with given entities for others."""

    answers: tuple[str, ...]
    values: tuple[tuple[str, str], ...] = ()
    top: int = DEFAULT_TOP
    predicted_only: bool = False
    exact: bool = False


@dataclass(frozen=True)
class ExactRows:
    """A request for the exact solutions of a SELECT."""

    text: str


Wanted: TypeAlias = "Predicted | ExactRows | list[Predicted]"
Solving: TypeAlias = "Generator[Wanted, Any, Answers]"


@dataclass(frozen=True)
class Wishes:
    """The options of a table."""

    method: str
    graph: Counted
    names: Names
    top: int | None = None
    predicted_only: bool = False
    exact: bool = False

    def limit(self, form: OuterForm) -> int:
        """The number of rows to return."""
        found = [count for count in (self.top, form.limit) if count is not None]
        return min(found) if found else DEFAULT_TOP


def incomplete(found: Answers) -> tuple[str, ...]:
    """The warning about answers that may be incomplete."""
    if found.complete is not False:
        return ()
    return (
        f"not all solutions were tried: ones with a probability of at most {found.missed or 0.0:.2g} may be missing",
    )


def table_of(names: Sequence[str], answers: Sequence[Answer]) -> str:
    """Answers as VALUES of their variables, `?score` and `?known`; VALUES cannot have blank nodes."""
    rows = []
    for answer in answers:
        terms = [term_of_key(answer.keys[name] if answer.keys else answer.key) for name in names]
        if not any(term.startswith("_:") for term in terms):
            rows.append(f"({' '.join(terms)} {answer.probability:.6e} {str(answer.known).lower()})")
    return f"VALUES ({' '.join(f'?{name}' for name in (*names, 'score', 'known'))}) {{ {' '.join(rows)} }}"
