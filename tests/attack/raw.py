"""Bytes over a socket, for requests that no client would send."""

from __future__ import annotations

import contextlib
import socket


def exchange(port: int, sent: bytes, *, timeout: float = 60.0) -> bytes:
    """Everything that a server answers to some bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
        received = b""
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(65536):
                received += data
    return received


def request(method: str, target: str | bytes, headers: dict[str, str | bytes], body: bytes = b"") -> bytes:
    """A request that ends its connection, with the target as it is given."""
    where = target.encode("latin-1") if isinstance(target, str) else target
    lines = [method.encode() + b" " + where + b" HTTP/1.1", b"Host: localhost", b"Connection: close"]
    for name, value in headers.items():
        lines.append(name.encode() + b": " + (value if isinstance(value, bytes) else value.encode()))
    if body:
        lines.append(b"Content-Length: " + str(len(body)).encode())
    return b"\r\n".join([*lines, b"", b""]) + body


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 if there was none."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
