"""Who asks: whose turn a question takes, and whether anybody still waits for its answer."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request


async def _never() -> None:
    """Wait for somebody who stays."""
    await asyncio.get_running_loop().create_future()


@dataclass(frozen=True)
class Caller:
    """One who asks; `gone` ends when nobody waits for the answer any more."""

    client: str = ""
    """Those who share a key, or without keys an address, share their turns."""
    gone: Callable[[], Awaitable[None]] = _never


def caller_of(request: Request, *, has_keys: bool) -> Caller:
    """The caller of a request whose body has been read."""
    return Caller(_client_of(request, has_keys=has_keys), partial(_disconnected, request))


def _client_of(request: Request, *, has_keys: bool) -> str:
    headers = request.headers
    key = (headers.get("x-api-key") or headers.get("authorization")) if has_keys else None
    if key:
        return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return request.client.host if request.client else ""


async def _disconnected(request: Request) -> None:
    """Read on until the connection ends; the body has been read, or is not wanted."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
