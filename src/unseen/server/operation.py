"""`/healthz`, `/metrics`, `/openapi.json`: whether the server is well, its numbers, its description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, PlainTextResponse, Response

from unseen.server import openapi
from unseen.server.problems import held, no_replica, read_only
from unseen.server.route_table import Route
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

    from unseen.server.service import Service


def routes(service: Service) -> list[Route]:
    """The routes for the operator of the server."""

    async def health(_: Request) -> Response:
        """Say that the server answers; 503 if exact queries cannot be answered, no replica starts, or writes fail."""
        if service.is_stuck:
            raise held()
        if not service.has_replicas:
            raise no_replica()
        if not service.can_write:
            raise read_only()
        model = service.settings.model
        named = None if model is None else Path(model).name  # never where it lies on the disk
        is_ready = service.predictor.method is None or service.batcher.is_measured
        return JSONResponse({"status": "ok", "version": __version__, "model": named, "ready": is_ready})

    async def metrics(_: Request) -> Response:
        """Numbers for Prometheus."""
        return PlainTextResponse(service.metrics.text(await service.count()))

    return [
        Route("GET", "/healthz", "open", health, openapi.HEALTH),
        Route("GET", "/metrics", "read", metrics, openapi.METRICS),
    ]


def description(routes: Iterable[Route], *, has_keys: bool) -> Route:
    """The route that describes the others."""
    content = json.dumps(openapi.document(routes, has_keys=has_keys)).encode()

    async def described(_: Request) -> Response:
        return Response(content, media_type="application/json")

    return Route("GET", "/openapi.json", "open", described)
