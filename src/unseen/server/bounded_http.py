"""HTTP as uvicorn reads it, with a bound on what comes before a body, and our shape for what is no HTTP at all.

uvicorn's parser takes an address and headers of any length and keeps them in memory, before anyone could ask for a key.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from unseen.server.problems import Problem, as_bytes, bad_request, described

MOST_HEAD_BYTES = 4 << 20
"""Address and headers together: a query of a megabyte fits, whatever signs it has."""


class BoundedHttp(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_bytes: int | None = 0
        """Bytes of address and headers so far; None while a body is read."""

    def data_received(self, data: bytes) -> None:
        """Read on, unless address and headers have grown too long."""
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                message = f"address and headers are longer than {MOST_HEAD_BYTES:,} bytes; send a query in the body"
                self._refuse(Problem(431, "too_large", message))

    def on_message_begin(self) -> None:
        """A request starts."""
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The body comes next."""
        self._head_bytes = None
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(bad_request(msg))

    def _refuse(self, problem: Problem) -> None:
        status, body, _ = described(problem)
        content = as_bytes(body)
        head = f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + content)
        self.transport.close()
