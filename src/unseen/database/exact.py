"""Exact SPARQL on a database: all of SPARQL 1.1, as pyoxigraph answers it, and updates that the graph follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.database.failures import explained, is_storage_failure
from unseen.database.formats import GRAPHS, SOLUTIONS, rdf_format, results_format
from unseen.database.guard import check_query, check_update
from unseen.database.reserved import refuse_reserved
from unseen.database.update_text import TracedUpdate, failing_first, traced, untraced
from unseen.errors import QueryRefused, QuerySyntaxError, UnseenError, shorten
from unseen.logic.sparql.words import tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.database.database import Database
    from unseen.logic.sparql.words import Token

_PLACE = re.compile(r"^error at (\d+):(\d+): (.*)", re.DOTALL)


class _NotFollowed(QueryRefused):
    """An update whose rewritten text is not valid; nothing was run."""


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
        try:
            self.found.serialize(output, written_as)
        except RuntimeError as error:
            raise _failed(error, "the query failed") from error


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
        database.catch_up()  # what it sees, `database.graph` shows too
    except SyntaxError as error:
        raise syntax_error(error, text) from None
    except (ValueError, RuntimeError, OSError) as error:
        raise _failed(error, "the query failed") from error
    return Results(found, isinstance(found, rdf.QueryTriples))


def update(database: Database, text: str, *, using: Sequence[str] = (), using_named: Sequence[str] = ()) -> None:
    """Run an update, all or nothing; when this returns, it is durable and in every later answer."""
    tokens = list(tokens_of(text))
    check_update(text, tokens)
    refuse_reserved(text, tokens, database.prefixes)
    rdf = database.triples.rdf
    check_syntax(database, text, tokens)
    clauses = [str(_graph_name(rdf, iri)) for iri in using]
    clauses += [f"NAMED {_graph_name(rdf, iri)}" for iri in using_named]
    try:
        run(database, traced(text, clauses, tokens))
    except _NotFollowed:
        run(database, untraced(text, clauses))


def check_syntax(database: Database, text: str, tokens: list[Token]) -> None:
    """Refuse an update that is not SPARQL, without running it: it stands behind an operation that always fails."""
    if not _parses(database, failing_first(text, tokens)):
        _parses(database, text, report=True)


def _parses(database: Database, text: str, *, report: bool = False) -> bool:
    """Whether a text is an update; if it is none, the error says where, if asked for."""
    try:
        database.triples.rdf.Store().update(text, prefixes=database.prefixes)
    except SyntaxError as error:
        if report:
            raise syntax_error(error, text) from None
        return False
    except (RuntimeError, ValueError, OSError):
        return True  # what it does is for the real run to say
    return True


def run(database: Database, rewritten: TracedUpdate) -> None:
    """Run an update that traces itself."""
    try:
        database.run_traced(rewritten.text, names_graphs=rewritten.names_graphs)
    except SyntaxError as error:
        raise _NotFollowed(f"the update cannot be followed: {shorten(str(error), 200)}") from None
    except (ValueError, RuntimeError, OSError) as error:
        raise _failed(error, "the update failed") from error


def _failed(error: Exception, what: str) -> UnseenError:
    """The triples failed, or the request cannot be answered."""
    if is_storage_failure(error):
        return explained(error, None, what)
    return QueryRefused(shorten(str(error), 200))


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
    refuse_reserved(iri)
    try:
        return rdf.NamedNode(iri)
    except ValueError:
        raise QueryRefused(f"the name of a graph must be an IRI, not {shorten(repr(iri))}") from None
