"""Whether the triples are as the last process left them that closed the database in order.

To count the statements of a large database takes seconds, and shows whether graph and triples still fit after a crash.
After an orderly end they do, so what the files of the triples looked like then is noted: names, sizes and times. It is
compared before they are opened again, which changes them, and forgotten at once. Whatever else touches a file, a crash
included, makes the next process count. Damaged blocks are found by the engine's own checksums when they are read.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from unseen.database.folder import read_json, write_json
from unseen.errors import DatabaseError

if TYPE_CHECKING:
    from unseen.database.folder import Folder
    from unseen.database.triples import Triples

FILE = "closed.json"
LARGE = 1_000_000
"""Triples from which on a database is not counted after an orderly end."""


def flushed(triples: Triples) -> bool:
    """Make the triples last; whether that was possible."""
    try:
        triples.flush()
    except (OSError, RuntimeError, DatabaseError):
        return False
    return True


def note_close(folder: Folder, num_triples: int) -> None:
    """Remember the files of so many triples, which were closed in order, if they take long to count.

    Where nothing can be written, nothing is kept.
    """
    if num_triples < LARGE:
        return
    with suppress(OSError, DatabaseError):
        write_json(folder.path / FILE, {"snapshot": folder.current.snapshot, "files": _listing(folder)})


def was_closed(folder: Folder) -> bool:
    """Whether nothing has touched the triples since; asked once, before they are opened."""
    path = folder.path / FILE
    try:
        noted = read_json(path, remedy="")
        path.unlink()
        return bool(noted == {"snapshot": folder.current.snapshot, "files": _listing(folder)})
    except (OSError, DatabaseError):
        return False


def _listing(folder: Folder) -> list[list[object]]:
    """The files that hold the triples; the engine's log and lock say nothing about them."""
    found = sorted(file for file in folder.triples.iterdir() if not file.name.startswith("LO"))
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in found]
