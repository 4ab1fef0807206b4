"""Exact SPARQL on a database: all of SPARQL 1.1, as pyoxigraph answers it, and updates that the graph follows."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.database.checked_update import checked_update, graph_name, syntax_error
from unseen.database.engine.operations import user_graphs
from unseen.database.failures import explained, is_storage_failure
from unseen.database.format_versions import GRAPHS, SOLUTIONS, rdf_format, results_format
from unseen.database.guard import check_query
from unseen.errors import QueryRefused, UnseenError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.database.database import Database
    from unseen.database.update_text import TracedUpdate


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
        options["default_graph"] = [graph_name(iri) for iri in default_graphs]
        options["named_graphs"] = [graph_name(iri) for iri in named_graphs]
    try:
        if "GRAPH" in words and "FROM" not in words and not options:
            options["named_graphs"] = user_graphs(database.triples.store)
        found = database.triples.store.query(text, prefixes=database.prefixes, **options)
        database.catch_up()  # what it sees, `database.graph` shows too
    except SyntaxError as error:
        raise syntax_error(error, text) from None
    except (ValueError, RuntimeError, OSError) as error:
        raise _failed(error, "the query failed") from error
    return Results(found, isinstance(found, rdf.QueryTriples))


def update(database: Database, text: str, *, using: Sequence[str] = (), using_named: Sequence[str] = ()) -> None:
    """Run an update, all or nothing; when this returns, it is durable and in every later answer."""
    run(database, checked_update(text, database.prefixes, using=using, using_named=using_named))


def run(database: Database, rewritten: TracedUpdate) -> None:
    """Run an update that traces itself."""
    with refusing():
        database.run_traced(rewritten.text, names_graphs=rewritten.names_graphs)


@contextmanager
def refusing() -> Iterator[None]:
    """What the engine says to an update, as errors of ours."""
    try:
        yield
    except MemoryError:
        raise QueryRefused("the update needs more memory than there is") from None
    except (SyntaxError, ValueError, RuntimeError, OSError) as error:
        raise _failed(error, "the update failed") from error


def _failed(error: Exception, what: str) -> UnseenError:
    """The triples failed, or the request cannot be answered."""
    if is_storage_failure(error):
        return explained(error, None, what)
    return QueryRefused(shorten(str(error), 200))
