"""The progress of an import: a folder beside the database, from which the next run continues.

`statements.nt` grows page by page. `state.json` says how many of its bytes count and what comes next; it is replaced
in one step after each page, so whatever ends a run leaves the last whole page.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.errors import DatabaseError
from unseen.graph.files.atomic_file import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

VERSION = 1


@dataclass(frozen=True)
class Wish:
    """What is imported; a folder of another wish is not gone on with."""

    url: str
    graph: str | None = None
    only: str | None = None


@dataclass
class Predicate:
    """The statements of one predicate."""

    iri: str
    count: int
    """How many there are, by the endpoint."""
    received: int = 0
    start: int = 0
    """Where its first statement begins in the file."""
    after: str | None = None
    """The subject at which the next page begins; None at the beginning."""
    is_past: bool = False
    """Whether the page begins after that subject, all of whose statements have come."""
    offset: int | None = None
    """How many statements of that subject have come, if it has too many for a page."""
    is_done: bool = False
    restarts: int = 0

    def restart(self) -> None:
        """Begin again."""
        self.received, self.after, self.is_past, self.offset = 0, None, False, None
        self.restarts += 1


@dataclass
class ImportState:
    """An import that is under way."""

    folder: Path
    wish: Wish
    total: int = 0
    """Statements at the endpoint, those with blank nodes included."""
    length: int = 0
    """Bytes of the file that count."""
    page_size: int = 0
    predicates: list[Predicate] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The statements that have come."""
        return self.folder / "statements.nt"

    @property
    def received(self) -> int:
        """How many statements have come."""
        return sum(predicate.received for predicate in self.predicates)

    @property
    def expected(self) -> int:
        """How many statements are to come in all."""
        return sum(predicate.count for predicate in self.predicates)

    @property
    def is_planned(self) -> bool:
        """Whether the plan of the import is known."""
        return self.page_size > 0

    @classmethod
    def opened(cls, folder: Path, wish: Wish) -> ImportState:
        """What an earlier run of the same import has left, or a new beginning."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            about = json.loads((folder / "state.json").read_bytes())
        except FileNotFoundError:
            return cls(folder, wish)
        except (OSError, ValueError) as error:
            raise DatabaseError(f"cannot be read ({error}); delete the folder to start again", path=folder) from None
        if about.pop("version", None) != VERSION or Wish(**about["wish"]) != wish:
            raise DatabaseError(
                "holds another import that was not finished; finish it with its own options, or delete the folder",
                path=folder,
            )
        predicates = [Predicate(**one) for one in about.pop("predicates")]
        return cls(folder, wish, predicates=predicates, **{k: v for k, v in about.items() if k != "wish"})

    def append(self, lines: Iterable[str]) -> None:
        """Write further statements behind those that count."""
        data = "".join(lines).encode()
        with self.file.open("r+b" if self.file.exists() else "w+b") as stream:
            stream.truncate(self.length)
            stream.seek(self.length)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        self.length += len(data)

    def different_lines(self, start: int) -> int:
        """How many different statements there are from a place of the file on."""
        with self.file.open("rb") as stream:
            stream.seek(start)
            return len(np.unique(np.fromiter(map(hash, stream), np.int64)))

    def save(self) -> None:
        """Let all that has come count."""
        about: dict[str, Any] = {"version": VERSION, "wish": asdict(self.wish)}
        about |= {name: getattr(self, name) for name in ("total", "length", "page_size")}
        about["predicates"] = [asdict(predicate) for predicate in self.predicates]
        with replacing(self.folder / "state.json") as stream:
            stream.write(json.dumps(about).encode())

    def cut(self) -> None:
        """Make the file end where its statements end."""
        self.append(())

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
