"""Imports a SPARQL endpoint into a database, completely or not yet; an interrupted import continues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unseen.database.importing.endpoint import Endpoint
from unseen.database.importing.import_state import ImportState, Wish
from unseen.database.importing.paging import PAGE_SIZE, Pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from unseen.database.database import Database
    from unseen.graph.files.readers import ReadReport


def is_address(source: str) -> bool:
    """Whether a source is on the web."""
    return source.lower().startswith(("http://", "https://"))


def folder_beside(database: Path) -> Path:
    """The folder where an import keeps its pages."""
    return database.with_name(f"{database.name}.import")


@dataclass(frozen=True)
class Import:
    """What to import, and how."""

    url: str
    graph: str | None = None
    """A named graph; None: the default graph."""
    only: str | None = None
    """A SPARQL pattern that the subject ?s has to match."""
    page_size: int = PAGE_SIZE
    skip_errors: bool = False
    progress: Callable[[int, int], None] = lambda _done, _total: None
    note: Callable[[str], None] = lambda _: None
    sleep: Callable[[float], None] | None = field(default=None, repr=False)

    def fetched(self, database: Path) -> ImportState:
        """Everything in a folder beside the database, which need not be open."""
        endpoint = Endpoint(self.url, note=self.note)
        if self.sleep is not None:
            endpoint.sleep = self.sleep
        state = ImportState.opened(folder_beside(database), Wish(endpoint.url, self.graph, self.only))
        if state.is_planned:
            self.note(f"going on after {state.received:,} of {state.expected:,} statements")
        Pages(endpoint, state, self.progress, self.note, self.page_size, self.skip_errors).fetch()
        return state

    def into(self, database: Database, state: ImportState) -> ReadReport:
        """Load what was fetched, and forget how it came."""
        report = database.load([state.file], skip_errors=self.skip_errors)
        state.remove()
        if state.total > state.expected:
            left_out = state.total - state.expected
            self.note(f"{left_out:,} statements with blank nodes were left out; a dump of the endpoint has them")
        return report
