"""The folder of a database: what lies where, which format it has, and who may open it.

```
database.json       the format version, and whether literals are entities
lock                held by the one process that has the database open
current.json        the snapshot and journal in use, and the last change in the snapshot; replaced in one step
triples/            pyoxigraph's files: the source of truth
snapshot-000007/    arrays and names as of some change
journal-000007      what changed since
counts.json         by how many statements triples and graph differ, to see when one has missed something
closed.json         how the files of `triples` looked when a large database was closed; gone while it is open
adjacency/          the edges of a large graph as predictions read them, made when first needed; may be deleted
rules.safetensors   rules mined from the graph, if anyone predicted with them; may be deleted
weights.safetensors what the graph adds to the weights of a model, likewise
damaged-...         what was found damaged and set aside; nobody reads or deletes it
```

JSON files carry a checksum of what they say. Format 1 had none, and a file `incomplete` during bulk loads.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.errors import DatabaseDamaged, DatabaseError, DatabaseInUse
from unseen.graph.files.atomic_file import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FORMAT = 2
UPGRADES: dict[int, Callable[[Path], None]] = {1: lambda _: None}
"""How a folder of format n becomes one of format n + 1; run in order when an old database is opened.

Files of format 1 are read as they are, and replaced when the first snapshot is written.
"""
REPAIR = "Nothing was deleted. Restore a backup, or run `unseen db repair` to continue with the intact parts"
PATIENCE = 1.0
"""Seconds to wait for a process that is just ending."""


@dataclass(frozen=True)
class Settings:
    """What was decided when the database was made."""

    literals: bool = False
    """Whether RDF literals are entities of the graph that models read."""


@dataclass(frozen=True)
class Counts:
    """How many statements the graph has no edge for, and how many of those could be edges (two IRIs of one name)."""

    others: int = 0
    missing: int = 0


@dataclass(frozen=True)
class Current:
    """The snapshot and journal in use."""

    snapshot: int = 0
    """Its number; 0 if there is none yet."""
    number: int | None = None
    """The last change in the snapshot; None if it was written before changes had numbers."""


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
    def current(self) -> Current:
        """The snapshot and journal in use."""
        path = self.path / "current.json"
        found = read_json(path) if path.exists() else {}
        return Current(int(found.get("snapshot", 0)), found.get("number"))

    def make_current(self, current: Current, settings: Settings) -> None:
        """From now on this snapshot and its journal are the ones in use."""
        described = {"snapshot": current.snapshot, "number": current.number, "literals": settings.literals}
        write_json(self.path / "current.json", described)

    @property
    def counts(self) -> Counts:
        """How triples and graph differed at the last comparison; zero if unknown."""
        try:
            found = read_json(self.path / "counts.json")
        except DatabaseError:
            found = {}
        return Counts(int(found.get("others", 0)), int(found.get("missing", 0)))

    def note_counts(self, counts: Counts) -> None:
        """Remember by how much triples and graph differ."""
        write_json(self.path / "counts.json", {"others": counts.others, "missing": counts.missing})

    def set_aside(self, path: Path) -> Path:
        """Rename a damaged file or folder to keep it unused; returns its new name."""
        number, target = 1, self.path / f"damaged-{path.name}"
        while target.exists():
            number += 1
            target = self.path / f"damaged-{path.name}-{number}"
        path.rename(target)
        sync_folder(self.path)
        return target


def is_database(path: Path) -> bool:
    """Whether a path is the folder of a database."""
    return (path / "database.json").is_file()


def create(path: Path, settings: Settings) -> Folder:
    """A new, empty folder; one that holds anything is refused."""
    if is_database(path):
        raise DatabaseError("is a database already; `unseen db load` adds to it", path=path)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DatabaseError("already exists and is not a database; name a new folder", path=path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(f"cannot be made: {error.strerror or error}", path=path) from error
    folder = Folder(path)
    folder.make_current(Current(), settings)
    describe(path, settings)
    return folder


def describe(path: Path, settings: Settings) -> None:
    """Write the file that makes a folder a database."""
    write_json(path / "database.json", {"format": FORMAT, "literals": settings.literals})


def require(path: Path) -> None:
    """Refuse a path that is not a database."""
    if not is_database(path):
        raise DatabaseError("is not a database; `unseen db create` makes one", path=path)


def opened(path: Path) -> tuple[Folder, Settings]:
    """The folder of an existing database, brought to the format of this version; whoever calls holds its lock."""
    described = read_json(path / "database.json")
    found = described.get("format")
    if not isinstance(found, int) or not 1 <= found <= FORMAT:
        problem = f"has format {found}, and this version of unseen reads up to {FORMAT}; install a newer one"
        raise DatabaseError(problem, path=path)
    folder = Folder(path)
    _check_files(folder, found)
    for number in range(found, FORMAT):
        UPGRADES[number](path)
        described["format"] = number + 1
        write_json(path / "database.json", described)
    return folder, Settings(bool(described.get("literals", False)))


def _check_files(folder: Folder, found: int) -> None:
    """Refuse a folder that lacks what it must have: opening it would begin an empty database."""
    if found > 1 and not (folder.path / "current.json").exists():
        raise DatabaseDamaged(f"is missing. {REPAIR}", path=folder.path / "current.json")
    current = folder.current
    if current.snapshot == 0:
        return
    if not (folder.triples / "CURRENT").is_file():
        problem = "is damaged: its folder `triples` is missing or empty. Nothing was changed; restore it from a backup"
        raise DatabaseDamaged(problem, path=folder.path)
    if not folder.journal(current.snapshot).is_file():
        raise DatabaseDamaged(f"is missing. {REPAIR}", path=folder.journal(current.snapshot))


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


def read_json(path: Path, remedy: str = f". {REPAIR}") -> dict[str, Any]:
    """A JSON object whose checksum fits; files of format 1 have none."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DatabaseDamaged(f"is damaged: {error}{remedy}", path=path) from None
    if not isinstance(value, dict):
        raise DatabaseDamaged(f"is damaged: it is not a JSON object{remedy}", path=path)
    checksum = value.pop("checksum", None)
    if checksum is None and (value.get("format", 1) != 1 or not {"number", "files"}.isdisjoint(value)):
        raise DatabaseDamaged(f"is damaged: it has no checksum{remedy}", path=path)
    if checksum is not None and checksum != _checksum(value):
        raise DatabaseDamaged(f"is damaged: its checksum does not fit{remedy}", path=path)
    return value


def as_json(value: dict[str, Any]) -> bytes:
    """A JSON object with its checksum."""
    return json.dumps({**value, "checksum": _checksum(value)}).encode() + b"\n"


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file by a JSON object with its checksum, for good."""
    with replacing(path) as stream:
        stream.write(as_json(value))
    sync_folder(path.parent)


def _checksum(value: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(value, sort_keys=True).encode())
