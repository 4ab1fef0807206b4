"""The application: routes, the gate before them, the start and the end."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from unseen.errors import UnseenError
from unseen.server import graph_store_protocol, openapi, questions, sparql_protocol
from unseen.server.direct import Direct
from unseen.server.gate import Gate
from unseen.server.problems import described, held
from unseen.server.service import Service
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp

    from unseen.database import Database
    from unseen.server.settings import ServerSettings


def make_app(database: Database, settings: ServerSettings) -> ASGIApp:
    """The server of a database, as ASGI; when it stops, the database is closed."""
    service = Service(database, settings)
    app = FastAPI(
        title="unseen",
        version=__version__,
        description="A graph that lives: exact SPARQL, predicted answers, facts that count at once.",
        docs_url=None,  # its page would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(service),
    )
    routers = [module.routes(service) for module in (sparql_protocol, graph_store_protocol, questions)]
    for router in routers:
        app.include_router(router)
    _add_operation(app, service)
    if settings.keys:
        _describe_keys(app)
    for kind in (UnseenError, HTTPException, Exception):
        app.add_exception_handler(kind, _failed)
    whole: ASGIApp = Direct(app, routers)
    if settings.origins:
        from starlette.middleware.cors import CORSMiddleware

        whole = CORSMiddleware(
            whole, list(settings.origins), allow_methods=["*"], allow_headers=["authorization", "x-api-key"]
        )
    return Gate(whole, settings, service.metrics)


def _lifespan(service: Service) -> Any:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        await service.stop()

    return lifespan


def _add_operation(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", **openapi.HEALTH)
    async def health() -> JSONResponse:
        """Say that the server answers; 503 if every thread for exact queries is held."""
        if service.is_stuck:
            raise held()
        model = service.settings.model
        named = None if model is None else Path(model).name  # never where it lies on the disk
        return JSONResponse({"status": "ok", "version": __version__, "model": named})

    @app.get("/metrics", **openapi.METRICS)
    async def metrics() -> PlainTextResponse:
        """Numbers for Prometheus."""
        return PlainTextResponse(service.metrics.text(await service.help(service.gauges)))


def _describe_keys(app: FastAPI) -> None:
    """The two ways to send a key, in the description."""
    schemes = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    described = app.openapi()
    described.setdefault("components", {})["securitySchemes"] = schemes
    described["security"] = [{"bearer": []}, {"header": []}]


async def _failed(_: Request, error: Exception) -> Response:
    status, body, headers = described(error)
    return JSONResponse(body, status, headers)
