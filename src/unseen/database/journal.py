"""The journal: the changes since the last snapshot, on disk before they are acknowledged.

One line a change: eight hexadecimal digits of a checksum, a space, JSON with the number of the change. A change costs
one write and one fsync. A last line that a dying machine left unfinished was never acknowledged and is dropped. Any
other line that is not whole is damage: the journal is not opened, because later changes build on it.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unseen.database.folder import REPAIR
from unseen.errors import DatabaseDamaged, DatabaseError, DiskFull

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Statement = tuple[str, str, str]
"""Subject, predicate and object as N-Triples writes them."""


MOST_JOURNALED = 20_000
"""Statements in a journal before a new snapshot is written: replaying them takes less than a second."""


RESERVED_BYTES = 1 << 16


@dataclass(frozen=True)
class Change:
    """Statements of the default graph that are gone, and statements that are there, in this order."""

    removed: tuple[Statement, ...] = ()
    added: tuple[Statement, ...] = ()

    @property
    def size(self) -> int:
        """How many statements it touches."""
        return len(self.removed) + len(self.added)


@dataclass(frozen=True)
class Entry:
    """A change in the journal."""

    number: int | None
    """Its place in the order of all changes; None in journals that were written before changes had numbers."""
    change: Change
    is_flushed: bool = False
    """Whether the triples were made to last with this change before it was written down."""


@dataclass
class JournalContents:
    """What a journal file holds."""

    entries: list[Entry] = field(default_factory=list)
    end: int = 0
    """Where its last whole line ends."""
    damaged: list[tuple[int, int]] = field(default_factory=list)
    """Line number and first byte of every line that is not what was written."""
    lacks_newline: bool = False


class Journal:
    """An open journal; only one thread may append at a time."""

    def __init__(self, path: Path, *, after: int = 0) -> None:
        """Open a journal, or make it; `after` is the number of the last change before it."""
        self.path = path
        contents = read_journal(path)
        if contents.damaged:
            raise DatabaseDamaged(_damage(contents), path=path)
        self.entries = _numbered(contents.entries, after, path)
        self.last = self.entries[-1].number or 0 if self.entries else after
        self.size = sum(entry.change.size for entry in self.entries)
        self._stream = path.open("r+b" if path.exists() else "x+b", buffering=0)
        self._end, self._is_longer = contents.end, False
        self._cut()
        if contents.lacks_newline:
            self._write(b"\n")
            self._end += 1

    def append(self, entry: Entry) -> None:
        """Write a change down for good; if that fails, the journal is as it was."""
        line = _line(entry)
        try:
            self._write(line)
        except OSError as error:
            self._cut()
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFull(self.path) from error
            raise DatabaseError(f"could not be written: {error.strerror or error}", path=self.path) from error
        self._end += len(line)
        self.size += entry.change.size
        self.last = entry.number or self.last

    def reserve(self, size: int) -> None:
        """Reserve space on the disk for the next change, if the system supports it; nothing is written."""
        try:
            os.posix_fallocate(self._stream.fileno(), self._end, size + RESERVED_BYTES)
        except AttributeError:  # not a Linux: whether there is space shows when it is written
            return
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFull(self.path) from error
        finally:
            self._cut()

    def take_back(self, entry: Entry) -> None:
        """Forget the change that was appended last, for good, because it could not be carried out."""
        self._end -= len(_line(entry))
        self.size -= entry.change.size
        self._cut()
        os.fsync(self._stream.fileno())

    def entries_after(self, number: int) -> list[Entry]:
        """The changes with larger numbers, read from the file."""
        return [entry for entry in read_journal(self.path).entries if (entry.number or 0) > number]

    @property
    def is_open(self) -> bool:
        """Whether it can be written."""
        return not self._stream.closed

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _write(self, line: bytes) -> None:
        if self._is_longer:
            self._cut()
        self._stream.seek(self._end)
        written = 0
        while written < len(line):
            written += self._stream.write(line[written:]) or 0
        os.fsync(self._stream.fileno())

    def _cut(self) -> None:
        """Remove what stands after the last whole line; if that fails, before the next one is written."""
        self._is_longer = True
        self._stream.truncate(self._end)
        self._is_longer = False


def read_journal(path: Path) -> JournalContents:
    """Everything that is whole in a journal file, and where it is damaged."""
    contents = JournalContents()
    position = 0
    for number, line in enumerate(_lines(path), start=1):
        entry = _parsed(line)
        if entry is not None:
            contents.entries.append(entry)
            contents.end = position + len(line)
            contents.lacks_newline = not line.endswith(b"\n")
        elif line.endswith(b"\n") or _parsed(line[:-1]) is not None:
            contents.damaged.append((number, position))
        position += len(line)
    return contents


def _lines(path: Path) -> Iterator[bytes]:
    if path.exists():
        with path.open("rb") as stream:
            yield from stream


def _line(entry: Entry) -> bytes:
    parts = [entry.number, entry.change.removed, entry.change.added, entry.is_flushed]
    body = json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _parsed(line: bytes) -> Entry | None:
    """The change of a line; None if it is not whole."""
    digits, _, body = line.removesuffix(b"\n").partition(b" ")
    if digits != b"%08x" % zlib.crc32(body):
        return None
    try:
        parts = json.loads(body)
    except ValueError:  # the checksum of nothing is right: eight zeros
        return None
    number, removed, added, is_flushed = parts if len(parts) == 4 else (None, *parts, False)
    return Entry(number, Change(tuple(map(_statement, removed)), tuple(map(_statement, added))), is_flushed)


def _statement(parts: list[str]) -> Statement:
    subject, predicate, value = parts
    return subject, predicate, value


def _numbered(entries: list[Entry], after: int, path: Path) -> list[Entry]:
    """Entries in the order of their numbers; old ones without a number get the next one."""
    found: list[Entry] = []
    for entry in entries:
        number = after + 1 if entry.number is None else entry.number
        if number <= after:
            raise DatabaseDamaged(f"change {number} does not belong after change {after}. {REPAIR}", path=path)
        found.append(entry if entry.number is not None else Entry(number, entry.change, entry.is_flushed))
        after = number
    return found


def _damage(contents: JournalContents) -> str:
    line, byte = contents.damaged[0]
    whole, broken = len(contents.entries), len(contents.damaged)
    first = f"line {line} (byte {byte:,}) is not what was written"
    return f"is damaged: {first}; {whole:,} changes are whole, {broken:,} are not. {REPAIR}"
