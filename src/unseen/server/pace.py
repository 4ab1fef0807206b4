"""How long the model takes: seconds for a unit of work, measured as it goes.

A unit is one relation step on one edge of the graph; a step on any graph also costs what 10,000 edges do. What was
measured lately counts most, so the pace follows the machine and the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

GUESS = 4e-6
"""Seconds for a unit before anything is measured: a network on two cores that have other work too."""
FIXED = 10_000
"""Units of a step on the smallest graph."""
PART = 300_000
"""Edges of a part of a large graph."""
KEPT = 0.8
"""How much of what was known still counts after one more measurement."""


def units_of(graph: KnowledgeGraph, steps: int, *, in_parts: bool = False) -> int:
    """The work of so many relation steps on a graph, of which a step reads all edges or only a part of bounded size."""
    read = (
        min(graph.num_triples, PART) + graph.num_entities // 8 if in_parts else graph.num_triples + graph.num_entities
    )
    return steps * (read + FIXED)


class Pace:
    """Seconds for a unit of work; read by one thread and measured by another."""

    def __init__(self, guess: float = GUESS) -> None:
        self._seconds_and_units = (guess, 1.0)

    @property
    def seconds(self) -> float:
        """Seconds for a unit."""
        seconds, units = self._seconds_and_units
        return seconds / units

    def note(self, units: float, seconds: float) -> None:
        """Record that `units` of work took `seconds`."""
        old_seconds, old_units = self._seconds_and_units
        self._seconds_and_units = (KEPT * old_seconds + seconds, KEPT * old_units + units)

    def note_unfinished(self, units: float, seconds: float) -> None:
        """Take in that so many units were not done after so long: that says something only if it is long."""
        if seconds > units * self.seconds:
            self.note(units, seconds)
