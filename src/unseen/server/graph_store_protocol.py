"""`/store`: whole graphs in and out, the SPARQL 1.1 Graph Store Protocol."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response

from unseen.database import graph_store
from unseen.database.format_versions import GRAPHS, READABLE_GRAPHS
from unseen.database.reserved import refuse_reserved
from unseen.graph.prefixes import is_iri
from unseen.server import openapi
from unseen.server.problems import Problem, bad_request
from unseen.server.requests import body_of, parameters_of, require_type
from unseen.server.route_table import Route
from unseen.server.sparql_protocol import acceptable

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from unseen.database import Database
    from unseen.database.graph_store import Lines
    from unseen.server.service import Service

    Change = Callable[[Database, str | None, Lines], None]

_NEVER_IN_AN_IRI = set('<>"{}|^`\\') | set(map(chr, range(0x21)))


def routes(service: Service) -> list[Route]:
    """The routes of the protocol."""

    async def get(request: Request) -> Response:
        """Read a graph."""
        graph = await _graph_of(service, request)
        media_type = acceptable(request.headers.get("accept", ""), list(GRAPHS))
        return await service.exact.graph(request, graph, media_type)

    async def put(request: Request) -> Response:
        """Replace a graph by the statements of the body."""
        graph = await _graph_of(service, request)
        return await _changed(service, request, graph, graph_store.replace)

    async def post(request: Request) -> Response:
        """Add the statements of the body to a graph."""
        graph = await _graph_of(service, request)
        return await _changed(service, request, graph, graph_store.add)

    async def delete(request: Request) -> Response:
        """Remove a graph; the default one becomes empty."""
        graph = await _graph_of(service, request)
        await service.write_for_long(partial(_deleted, service, graph))
        return Response(status_code=204)

    return [
        Route("GET", "/store", "read", get, openapi.STORE_GET),
        Route("PUT", "/store", "write", put, openapi.STORE_PUT),
        Route("POST", "/store", "write", post, openapi.STORE_POST),
        Route("DELETE", "/store", "write", delete, openapi.STORE_DELETE),
    ]


async def _graph_of(service: Service, request: Request) -> str | None:
    """The graph that a request is about; None is the default one."""
    parameters = await parameters_of(request, service.read)
    graph, is_default = parameters.single("graph"), parameters.single("default") is not None
    if (graph is None) == (not is_default):
        raise bad_request("say which graph: ?default or ?graph=IRI")
    if graph is not None and not (is_iri(graph) and not _NEVER_IN_AN_IRI & set(graph)):
        raise bad_request("the name of a graph is an absolute IRI")
    if graph is not None:
        refuse_reserved(graph)
    return graph


async def _changed(service: Service, request: Request, graph: str | None, change: Change) -> Response:
    """Parse the body in a reader, and have the writer do something with its statements."""
    media_type = require_type(request, list(READABLE_GRAPHS))
    async with service.exact.lines(await body_of(request, service.limits.body_bytes), media_type) as lines:
        write = service.write if lines.file is None else service.write_for_long
        is_new = await write(partial(_carried_out, service, graph, change, lines))
    return Response(status_code=201 if is_new and graph is not None else 204)


def _carried_out(service: Service, graph: str | None, change: Change, lines: Lines) -> bool:
    """Whether the graph is new."""
    is_new = not graph_store.exists(service.database, graph)
    change(service.database, graph, lines)
    return is_new


def _deleted(service: Service, graph: str | None) -> None:
    if not graph_store.exists(service.database, graph):
        raise Problem(404, "unknown_graph", f"there is no graph {graph}")
    graph_store.delete(service.database, graph)
