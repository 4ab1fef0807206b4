"""What routes ask of readers: the answer to a query, a whole graph, a document as statements, an update checked."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from unseen.database.engine.engine_reader import MOST_IN_MEMORY
from unseen.database.engine.wire_errors import ResultTooLarge, UnknownGraph
from unseen.database.format_versions import GRAPHS, SOLUTIONS, chosen
from unseen.database.graph_store import Lines
from unseen.database.update_text import TracedUpdate
from unseen.server.problems import Problem, bad_request, busy
from unseen.server.spool import SpooledResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from starlette.requests import Request

    from unseen.database.engine.frames import Header
    from unseen.server.callers import Caller
    from unseen.server.reader_pool import Readers

LARGEST_DOCUMENT = 8
"""How many times larger than the largest body the statements of a document may be."""
DOCUMENT_GROWTH = 32
"""How many times larger than a document its statements may be."""
ANY_GROWTH = 4 << 20
"""Bytes of statements up to which it does not matter how long their document is."""
PLANNING, CHARACTERS_A_SECOND = 2.0, 100_000
"""Processor time to plan an update, and how much text even a slow machine parses."""
JSON_RESULTS = "application/sparql-results+json"
MOST_OF_TABLE = 8 << 20
"""Bytes of rows from which a table is computed."""
LONGEST_REMEMBERED = 1000
"""Characters of an Accept header whose meaning is remembered."""


class ExactAnswers:
    """Exact answers of one server."""

    def __init__(self, readers: Readers) -> None:
        self._readers, self._limits = readers, readers.limits

    async def query(
        self, request: Request, text: str, accept: str, default_graphs: Sequence[str], named_graphs: Sequence[str]
    ) -> Response:
        """The answer to a query in the media type that is liked best."""
        solutions, triples = _wanted(accept) if len(accept) < LONGEST_REMEMBERED else _wanted.__wrapped__(accept)
        header = {"do": "query", "solutions": solutions, "triples": triples, **self._room(self._limits.result_bytes)}
        header |= {"default": default_graphs, "named": named_graphs}
        return await self._response(request, header, text)

    async def rows(self, text: str, caller: Caller) -> bytes:
        """The solutions of a SELECT, in SPARQL's JSON."""
        solutions, triples = _wanted(JSON_RESULTS)
        header = {"do": "query", "solutions": solutions, "triples": triples, **self._room(MOST_OF_TABLE)}
        try:
            header |= {"default": [], "named": []}
            told, result = await self._readers.ask(header, text.encode(), gone=caller.gone, text=text)
        except ResultTooLarge as error:
            raise bad_request(str(error), "result_too_large") from None
        if "file" in told:
            with self._readers.spool.kept(Path(told["file"])):
                result = Path(told["file"]).read_bytes()
        return result

    async def graph(self, request: Request, graph: str | None, media_type: str) -> Response:
        """All statements of a graph."""
        header = {"do": "graph", "graph": graph, "type": media_type, **self._room(self._limits.result_bytes)}
        return await self._response(request, header, "")

    @asynccontextmanager
    async def lines(self, data: bytes, media_type: str) -> AsyncIterator[Lines]:
        """A document as statements; the file, if there is one, is deleted afterwards."""
        most = min(LARGEST_DOCUMENT * self._limits.body_bytes, max(ANY_GROWTH, DOCUMENT_GROWTH * len(data)))
        header = {"do": "document", "type": media_type, **self._room(most, "document", ".nt")}
        try:
            told, result = await self._readers.ask(header, data, needs_store=False)
        except ResultTooLarge as error:
            raise busy() if error.most < most else _grown(most) from None
        if "file" not in told:
            yield Lines(told["count"], result)
            return
        with self._readers.spool.kept(Path(told["file"])):
            yield Lines(told["count"], file=Path(told["file"]))

    async def checked_update(self, text: str, using: Sequence[str], using_named: Sequence[str]) -> TracedUpdate:
        """An update as the writer is to run it."""
        header = {"do": "update", "using": using, "using_named": using_named}
        most_work = PLANNING + len(text) / CHARACTERS_A_SECOND
        told, result = await self._readers.ask(header, text.encode(), text=text, needs_store=False, most_work=most_work)
        return TracedUpdate(result.decode(), told["names_graphs"])

    def _room(self, most: int, kind: str = "result", suffix: str = "") -> Header:
        """Where a result may be written, and how much of it; what stays in memory needs no room there."""
        spool = self._readers.spool
        return {"spool": str(spool.path(kind, suffix)), "most": min(most, max(spool.room, MOST_IN_MEMORY))}

    async def _response(self, request: Request, header: Header, text: str) -> Response:
        try:
            told, result = await self._readers.ask(header, text.encode(), gone=lambda: _gone(request), text=text)
        except ResultTooLarge as error:
            if error.most < self._limits.result_bytes:
                raise busy() from None
            raise bad_request(str(error), "result_too_large") from None
        except UnknownGraph as error:
            raise Problem(404, "unknown_graph", str(error)) from None
        if "unacceptable" in told:
            raise unacceptable(GRAPHS if told["unacceptable"] else SOLUTIONS)
        if "file" in told:
            return SpooledResponse(self._readers.spool.taken(Path(told["file"]), told["size"]), told["type"])
        return Response(result, media_type=told["type"])


def _grown(most: int) -> Problem:
    """The error for a small document with far more statements than bytes."""
    message = f"the statements of the document take more than {most:,} bytes; send it in parts, or as N-Triples"
    return Problem(413, "too_large", message)


def unacceptable(offered: Iterable[str]) -> Problem:
    """The error if none of the available media types is acceptable."""
    return Problem(406, "not_acceptable", f"this can be answered as {', '.join(offered)}")


@lru_cache(maxsize=256)
def _wanted(accept: str) -> tuple[tuple[str | None, str | None], tuple[str | None, str | None]]:
    """Media type and format for solutions and for triples; None where nothing is liked."""
    solutions, triples = chosen(accept, list(SOLUTIONS)), chosen(accept, list(GRAPHS))
    return (solutions, SOLUTIONS.get(solutions or "")), (triples, GRAPHS.get(triples or ""))


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
