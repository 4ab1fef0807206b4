"""MCP over HTTP (streamable HTTP): one message in, one message out, and nothing kept between two of them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.agents.mcp_server import make_server

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from unseen.agents.graph_tools import GraphTools

    Message = MutableMapping[str, Any]

ANY_HOST = "0.0.0.0"  # noqa: S104 - nothing listens: whoever calls has checked host and origin


@dataclass(frozen=True)
class HttpAnswer:
    """What goes back to the client."""

    status: int
    content_type: str
    body: bytes


class HttpExchange:
    """The tools of one graph for clients that speak HTTP; those who may write have `add_facts` too."""

    def __init__(self, tools: GraphTools) -> None:
        with _root_logger_unchanged():
            self._servers = {is_written: make_server(tools, is_written=is_written) for is_written in (False, True)}

    async def answer(self, scope: MutableMapping[str, Any], body: bytes, *, may_write: bool) -> HttpAnswer:
        """The answer to a request whose body has been read; `scope` is that of ASGI."""
        server = self._servers[may_write]
        server.streamable_http_app(
            json_response=True, stateless_http=True, max_request_body_size=1 + len(body), host=ANY_HOST
        )
        manager = server.session_manager  # a new one for each request: a manager runs once
        sent: list[Message] = []
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if unread:
                return unread.pop()
            await asyncio.get_running_loop().create_future()
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        async with manager.run():
            await manager.handle_request(scope, receive, send)
        return _collected(sent)


def _collected(messages: list[Message]) -> HttpAnswer:
    start, *rest = messages
    headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    body = b"".join(message.get("body", b"") for message in rest)
    return HttpAnswer(start["status"], headers.get("content-type", "application/json"), body)


@contextmanager
def _root_logger_unchanged() -> Iterator[None]:
    """Making an MCP server gives the root logger a handler; a web server has logs of its own."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
