"""The journal: what changed since the last snapshot, on disk before anyone is told that it was done.

One line a change: eight hexadecimal digits of a checksum, a space, JSON. A line that a dying machine left unfinished is
dropped when the journal is opened; it was never acknowledged. Cost of a change: one write, one fsync.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.errors import DatabaseError, DiskFull

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Statement = tuple[str, str, str]
"""Subject, predicate and object as N-Triples writes them."""


MOST_JOURNALED = 20_000
"""Statements in a journal before a new snapshot is written: replaying them takes less than a second."""


@dataclass(frozen=True)
class Change:
    """Statements of the default graph that are gone, and statements that are there, in this order."""

    removed: tuple[Statement, ...] = ()
    added: tuple[Statement, ...] = ()

    @property
    def size(self) -> int:
        """How many statements it touches."""
        return len(self.removed) + len(self.added)


class Journal:
    """An open journal; whoever appends must be alone in doing so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changes, valid = _read(path)
        self.size = sum(change.size for change in self.changes)
        self._stream = path.open("r+b" if path.exists() else "x+b", buffering=0)
        self._end = valid
        self._cut()

    def append(self, change: Change) -> None:
        """Write a change down for good; if that fails, the journal is as it was."""
        line = _line(change)
        try:
            self._write(line)
        except OSError as error:
            self._cut()
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFull(self.path) from error
            raise DatabaseError(f"could not be written: {error.strerror or error}", path=self.path) from error
        self._end += len(line)
        self.size += change.size

    def take_back(self, change: Change) -> None:
        """Forget the change that was appended last, because it could not be carried out."""
        self._end -= len(_line(change))
        self.size -= change.size
        self._cut()

    @property
    def is_open(self) -> bool:
        """Whether it can be written."""
        return not self._stream.closed

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _write(self, line: bytes) -> None:
        self._stream.seek(self._end)
        written = 0
        while written < len(line):
            written += self._stream.write(line[written:]) or 0
        os.fsync(self._stream.fileno())

    def _cut(self) -> None:
        self._stream.truncate(self._end)


def _line(change: Change) -> bytes:
    body = json.dumps([change.removed, change.added], ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _read(path: Path) -> tuple[list[Change], int]:
    """The changes of a file, and where the last whole one ends."""
    changes, end = [], 0
    for line, position in _lines(path):
        change = _parsed(line)
        if change is None:
            break
        changes.append(change)
        end = position
    return changes, end


def _lines(path: Path) -> Iterator[tuple[bytes, int]]:
    position = 0
    if path.exists():
        with path.open("rb") as stream:
            for line in stream:
                position += len(line)
                yield line, position


def _parsed(line: bytes) -> Change | None:
    """The change of a line; None if it is not whole."""
    digits, _, body = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or digits != b"%08x" % zlib.crc32(body):
        return None
    removed, added = json.loads(body)
    return Change(tuple(map(_statement, removed)), tuple(map(_statement, added)))


def _statement(parts: list[str]) -> Statement:
    subject, predicate, value = parts
    return subject, predicate, value
