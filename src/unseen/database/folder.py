"""The folder of a database: what lies where, which format it has, and who may open it.

```
database.json       the format version, and whether literals are entities
lock                held by the one process that has the database open
current.json        the number of the snapshot and journal in use; replaced in one step
triples/            pyoxigraph's files: the truth
snapshot-000007/    arrays and names as of some moment
journal-000007      what changed since
incomplete          there while statements are loaded in bulk: if it is found, the snapshot is made anew
```
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.errors import DatabaseError, DatabaseInUse
from unseen.graph.files.atomic_file import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FORMAT = 1
UPGRADES: dict[int, Callable[[Path], None]] = {}
"""How a folder of format n becomes one of format n + 1; run in order when an old database is opened."""
PATIENCE = 1.0
"""Seconds to wait for a process that is just ending."""


@dataclass(frozen=True)
class Settings:
    """What was decided when the database was made."""

    literals: bool = False
    """Whether RDF literals are entities of the graph that models read."""


class Folder:
    """The paths of a database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.triples = path / "triples"
        self.incomplete = path / "incomplete"

    def snapshot(self, number: int) -> Path:
        """The folder of a snapshot."""
        return self.path / f"snapshot-{number:06}"

    def journal(self, number: int) -> Path:
        """The journal that follows a snapshot."""
        return self.path / f"journal-{number:06}"

    @property
    def current(self) -> int:
        """The number of the snapshot in use; 0 if there is none yet."""
        path = self.path / "current.json"
        return int(_read_json(path)["snapshot"]) if path.exists() else 0

    def make_current(self, number: int) -> None:
        """From now on this snapshot and its journal are the ones in use."""
        _write_json(self.path / "current.json", {"snapshot": number})

    def mark_incomplete(self) -> None:
        """Note, for good, that the snapshot may lack statements."""
        _write_json(self.incomplete, {})
        sync_folder(self.path)

    def mark_complete(self) -> None:
        """Take the note back."""
        self.incomplete.unlink(missing_ok=True)
        sync_folder(self.path)


def is_database(path: Path) -> bool:
    """Whether a path is the folder of a database."""
    return (path / "database.json").is_file()


def create(path: Path, settings: Settings) -> Folder:
    """A new, empty folder; one that holds anything is refused."""
    if is_database(path):
        raise DatabaseError("is a database already; `unseen db load` adds to it", path=path)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DatabaseError("is there already and is no database; name a new folder", path=path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(f"cannot be made: {error.strerror or error}", path=path) from error
    _write_json(path / "database.json", {"format": FORMAT, "literals": settings.literals})
    return Folder(path)


def opened(path: Path) -> tuple[Folder, Settings]:
    """The folder of an existing database, brought to the format of this version."""
    if not is_database(path):
        raise DatabaseError("is no database; `unseen db create` makes one", path=path)
    described = _read_json(path / "database.json")
    found = described.get("format")
    if not isinstance(found, int) or not 1 <= found <= FORMAT:
        problem = f"has format {found}, and this version of unseen reads up to {FORMAT}; install a newer one"
        raise DatabaseError(problem, path=path)
    for number in range(found, FORMAT):
        UPGRADES[number](path)
        described["format"] = number + 1
        _write_json(path / "database.json", described)
    return Folder(path), Settings(bool(described.get("literals", False)))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the database alone; an error says which process has it. The system lets go when a process dies."""
    with (path / "lock").open("a+", encoding="utf-8") as stream:
        _lock(stream.fileno(), path)
        stream.seek(0)
        stream.truncate()
        stream.write(str(os.getpid()))
        stream.flush()
        yield


def _lock(descriptor: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not a Unix: the lock of the triples themselves is all there is
        return
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                raise DatabaseInUse(path, _holder(path)) from None
            time.sleep(0.02)
        else:
            return


def _holder(path: Path) -> int | None:
    """The process that says it holds the lock."""
    try:
        return int((path / "lock").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def sync_folder(path: Path) -> None:
    """Make new, renamed and removed names in a folder last."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatabaseError(f"is damaged: {error}", path=path) from None
    if not isinstance(value, dict):
        raise DatabaseError("is damaged: it is no JSON object", path=path)
    return value


def _write_json(path: Path, value: Any) -> None:
    with replacing(path) as stream:
        stream.write(json.dumps(value).encode() + b"\n")
    sync_folder(path.parent)
