"""Statements for one graph in a file: however many they are, only the process that writes them reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.database.reserved import ANYTHING, TOUCHED
from unseen.database.update_text import ANYTHING_CHANGED
from unseen.database.write_numbers import lines_of_update

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class GraphFile:
    """Lines of N-Triples to be added to a graph, or to become all that it holds; None is the default graph."""

    file: Path
    graph: str | None
    replaces: bool

    def update_around(self) -> tuple[str, str]:
        """What stands before and after the lines in the update that replaces the graph."""
        if self.graph is None:
            return f"{cleared(None)} ;\nINSERT DATA {{\n", f"}} ;\n{ANYTHING_CHANGED}"
        return f"{cleared(self.graph)} ;\nINSERT DATA {{ GRAPH <{self.graph}> {{\n", "} }"

    def last_lines(self, number: int) -> str:
        """The lines of N-Quads that end a bulk load of the graph: the number of the change, and its trace."""
        anything = f"<{ANYTHING}> <{ANYTHING}> <{ANYTHING}> <{TOUCHED}> .\n" if self.graph is None else ""
        return lines_of_update(number) + anything


def cleared(graph: str | None) -> str:
    """The update that leaves a graph there and empty."""
    return "CLEAR SILENT DEFAULT" if graph is None else f"DROP SILENT GRAPH <{graph}>; CREATE GRAPH <{graph}>"
