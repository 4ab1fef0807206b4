"""The last changes in order, which bring a copy of the triples up to date.

A change takes the next place. What statements of the default graph cannot tell (a bulk load, an update of named graphs,
a failure) or what is too much to keep is a cut: a copy that was made before it has to be rebuilt.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unseen.database.journal import Change

MOST_BYTES = 1 << 20
"""Characters of statements that are kept; a reader takes them in within a twentieth of a second."""
BYTES_OF_A_STATEMENT = 16
"""What a statement counts beside its characters."""


class RecentChanges:
    """Changes since the last cut."""

    def __init__(self) -> None:
        self.place = 0
        """The place of the last change or cut."""
        self.noted = 0
        """How many changes were noted, those that touch nothing included."""
        self._cut, self._bytes = 0, 0
        self._changes: list[Change] = []
        self._lock = Lock()

    def note(self, change: Change) -> None:
        """Keep a change that the triples show."""
        with self._lock:
            self.noted += 1
            if change.size == 0:
                return
            self._changes.append(change)
            self._bytes += _bytes_of(change)
            self.place += 1
            if self._bytes > MOST_BYTES:
                self._forget()

    def cut(self) -> None:
        """Say that the triples may have changed in a way that is not kept."""
        with self._lock:
            self.place += 1
            self._forget()

    def after(self, place: int) -> list[Change] | None:
        """The changes after a place; None if there was a cut."""
        with self._lock:
            return None if place < self._cut else self._changes[place - self._cut :]

    def _forget(self) -> None:
        self._cut, self._bytes, self._changes = self.place, 0, []


def _bytes_of(change: Change) -> int:
    statements = (*change.removed, *change.added)
    return sum(BYTES_OF_A_STATEMENT + sum(map(len, statement)) for statement in statements)
