"""`/mcp`: the graph as tools for agents (Model Context Protocol), with the same keys and limits as every route.

A key that may read finds the tools that read; a key that may write finds `add_facts` too. There are no sessions: each
message is answered alone. What speaks the protocol is made with the first message, because to import it takes long; it
has a thread of its own, so that nothing else waits for it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from unseen.database.engine.deadline import time_left
from unseen.errors import MissingExtra
from unseen.server.agent_graph import ServedGraph
from unseen.server.problems import Problem, busy, too_slow
from unseen.server.requests import JSON, body_of, require_type
from unseen.server.route_table import Route

if TYPE_CHECKING:
    from starlette.requests import Request

    from unseen.agents.http_exchange import HttpExchange
    from unseen.server.service import Service

STARTING_RETRY = 5
"""Seconds after which an agent comes again that was too early."""
MOST_AT_A_TIME = 32
"""Messages that are worked on together; each may hold a thread until its question is answered."""


_ANSWERS = {
    200: "The answer to a call.",
    202: "A notification was taken.",
    400: "This is no message of the protocol, or none that can be answered.",
    401: "A key is needed, or the key is not known.",
    403: "The request comes from a foreign web page.",
    404: "There is no such method.",
    406: "The client must accept application/json.",
    408: "The body took too long to arrive.",
    413: "The request is too large.",
    415: "The body has another type than application/json.",
    501: "The extra `mcp` is not installed.",
    503: "Too many requests are waiting; Retry-After says when to come back.",
    504: "The time limit has passed.",
}
_MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
DESCRIPTION: dict[str, Any] = {
    "tags": ["Agents"],
    "summary": "A message of the Model Context Protocol",
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}, "example": _MESSAGE}},
    },
    "responses": {
        str(status): {"description": meaning, "content": {"application/json": {}}}
        for status, meaning in _ANSWERS.items()
    },
}


def routes(service: Service) -> list[Route]:
    """The route for agents."""
    agents = _Agents(service)

    async def message(request: Request) -> Response:
        """Answer one message of an agent."""
        return await agents.answer(request)

    return [Route("POST", "/mcp", "read", message, DESCRIPTION)]


class _Agents:
    """The agents of one server."""

    def __init__(self, service: Service) -> None:
        self._service, self._graph = service, ServedGraph(service)
        self._inside = Counter[str]()
        """Messages of each client that are worked on; none takes more of the room than it leaves to others."""
        self._making: asyncio.Task[HttpExchange] | None = None

    async def answer(self, request: Request) -> Response:
        """The answer to a message, unless too many are being worked on."""
        require_type(request, [JSON])
        may_write = not self._service.settings.keys or request.scope.get("unseen.right") == "write"
        body = await body_of(request, self._service.limits.query_bytes)
        caller = self._service.caller_of(request)
        if self._inside[caller.client] >= MOST_AT_A_TIME - self._inside.total():
            raise busy()
        self._inside[caller.client] += 1
        try:
            exchange = await self._exchange()
            with self._graph.called_by(caller):
                async with asyncio.timeout(self._graph.patience):
                    found = await exchange.answer(request.scope, body, may_write=may_write)
        except TimeoutError:
            raise too_slow(self._graph.patience) from None
        finally:
            self._inside -= Counter([caller.client])
        return Response(found.body, found.status, media_type=found.content_type)

    async def _exchange(self) -> HttpExchange:
        """The MCP exchange, made once for all requests."""
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(self._made))
        try:
            async with asyncio.timeout(time_left(self._service.limits.seconds)):
                return await asyncio.shield(self._making)
        except TimeoutError:
            raise busy(STARTING_RETRY) from None

    def _made(self) -> HttpExchange:
        try:
            from unseen.agents.graph_tools import GraphTools
            from unseen.agents.http_exchange import HttpExchange
        except ImportError as error:
            missing = MissingExtra("a server for agents", "mcp", str(error.name))
            raise Problem(501, "not_installed", str(missing)) from None
        return HttpExchange(GraphTools(self._graph))
