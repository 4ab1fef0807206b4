"""The steps by which the graph came to be what it is: a copy that is one of its earlier states can go them too.

A step takes the next place. Where a graph was rebuilt (a bulk load) there is a cut: a copy from before it has to be
made anew too. Steps are kept only for those who follow.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.graph.deltas import Delta

MOST_STEPS = 64
"""Steps that are kept: to go one takes about as long as to sort all edges."""
MOST_FACTS = 200_000
"""Facts that came and went in all steps that are kept."""


@dataclass(frozen=True)
class GraphState:
    """A graph, its place, and the steps to it from an earlier place."""

    graph: KnowledgeGraph
    place: int
    steps: list[Delta] | None
    """None if nobody knows them any more."""


class GraphSteps:
    """The last steps, kept from the first time on that somebody asks for them; whoever calls this holds a lock."""

    def __init__(self) -> None:
        self.place = 0
        """The place of the last step or cut."""
        self._steps: deque[Delta] = deque()
        self._facts = 0
        self._is_followed = False

    def note(self, step: Delta) -> None:
        """Keep a step."""
        self.place += 1
        if self._is_followed:
            self._steps.append(step)
            self._facts += _facts_of(step)
            while len(self._steps) > MOST_STEPS or self._facts > MOST_FACTS:
                self._facts -= _facts_of(self._steps.popleft())

    def cut(self) -> None:
        """Note that the graph was rebuilt."""
        self.place += 1
        self._steps.clear()
        self._facts = 0

    def after(self, place: int | None) -> list[Delta] | None:
        """The steps after a place; None if they are not known."""
        self._is_followed = True
        missing = None if place is None else self.place - place
        if missing is None or missing > len(self._steps):
            return None
        return list(self._steps)[len(self._steps) - missing :]


def _facts_of(step: Delta) -> int:
    values = sum(len(rows) for rows in (step.values_added, step.values_removed) if rows is not None)
    return len(step.added) + len(step.removed) + len(step.labels) + values
