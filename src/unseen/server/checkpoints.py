"""Frozen copies of the store for readers: made when someone asks after a write, one for all who wait."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from unseen.errors import DatabaseError, shorten

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from unseen.database import Database
    from unseen.server.spool import Spool


@dataclass(frozen=True)
class Checkpoint:
    """A copy, and which changes are in it."""

    path: Path
    prefixes: dict[str, str]
    changes: int
    version: int


class Checkpoints:
    """The newest copy of a database's store."""

    def __init__(self, database: Database, spool: Spool, thread: Executor) -> None:
        self._database, self._spool, self._thread = database, spool, thread
        self.newest: Checkpoint | None = None
        self.made = 0
        self._older: list[Path] = []
        self._making: asyncio.Task[Checkpoint] | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether the newest copy has every write that is done."""
        newest = self.newest
        return newest is not None and self._has(newest, self._database.settled, self._database.version)

    @property
    def has_older(self) -> bool:
        """Whether there are copies besides the newest."""
        return bool(self._older)

    async def fresh(self) -> Checkpoint:
        """A copy with every write that was done before this call."""
        changes, version = self._database.settled, self._database.version
        while self.newest is None or not self._has(self.newest, changes, version):
            if self._making is None:
                self._making = asyncio.create_task(self._make())
            await asyncio.shield(self._making)
        return self.newest

    async def _make(self) -> Checkpoint:
        try:
            loop = asyncio.get_running_loop()
            older = self.newest
            self.newest = await loop.run_in_executor(self._thread, self._copied)
            if older is not None:
                self._older.append(older.path)
            self.made += 1
            return self.newest
        finally:
            self._making = None

    def _copied(self) -> Checkpoint:
        triples, path = self._database.triples, self._spool.path("checkpoint")
        changes, version = triples.changes, self._database.version
        try:
            triples.backup(path)
            self._database.catch_up()  # what exact queries see, the graph shows too
        except (OSError, RuntimeError) as error:
            raise DatabaseError(f"the store could not be read: {shorten(str(error), 200)}") from error
        return Checkpoint(path, self._same_prefixes(), changes, version)

    def _same_prefixes(self) -> dict[str, str]:
        """The prefixes of the database; the same object as long as they are the same."""
        prefixes = self._database.prefixes
        return self.newest.prefixes if self.newest is not None and self.newest.prefixes == prefixes else prefixes

    def _has(self, checkpoint: Checkpoint, changes: int, version: int) -> bool:
        return checkpoint.changes >= changes and checkpoint.version >= version

    async def remove_unused(self, used: set[Path | None]) -> None:
        """Delete the older copies that nobody reads any more."""
        for path in [path for path in self._older if path not in used]:
            self._older.remove(path)
            await asyncio.get_running_loop().run_in_executor(self._thread, partial(shutil.rmtree, path, True))
