"""Exact SPARQL on a database: all of SPARQL 1.1, as pyoxigraph answers it, and updates that the graph follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.database.formats import GRAPHS, SOLUTIONS, rdf_format, results_format
from unseen.database.guard import check_query, check_update
from unseen.database.update_text import TracedUpdate, traced
from unseen.errors import DatabaseError, QueryRefused, QuerySyntaxError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.database.database import Database

_PLACE = re.compile(r"^error at (\d+):(\d+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class Results:
    """The results of a query, computed while they are written."""

    found: Any
    are_triples: bool

    @property
    def media_types(self) -> list[str]:
        """What they can be written as, the most welcome first."""
        return list(GRAPHS if self.are_triples else SOLUTIONS)

    def write(self, media_type: str, output: BinaryIO) -> None:
        """Write everything; an exception raised by `output` ends the query."""
        written_as = rdf_format(media_type, GRAPHS) if self.are_triples else results_format(media_type)
        self.found.serialize(output, written_as)


def query(
    database: Database, text: str, *, default_graphs: Sequence[str] = (), named_graphs: Sequence[str] = ()
) -> Results:
    """Start a query on what is in the database at this moment; the graphs are those of the SPARQL protocol."""
    words = check_query(text)
    rdf = database.triples.rdf
    options: dict[str, Any] = {}
    if default_graphs or named_graphs:
        options["default_graph"] = [_graph_name(rdf, iri) for iri in default_graphs]
        options["named_graphs"] = [_graph_name(rdf, iri) for iri in named_graphs]
    elif "GRAPH" in words and "FROM" not in words:
        options["named_graphs"] = database.triples.graph_names()
    try:
        found = database.triples.store.query(text, prefixes=database.prefixes, **options)
    except SyntaxError as error:
        raise syntax_error(error, text) from None
    except (ValueError, RuntimeError) as error:
        raise QueryRefused(shorten(str(error), 200)) from None
    except OSError as error:
        raise DatabaseError(f"the query failed: {shorten(str(error), 200)}") from error
    return Results(found, isinstance(found, rdf.QueryTriples))


def update(database: Database, text: str, *, using: Sequence[str] = (), using_named: Sequence[str] = ()) -> None:
    """Run an update, all or nothing; when this returns, it is durable and in every later answer."""
    check_update(text)
    rdf = database.triples.rdf
    try:
        rdf.Store().update(text, prefixes=database.prefixes)
    except SyntaxError as error:
        raise syntax_error(error, text) from None
    clauses = [str(_graph_name(rdf, iri)) for iri in using]
    clauses += [f"NAMED {_graph_name(rdf, iri)}" for iri in using_named]
    rewritten = traced(text, clauses)
    run(database, rewritten)


def run(database: Database, rewritten: TracedUpdate) -> None:
    """Run an update that traces itself."""
    try:
        database.run_traced(rewritten.text, names_graphs=rewritten.names_graphs)
    except SyntaxError as error:
        raise QueryRefused(f"the update cannot be followed: {shorten(str(error), 200)}") from None
    except (ValueError, RuntimeError) as error:
        raise QueryRefused(shorten(str(error), 200)) from None
    except OSError as error:
        raise DatabaseError(f"the update failed: {shorten(str(error), 200)}") from error


def syntax_error(error: SyntaxError, text: str) -> QuerySyntaxError:
    """A complaint of pyoxigraph's parser with its place in the text."""
    match = _PLACE.match(str(error))
    if match is None:
        return QuerySyntaxError(shorten(" ".join(str(error).split()), 120), text=text, position=0)
    line, column, problem = int(match[1]), int(match[2]), " ".join(match[3].split())
    lines = text.splitlines(keepends=True)
    position = min(sum(map(len, lines[: line - 1])) + column - 1, len(text))
    if problem.startswith("expected"):
        problem = "the text is not complete" if position >= len(text.rstrip()) else "this does not fit here"
    return QuerySyntaxError(shorten(problem, 120), text=text, position=position)


def _graph_name(rdf: Any, iri: str) -> Any:
    try:
        return rdf.NamedNode(iri)
    except ValueError:
        raise QueryRefused(f"the name of a graph must be an IRI, not {shorten(repr(iri))}") from None
