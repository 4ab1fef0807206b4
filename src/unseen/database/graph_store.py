"""Whole graphs in and out: what the SPARQL 1.1 Graph Store Protocol asks for.

`None` names the default graph, the one that models read. Named graphs are for exact SPARQL only. Statements come as
lines of N-Triples that the engine has written (`documents`), in memory or in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.database.exact_sparql import refusing, run
from unseen.database.graph_file import GraphFile, cleared
from unseen.database.journal import MOST_JOURNALED, Change
from unseen.database.update_text import ANYTHING_CHANGED, TracedUpdate, traced

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.database.database import Database
    from unseen.database.journal import Statement


MOST_BYTES = 4 << 20
"""Bytes of statements that are journaled; more are loaded in bulk."""


@dataclass(frozen=True)
class Lines:
    """Lines of N-Triples, each one statement as the engine writes it: in memory or, if they are many, in a file."""

    count: int
    data: bytes = b""
    file: Path | None = None

    @property
    def are_many(self) -> bool:
        """Whether they are too many to be journaled."""
        return self.file is not None and (self.count > MOST_JOURNALED or self.file.stat().st_size > MOST_BYTES)

    def text(self) -> str:
        """All of them."""
        return (self.data if self.file is None else self.file.read_bytes()).decode()

    def statements(self) -> list[Statement]:
        """Each as its three terms; none but the last has a blank in it."""
        found: list[Statement] = []
        for line in self.text().split("\n")[:-1]:
            subject, predicate, value = line.removesuffix(" .").split(" ", 2)
            found.append((subject, predicate, value))
        return found


def exists(database: Database, graph: str | None) -> bool:
    """Whether there is such a graph; the default one always is."""
    return graph is None or f"<{graph}>" in database.triples.graph_names()


def add(database: Database, graph: str | None, lines: Lines) -> None:
    """Add statements to a graph; many at once are loaded in bulk."""
    if graph is not None:
        _insert(database, graph, lines)
    elif lines.are_many and lines.file is not None:
        database.load([lines.file])
    else:
        statements = lines.statements()
        there = database.triples.has(statements)
        new = dict.fromkeys(s for s, known in zip(statements, there, strict=True) if not known)
        database.change(Change(added=tuple(new)))


def replace(database: Database, graph: str | None, lines: Lines) -> None:
    """Make a graph hold these statements and no others."""
    _insert(database, graph, lines, replaces=True)


def delete(database: Database, graph: str | None) -> None:
    """Remove a graph; the default one becomes empty."""
    run(database, traced("CLEAR DEFAULT" if graph is None else f"DROP GRAPH <{graph}>"))


def _insert(database: Database, graph: str | None, lines: Lines, *, replaces: bool = False) -> None:
    """Statements in a file are read by the engine only; few are an update."""
    if lines.file is not None:
        with refusing():
            database.put(GraphFile(lines.file, graph, replaces))
        return
    text = lines.text()
    added = f"INSERT DATA {{ {text} }}" if graph is None else f"INSERT DATA {{ GRAPH <{graph}> {{ {text} }} }}"
    parts = [*([cleared(graph)] if replaces else []), added, *([ANYTHING_CHANGED] if graph is None else [])]
    run(database, TracedUpdate(" ;\n".join(parts), names_graphs=True))
