"""The one order of all changes: every change has a number, in the journal and in the triples.

The number of a change is written into the triples by the transaction that carries the change out, so that the triples
always say up to which change they are complete. An update also leaves its number with its trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.database.reserved import CHANGE, LOADED, NUMBER, STATE, TOUCHED

if TYPE_CHECKING:
    from unseen.database.journal import Change

_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


@dataclass(frozen=True)
class Marks:
    """What the triples say about themselves."""

    number: int | None = None
    """The last change that they hold; None if they were written before changes had numbers."""
    loaded: int = 0
    """The last change that was a bulk load."""


@dataclass(frozen=True)
class Trace:
    """What an update has touched."""

    number: int | None
    """The number of the update; None if it was written before changes had numbers."""
    change: Change | None
    """The statements as they are now; None if the update may have touched anything."""


def numbered(text: str, number: int, loaded: int) -> str:
    """An update followed by its number, in the same transaction; the text ends with an operation.

    The number of the last bulk load is written again, because the update may drop all graphs.
    """
    own = f"<{CHANGE}> <{NUMBER}> {number}"
    load = f". <{CHANGE}> <{LOADED}> {loaded}" if loaded else ""
    return f"{text}\n;\nINSERT DATA {{ GRAPH <{STATE}> {{ {own} {load} }} GRAPH <{TOUCHED}> {{ {own} }} }}"


def only_number(number: int) -> str:
    """The update that replaces all numbers of changes by one."""
    cleared = f"DELETE WHERE {{ GRAPH <{STATE}> {{ <{CHANGE}> <{NUMBER}> ?number }} }}"
    return f"{cleared} ;\nINSERT DATA {{ GRAPH <{STATE}> {{ <{CHANGE}> <{NUMBER}> {number} }} }}"


def lines_of_load(number: int) -> str:
    """The lines that an N-Quads file ends with to say which change its load is."""
    return "".join(f'<{CHANGE}> <{predicate}> "{number}"^^<{_INTEGER}> <{STATE}> .\n' for predicate in (NUMBER, LOADED))


def lines_of_update(number: int) -> str:
    """The lines that an N-Quads file ends with to say which change it is, with a trace that names no statement."""
    return "".join(f'<{CHANGE}> <{NUMBER}> "{number}"^^<{_INTEGER}> <{graph}> .\n' for graph in (STATE, TOUCHED))
