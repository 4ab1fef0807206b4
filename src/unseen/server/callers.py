"""Who asks: whose turn a question takes, and whether anybody still waits for its answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request


MOST_UNWANTED = 64 << 10
"""Bytes of a body that nobody asked for; a client that sends more is not watched, and reading stops."""


async def _never() -> None:
    """Waits forever: this caller never leaves."""
    await asyncio.get_running_loop().create_future()


@dataclass(frozen=True)
class Caller:
    """A client; `gone` returns when it no longer waits for the answer."""

    client: str = ""
    """Those who share a key, or without keys an address, share their turns."""
    gone: Callable[[], Awaitable[None]] = _never


def caller_of(request: Request) -> Caller:
    """The caller of a request whose body has been read."""
    address = request.client.host if request.client else ""
    holder: str = request.scope.get("unseen.holder", address)  # set by the gate where keys are needed
    return Caller(holder, partial(_disconnected, request))


async def _disconnected(request: Request) -> None:
    """Read on until the connection ends; the body has been read, or is not wanted."""
    unwanted = 0
    while (message := await request.receive())["type"] != "http.disconnect":
        unwanted += len(message.get("body", b""))
        if unwanted > MOST_UNWANTED:
            await _never()
