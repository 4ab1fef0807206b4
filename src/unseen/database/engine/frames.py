"""How the processes of the engine are spoken to: a JSON header and bytes, each with its length before it."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

LENGTHS = struct.Struct("!II")
Header = dict[str, Any]


class Closed(Exception):
    """The other end has closed the connection, or has died."""


def frame(header: Header, body: bytes = b"") -> bytes:
    """The bytes of a message."""
    head = json.dumps(header).encode()
    return LENGTHS.pack(len(head), len(body)) + head + body


class FrameBuffer:
    """Bytes as they come, cut into messages."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Read what has arrived."""
        self._data += data

    def take(self) -> tuple[Header, bytes] | None:
        """The next whole message, if there is one."""
        data = self._data
        if len(data) < LENGTHS.size:
            return None
        head, body = LENGTHS.unpack_from(data)
        start, end = LENGTHS.size + head, LENGTHS.size + head + body
        if len(data) < end:
            return None
        found = json.loads(data[LENGTHS.size : start]), bytes(data[start:end])
        del data[:end]
        return found


class Channel:
    """One end of a connection that blocks: one message out, one message in."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._buffer = connection, FrameBuffer()

    def send(self, header: Header, body: bytes = b"") -> None:
        """Send a message."""
        try:
            self._connection.sendall(frame(header, body))
        except (BrokenPipeError, ConnectionError):
            raise Closed from None

    def receive(self) -> tuple[Header, bytes]:
        """Wait for the next message."""
        while (found := self._buffer.take()) is None:
            try:
                data = self._connection.recv(1 << 18)
            except ConnectionError:
                raise Closed from None
            if not data:
                raise Closed
            self._buffer.feed(data)
        return found
