"""The graph for replicas: a base on disk that all of them map into memory, and the steps since."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from unseen.database.snapshots import write_snapshot
from unseen.rules.origins import has_source, source_of
from unseen.server.replicas.packing import Base

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from unseen.database import Database

MOST_STEPS = 16
"""Steps from the base to the graph of now beyond which a replica that starts gets a new base."""


class GraphFeed:
    """The newest base; `folder` is that of the running server inside of its database."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database, self._folder = database, folder
        self._lock = Lock()
        self._base: Base | None = None

    @contextmanager
    def base(self) -> Iterator[Base]:
        """A base that leads to the graph of now; it stays on disk while the block runs, and mapped after that."""
        with self._lock:
            state = self._database.graph_after(None if self._base is None else self._base.place)
            if self._base is None or state.steps is None or len(state.steps) > MOST_STEPS:
                path = self._folder / f"graph-{state.place}"
                write_snapshot(state.graph, path)
                if self._base is not None:
                    shutil.rmtree(self._base.path, ignore_errors=True)
                is_sourced = has_source(state.graph)
                source = source_of(state.graph) if is_sourced else None
                self._base = Base(str(path), state.place, is_sourced, None if source is None else str(source))
            yield self._base
