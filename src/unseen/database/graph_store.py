"""Whole graphs in and out: what the SPARQL 1.1 Graph Store Protocol asks for.

`None` names the default graph, the one that models read. Named graphs are for exact SPARQL only.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from unseen.database.exact import run
from unseen.database.formats import READABLE_GRAPHS, rdf_format
from unseen.database.journal import MOST_JOURNALED, Change
from unseen.database.statements import statement_of_quad
from unseen.database.update_text import ANYTHING_CHANGED, TracedUpdate, traced
from unseen.errors import GraphError
from unseen.graph.files.checked_parse import parse_bytes
from unseen.graph.files.oxigraph import one_line

if TYPE_CHECKING:
    from typing import BinaryIO

    from unseen.database.database import Database

BASE = "urn:unseen-document:/"


def parsed(data: bytes, media_type: str) -> list[Any]:
    """The triples of a document as quads of the default graph; blank nodes get labels that nobody has."""
    options = {"base_iri": BASE, "without_named_graphs": True, "rename_blank_nodes": True}
    try:
        return parse_bytes(data, READABLE_GRAPHS[media_type], **options)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise GraphError(f"the document is not valid: {where}{one_line(error)}") from None
    except (GraphError, ValueError) as error:
        raise GraphError(f"the document is not valid: {error}") from None


def exists(database: Database, graph: str | None) -> bool:
    """Whether there is such a graph; the default one always is."""
    return graph is None or database.triples.rdf.NamedNode(graph) in database.triples.graph_names()


def write(database: Database, graph: str | None, media_type: str, output: BinaryIO) -> None:
    """Write all statements of a graph."""
    name = None if graph is None else database.triples.rdf.NamedNode(graph)
    database.triples.dump(output, rdf_format(media_type), name)


def add(database: Database, graph: str | None, quads: list[Any]) -> None:
    """Add statements to a graph; many at once are loaded in bulk."""
    if graph is not None:
        run(database, TracedUpdate(_insertion(graph, quads), names_graphs=True))
    elif len(quads) > MOST_JOURNALED:
        _load(database, quads)
    else:
        statements = tuple(map(statement_of_quad, quads))
        there = database.triples.has(statements)
        database.change(Change(added=tuple(s for s, known in zip(statements, there, strict=True) if not known)))


def _load(database: Database, quads: list[Any]) -> None:
    file = database.path / f"posted-{secrets.token_hex(4)}.nt"
    try:
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{' '.join(statement_of_quad(quad))} .\n" for quad in quads)
        database.load([file])
    finally:
        file.unlink(missing_ok=True)


def replace(database: Database, graph: str | None, quads: list[Any]) -> None:
    """Make a graph hold these statements and no others."""
    cleared = "CLEAR SILENT DEFAULT" if graph is None else f"DROP SILENT GRAPH <{graph}>; CREATE GRAPH <{graph}>"
    run(database, TracedUpdate(f"{cleared} ;\n{_insertion(graph, quads)}{_trace_of(graph)}", names_graphs=True))


def delete(database: Database, graph: str | None) -> None:
    """Remove a graph; the default one becomes empty."""
    run(database, traced("CLEAR DEFAULT" if graph is None else f"DROP GRAPH <{graph}>"))


def _insertion(graph: str | None, quads: list[Any]) -> str:
    text = " .\n".join(" ".join(statement_of_quad(quad)) for quad in quads)
    return f"INSERT DATA {{ {text} }}" if graph is None else f"INSERT DATA {{ GRAPH <{graph}> {{ {text} }} }}"


def _trace_of(graph: str | None) -> str:
    return "" if graph is not None else f" ;\n{ANYTHING_CHANGED}"
