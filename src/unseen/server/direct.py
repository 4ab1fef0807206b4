"""The short way of a request: from its path and method straight to the function that answers it.

FastAPI holds the routes and describes them (`/openapi.json`); our functions read their requests themselves, so of what
it does for each request nothing is needed, and it takes longer than an exact answer does. Whatever has no function
here (`/openapi.json`, unknown paths, other methods) is left to it. What is refused is answered here, so that pages of
allowed origins can read it; anything unexpected is the gate's.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from unseen.server.problems import as_bytes, described

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

    Endpoint = Callable[[Request], Awaitable[Response]]


class Direct:
    """ASGI that calls the functions of some routers, and an application for everything else."""

    def __init__(self, app: ASGIApp, routers: Iterable[APIRouter]) -> None:
        self.app = app
        self.endpoints: dict[tuple[str, str], Endpoint] = {
            (route.path, method): route.endpoint
            for router in routers
            for route in router.routes
            if isinstance(route, APIRoute)
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and (found := self.endpoints.get((scope["path"], scope["method"]))):
            response = await _answered(found, Request(scope, receive))
            await response(scope, receive, send)
        else:
            await self.app(scope, receive, send)


async def _answered(endpoint: Endpoint, request: Request) -> Response:
    """What a function answers, or why it refuses."""
    try:
        return await endpoint(request)
    except Exception as error:
        status, body, headers = described(error)
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            raise
        return Response(as_bytes(body), status, headers, "application/json")
