"""A temporary database, for serving files."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.database.database import Database
from unseen.database.triples import Triples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@contextmanager
def temporary_database(
    sources: Sequence[str | Path],
    *,
    progress: Callable[[int, int], None] | None = None,
    values: Sequence[str | Path] = (),
    open_triples: Callable[[Path], Triples] = Triples,
) -> Iterator[Database]:
    """A database with the graph of some files; its folder is removed in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="unseen-", ignore_cleanup_errors=True) as folder,
        Database.create(Path(folder) / "graph.db", open_triples=open_triples) as database,
    ):
        database.load(sources, progress=progress, values=values)
        yield database
