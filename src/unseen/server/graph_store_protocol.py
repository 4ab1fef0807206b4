"""`/store`: whole graphs in and out, the SPARQL 1.1 Graph Store Protocol."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response

from unseen.database import graph_store
from unseen.database.formats import GRAPHS, READABLE_GRAPHS
from unseen.database.reserved import refuse_reserved
from unseen.errors import DatabaseError
from unseen.graph.prefixes import is_iri
from unseen.server import openapi
from unseen.server.problems import Problem, bad_request
from unseen.server.requests import body_of, parameters_of, require_type
from unseen.server.route_table import Route
from unseen.server.sparql_protocol import BoundedOutput, acceptable

if TYPE_CHECKING:
    from starlette.requests import Request

    from unseen.server.service import Service

_NEVER_IN_AN_IRI = set('<>"{}|^`\\') | set(map(chr, range(0x21)))


def routes(service: Service) -> list[Route]:
    """The routes of the protocol."""

    async def get(request: Request) -> Response:
        """Read a graph."""
        graph = await _graph_of(service, request)
        media_type = acceptable(request.headers.get("accept", ""), list(GRAPHS))
        return Response(await service.read(partial(_written, service, graph, media_type)), media_type=media_type)

    async def put(request: Request) -> Response:
        """Replace a graph by the statements of the body."""
        graph = await _graph_of(service, request)
        return await _changed(service, request, graph, partial(_replaced, service, graph))

    async def post(request: Request) -> Response:
        """Add the statements of the body to a graph."""
        graph = await _graph_of(service, request)
        return await _changed(service, request, graph, partial(_added, service, graph))

    async def delete(request: Request) -> Response:
        """Remove a graph; the default one becomes empty."""
        graph = await _graph_of(service, request)
        await service.write(partial(_deleted, service, graph))
        return Response(status_code=204)

    return [
        Route("GET", "/store", "read", get, openapi.STORE_GET),
        Route("PUT", "/store", "write", put, openapi.STORE_PUT),
        Route("POST", "/store", "write", post, openapi.STORE_POST),
        Route("DELETE", "/store", "write", delete, openapi.STORE_DELETE),
    ]


async def _graph_of(service: Service, request: Request) -> str | None:
    """The graph that a request is about; None is the default one."""
    parameters = await parameters_of(request, service.help)
    graph, is_default = parameters.single("graph"), parameters.single("default") is not None
    if (graph is None) == (not is_default):
        raise bad_request("say which graph: ?default or ?graph=IRI")
    if graph is not None and not (is_iri(graph) and not _NEVER_IN_AN_IRI & set(graph)):
        raise bad_request("the name of a graph is an absolute IRI")
    if graph is not None:
        refuse_reserved(graph)
    return graph


async def _changed(service: Service, request: Request, graph: str | None, action: partial[bool]) -> Response:
    media_type = require_type(request, list(READABLE_GRAPHS))
    body = await body_of(request, service.limits.body_bytes)
    is_new = await service.write(partial(action, body, media_type))
    return Response(status_code=201 if is_new and graph is not None else 204)


def _replaced(service: Service, graph: str | None, body: bytes, media_type: str) -> bool:
    quads = graph_store.parsed(service.database, body, media_type)
    is_new = not graph_store.exists(service.database, graph)
    graph_store.replace(service.database, graph, quads)
    return is_new


def _added(service: Service, graph: str | None, body: bytes, media_type: str) -> bool:
    quads = graph_store.parsed(service.database, body, media_type)
    is_new = not graph_store.exists(service.database, graph)
    graph_store.add(service.database, graph, quads)
    return is_new


def _deleted(service: Service, graph: str | None) -> None:
    _require(service, graph)
    graph_store.delete(service.database, graph)


def _written(service: Service, graph: str | None, media_type: str) -> bytes:
    _require(service, graph)
    output = BoundedOutput(service.limits.result_bytes, service.limits.seconds, time.monotonic())
    try:
        graph_store.write(service.database, graph, media_type, output)
    except (OSError, Problem):
        raise output.problem or DatabaseError("the graph could not be written") from None
    return output.getvalue()


def _require(service: Service, graph: str | None) -> None:
    if not graph_store.exists(service.database, graph):
        raise Problem(404, "unknown_graph", f"there is no graph {graph}")
