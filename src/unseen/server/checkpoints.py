"""Frozen copies of the store for readers, and the changes since; a new copy is made when these do not tell all."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from unseen.database.engine.operations import lines_of
from unseen.errors import DatabaseError, shorten

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from unseen.database import Database
    from unseen.database.journal import Change
    from unseen.database.recent_changes import RecentChanges
    from unseen.server.spool import Spool


@dataclass(eq=False)
class Checkpoint:
    """A copy, and the changes since it was begun."""

    path: Path
    prefixes: dict[str, str]
    place: int
    """The last change that is in it for certain; see `RecentChanges`."""
    _changes: list[Change] = field(default_factory=list)

    @property
    def reached(self) -> int:
        """The last change that readers of this copy can be shown."""
        return self.place + len(self._changes)

    def follow(self, recent: RecentChanges) -> bool:
        """Apply the changes; returns whether that is possible."""
        found = recent.after(self.reached)
        if found:
            self._changes += found
        return found is not None

    def lines_after(self, place: int) -> tuple[bytes, bytes]:
        """The statements removed and added since a place, as N-Triples.

        The copy may hold some of it already, because writes go on while it is made; applied to that, the result is
        the same.
        """
        last: dict[tuple[str, str, str], bool] = {}
        for change in self._changes[place - self.place :]:
            last |= dict.fromkeys(change.removed, False) | dict.fromkeys(change.added, True)
        gone = lines_of(statement for statement, is_there in last.items() if not is_there)
        return gone, lines_of(statement for statement, is_there in last.items() if is_there)


class Checkpoints:
    """The newest copy of a database's store."""

    def __init__(self, database: Database, spool: Spool, thread: Executor) -> None:
        self._database, self._spool, self._thread = database, spool, thread
        self.newest: Checkpoint | None = None
        self.made = 0
        self._older: list[Path] = []
        self._is_given_up = False
        self._making: asyncio.Task[None] | None = None

    def follow(self) -> bool:
        """Take in what has changed; whether the newest copy and its changes now have every write that is done."""
        if self.newest is None:
            return False
        self.newest.prefixes = self._database.prefixes
        return self.newest.follow(self._database.recent) and not self._is_given_up

    @property
    def prefixes(self) -> dict[str, str]:
        """Prefixes that texts need not declare."""
        return self._database.prefixes

    @property
    def has_older(self) -> bool:
        """Whether there are copies besides the newest."""
        return bool(self._older)

    async def fresh(self) -> None:
        """Wait for a copy that has, with its changes, every write that was done before this call."""
        place = self._database.recent.place
        while not self.follow() and (self._is_given_up or self.newest is None or self.newest.reached < place):
            if self._making is None:
                self._making = asyncio.create_task(self._make())
            await asyncio.shield(self._making)

    def give_up(self) -> None:
        """Have a new copy made, because a reader could not bring this one up to date; others read it until then."""
        self._is_given_up = True

    async def _make(self) -> None:
        try:
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(self._thread, self._copied)
            if self.newest is not None:
                self._older.append(self.newest.path)
            self.newest, self._is_given_up = made, False
            self.made += 1
        finally:
            self._making = None

    def _copied(self) -> Checkpoint:
        path, place = self._spool.path("checkpoint"), self._database.recent.place
        try:
            self._database.triples.backup(path)
            self._database.catch_up()  # what exact queries see, the graph shows too
        except (OSError, RuntimeError) as error:
            raise DatabaseError(f"the store could not be read: {shorten(str(error), 200)}") from error
        return Checkpoint(path, self._database.prefixes, place)

    async def remove_unused(self, used: set[Path | None]) -> None:
        """Delete older copies without readers."""
        for path in [path for path in self._older if path not in used]:
            self._older.remove(path)
            await asyncio.get_running_loop().run_in_executor(self._thread, partial(shutil.rmtree, path, True))
