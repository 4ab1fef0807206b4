"""The application: the table of its routes, the gate before them, the start and the end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from unseen.server import (
    agent_routes,
    graph_store_protocol,
    operation,
    page_files,
    page_routes,
    question_routes,
    sparql_protocol,
)
from unseen.server.gate import Gate
from unseen.server.route_table import RouteTable
from unseen.server.service import Service

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Send

    from unseen.database import Database
    from unseen.server.server_settings import ServerSettings


def make_app(database: Database, settings: ServerSettings) -> ASGIApp:
    """The server of a database, as ASGI; when it stops, the database is closed."""
    service = Service(database, settings)
    routes = [
        route
        for module in (sparql_protocol, graph_store_protocol, question_routes, agent_routes, operation)
        for route in module.routes(service)
    ]
    query = next(route.answer for route in routes if (route.method, route.path) == ("GET", "/query"))
    routes += [*page_routes.routes(service, query), *page_files.routes()]
    table = RouteTable([*routes, operation.description(routes, has_keys=bool(settings.keys))])
    return Gate(table, settings, service.metrics, partial(_live, service))


async def _live(service: Service, receive: Receive, send: Send) -> None:
    """Start and stop as the ASGI server says."""
    await receive()
    service.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await service.stop()
    await send({"type": "lifespan.shutdown.complete"})
