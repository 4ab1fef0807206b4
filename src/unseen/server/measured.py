"""What a predictor answers on, and how long its answers take, in a form that travels between processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.server.learning_values import LearningValues
    from unseen.server.pace import Pace


class Content(Protocol):
    """A graph that changes, and a number that grows with every change."""

    @property
    def graph(self) -> KnowledgeGraph: ...  # noqa: D102
    @property
    def version(self) -> int: ...  # noqa: D102


class MeasuredPaces(NamedTuple):
    """Measured speeds of a process."""

    paces: dict[tuple[bool, bool], Pace]
    """As `Predictor` keeps them."""
    explaining: Pace
    values: LearningValues
    learned: frozenset[int]
    """The attributes whose values it predicts at once."""
