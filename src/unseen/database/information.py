"""What a database holds, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.database.folder import FORMAT

if TYPE_CHECKING:
    from unseen.database.database import Database


def information(database: Database) -> dict[str, int | bool | str]:
    """Counts of the graph, of all statements, of named graphs; bytes on disk; the format."""
    graph = database.graph
    return {
        "path": str(database.path),
        "entities": graph.num_entities,
        "relations": graph.num_relations,
        "triples": graph.num_triples,
        "values": len(graph.attributes),
        "statements": database.triples.size(),
        "named_graphs": len(database.triples.graph_names()),
        "bytes": sum(path.stat().st_size for path in database.path.rglob("*") if path.is_file()),
        "literals": database.settings.literals,
        "format": FORMAT,
    }
