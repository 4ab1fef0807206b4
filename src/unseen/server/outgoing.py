"""What a request is answered with: sent in pieces, never faster than the client reads, with its status remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from starlette.types import Message, Receive, Scope, Send

PIECE = 256 << 10
"""Bytes that are handed on at once; a larger answer also needs its share of the memory for answers."""


class Outgoing:
    """The answer to one request."""

    def __init__(self, send: Send, extra: list[tuple[bytes, bytes]]) -> None:
        self._send, self._extra, self.status = send, extra, 0

    async def whole(self, response: Response, scope: Scope, receive: Receive) -> None:
        """Send a response; a large one waits for nobody's memory but its own share."""
        size = len(getattr(response, "body", b""))
        watch = scope.get("unseen.watch") if size > PIECE else None
        if watch is None:
            await response(scope, receive, self.send)
            return
        await watch.reserve(size)
        try:
            await response(scope, receive, self.send)
        finally:
            watch.release(size)

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._extra:
                message = {**message, "headers": [*message.get("headers", ()), *self._extra]}
        elif len(message.get("body", b"")) > PIECE:
            message = await self._all_but_the_last_piece(message)
        await self._send(message)

    async def _all_but_the_last_piece(self, message: Message) -> Message:
        """Send a long body but for its end, which is given back; each piece waits until the one before is read."""
        body = memoryview(message["body"])
        last = (len(body) - 1) // PIECE * PIECE
        for start in range(0, last, PIECE):
            await self._send(
                {"type": "http.response.body", "body": bytes(body[start : start + PIECE]), "more_body": True}
            )
        return {**message, "body": bytes(body[last:])}


async def respond(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Send a whole answer."""
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    pairs.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
