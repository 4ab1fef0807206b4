"""The gate in front of every route: who may come in, one line of log a request, one JSON shape for what goes wrong.

It is plain ASGI, because it stands in the way of every request. A server without keys serves this machine only; a web
page opened on this machine must not be able to use it, so requests with a foreign Host or Origin are turned away.
"""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from unseen.server.problems import Problem, as_bytes, described
from unseen.server.settings import is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from unseen.server.metrics import Metrics
    from unseen.server.settings import ServerSettings

OPEN = ("/healthz", "/openapi.json")
"""Routes that need no key."""
ROUTES = (*OPEN, "/query", "/update", "/store", "/ask", "/triples", "/entities", "/relations", "/metrics")
WRITING = {("/update", "POST"), ("/triples", "POST"), ("/triples", "DELETE")} | {
    ("/store", method) for method in ("PUT", "POST", "DELETE")
}
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
log = logging.getLogger("unseen.server")


class Gate:
    """ASGI around the application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self.app, self.settings, self.metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        answer = _Answer(send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        who = "-"
        try:
            _check_host(self.settings, headers)
            _check_origin(self.settings, headers)
            who = _check_key(self.settings, headers, scope["path"], scope["method"])
            await self.app(scope, receive, answer.send)
        except Exception as error:  # noqa: BLE001 - nothing may end without an answer
            await self._fail(error, answer)
        finally:
            self._note(scope, answer.status, time.perf_counter() - began, who)

    async def _fail(self, error: Exception, answer: _Answer) -> None:
        status, body, headers = described(error)
        if status == 500:
            log.error(json.dumps({"event": "error", "error": repr(error)[:500]}), exc_info=error)
        if not answer.status:
            await answer.respond(status, as_bytes(body), headers)

    def _note(self, scope: Scope, status: int, seconds: float, who: str) -> None:
        path, method = scope["path"], scope["method"]
        route = path if path in ROUTES else "other"
        self.metrics.request(route, method if method in _METHODS else "other", status, seconds)
        if log.isEnabledFor(logging.INFO):
            client = (scope.get("client") or ("-",))[0]
            line = {"event": "request", "method": method, "path": path[:200], "status": status}
            line |= {"ms": round(seconds * 1000, 2), "client": client, "key": who}
            log.info(json.dumps(line))


class _Answer:
    """What is sent; remembers the status."""

    def __init__(self, send: Send) -> None:
        self._send, self.status = send, 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)

    async def respond(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        """Send a whole JSON answer."""
        all_headers = {"content-type": "application/json", "content-length": str(len(body)), **headers}
        pairs = [(name.lower().encode(), value.encode()) for name, value in all_headers.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})
        await self._send({"type": "http.response.body", "body": body})


def _check_host(settings: ServerSettings, headers: dict[str, str]) -> None:
    """Without keys only names of this machine are served: a foreign name may be a web page that points here."""
    if settings.keys:
        return
    host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    if not is_loopback(host) and host != settings.host:
        raise Problem(403, "foreign_host", "this server has no keys and answers to names of its own machine only")


def _check_origin(settings: ServerSettings, headers: dict[str, str]) -> None:
    """A request that a web page of another origin has sent is refused, unless that origin is allowed."""
    origin = headers.get("origin")
    if origin is None or origin in settings.origins:
        return
    if urlsplit(origin).netloc != headers.get("host"):
        raise Problem(403, "foreign_origin", "pages of other origins may not use this server (see --cors-origin)")


def _check_key(settings: ServerSettings, headers: dict[str, str], path: str, method: str) -> str:
    """What the key of a request allows; an error if that is not enough."""
    if not settings.keys:
        return "-"
    if path in OPEN or method == "OPTIONS":
        return "-"
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    key = headers.get("x-api-key") or (bearer.strip() if scheme.lower() == "bearer" else "")
    challenge = {"WWW-Authenticate": 'Bearer realm="unseen"'}
    if not key:
        message = "a key is needed: send `Authorization: Bearer KEY` or `X-API-Key: KEY`"
        raise Problem(401, "no_key", message, headers=challenge)
    right = settings.keys.right_of(key)
    if right is None:
        raise Problem(401, "wrong_key", "this key is not known", headers=challenge)
    if right == "read" and (path, method) in WRITING:
        raise Problem(403, "read_only_key", "this key may read, not write")
    return right
