"""Whose turn a question takes, and how much is read from a client that is watched."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from unseen.server.callers import MOST_UNWANTED, caller_of
from unseen.server.gate import Gate
from unseen.server.keys import Keys
from unseen.server.metrics import Metrics
from unseen.server.route_table import Route, RouteTable
from unseen.server.server_settings import ServerSettings

FIRST, SECOND = "lese-schlüssel-0123456789", "other-key-0123456789"


def client(keys: Keys, name: bytes = b"host", value: bytes = b"127.0.0.1", address: str = "127.0.0.1") -> str:
    """Whose turn a request takes that has come through the gate."""

    async def answer(request: Request) -> Response:
        return PlainTextResponse(caller_of(request).client)

    async def nothing(*_: object) -> Any:
        raise AssertionError

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/x", "query_string": b"", "client": (address, 1)}
    headers = [(b"host", b"127.0.0.1"), (name, value)]
    gate = Gate(RouteTable([Route("GET", "/x", "read", answer)]), ServerSettings(keys=keys), Metrics(), nothing)
    asyncio.run(gate({**scope, "headers": headers}, nothing, send))
    assert sent[0]["status"] == 200
    text: str = sent[1]["body"].decode()
    return text


def test_a_key_has_one_turn_however_and_from_wherever_it_is_sent() -> None:
    keys = Keys((FIRST, SECOND))
    forms = [FIRST.encode(), FIRST.encode("latin-1")]
    holders = {client(keys, b"x-api-key", form, address) for form in forms for address in ("127.0.0.1", "10.0.0.1")}
    holders |= {client(keys, b"authorization", scheme + form) for form in forms for scheme in (b"Bearer ", b"bearer  ")}
    assert len(holders) == 1
    assert client(keys, b"x-api-key", SECOND.encode()) not in holders
    assert FIRST not in holders


def test_without_keys_an_address_has_a_turn_whatever_headers_say() -> None:
    assert client(Keys(), b"x-api-key", b"invented", "127.0.0.1") == "127.0.0.1"
    assert client(Keys(), address="::1") == "::1"


def watched(messages: list[dict[str, Any]]) -> Request:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return messages.pop(0)

    return Request({"type": "http", "headers": [], "client": None}, receive)


def test_a_client_has_gone_when_its_connection_ends() -> None:
    asyncio.run(caller_of(watched([{"type": "http.request", "body": b"x"}, {"type": "http.disconnect"}])).gone())


def test_a_body_that_nobody_asked_for_is_not_read_without_end() -> None:
    piece = {"type": "http.request", "body": bytes(MOST_UNWANTED // 4), "more_body": True}
    messages = [piece] * 100

    async def watch() -> None:
        await asyncio.wait_for(caller_of(watched(messages)).gone(), 0.2)

    with pytest.raises(TimeoutError):
        asyncio.run(watch())
    assert len(messages) == 95
