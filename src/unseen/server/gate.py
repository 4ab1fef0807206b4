"""The gate in front of every route: access, one log line a request, one JSON shape for errors.

It is plain ASGI, because it stands in the way of every request. The order: the host and the page that a request comes
from, its key, its route (404, 405), and whether the key may do what the route does. Whoever has no key learns nothing
but that one is needed; the routes that are open are the exception.

A server without keys serves this machine only. A web page opened on this machine must not be able to use it: requests
with a foreign Host or Origin, and those that a browser says another site has made, are turned away.
"""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from starlette.requests import Request

from unseen.database.engine.deadline import Deadline, within
from unseen.server.keys import holder_of
from unseen.server.outgoing import Outgoing, respond
from unseen.server.problems import Problem, as_bytes, bad_request, described
from unseen.server.server_settings import is_loopback

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope, Send

    from unseen.server.metrics import Metrics
    from unseen.server.route_table import Route, RouteTable
    from unseen.server.server_settings import ServerSettings

    Headers = dict[bytes, bytes]

_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
_PREFLIGHT = {
    "access-control-allow-methods": "DELETE, GET, HEAD, POST, PUT",
    "access-control-allow-headers": "Accept, Accept-Language, Authorization, Content-Language, Content-Type, X-API-Key",
    "access-control-max-age": "600",
}
log = logging.getLogger("unseen.server")


class Gate:
    """The server as ASGI."""

    def __init__(
        self,
        table: RouteTable,
        settings: ServerSettings,
        metrics: Metrics,
        lifespan: Callable[[Receive, Send], Awaitable[None]],
    ) -> None:
        self.table, self.settings, self.metrics, self._lifespan = table, settings, metrics, lifespan
        self._origins = {origin.encode("latin-1", "replace") for origin in settings.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or turn it away."""
        if scope["type"] != "http":
            await self._lifespan(receive, send)
            return
        began = time.perf_counter()
        headers: Headers = dict(scope["headers"])
        route = self.table.find(scope["method"], scope["path"])
        out = Outgoing(send, self._shared_with(headers))
        who = "-"
        try:
            _check_host(self.settings, headers)
            _check_origin(self._origins, headers, route)
            if self._is_preflight(scope["method"], headers):
                await respond(out.send, 200, b"", _PREFLIGHT)
                return
            who = self._check_key(scope, headers, route)
            if route is None:
                raise self.table.missing(scope["path"])
            with within(Deadline(self.settings.limits.seconds)):
                response = await route.answer(Request(scope, receive))
            await out.whole(response, scope, receive)
        except Exception as error:  # noqa: BLE001 - nothing may end without an answer
            await _fail(error, out)
        finally:
            self._note(scope, route, out.status, time.perf_counter() - began, who)

    def _shared_with(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        """What lets a page of an allowed origin read the answer."""
        origin = headers.get(b"origin")
        if origin is None or origin not in self._origins:
            return []
        return [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]

    def _is_preflight(self, method: str, headers: Headers) -> bool:
        """Whether a browser asks, before it sends a request of an allowed page, if it may."""
        asks = method == "OPTIONS" and b"access-control-request-method" in headers
        return asks and headers.get(b"origin") in self._origins

    def _check_key(self, scope: Scope, headers: Headers, route: Route | None) -> str:
        """What the key of a request allows; an error if that is not enough. Notes holder and right in the scope."""
        if not self.settings.keys or (route is not None and route.right == "open"):
            return "-"
        key = _key_in(headers)
        challenge = {"WWW-Authenticate": 'Bearer realm="unseen"'}
        if not key:
            message = "a key is needed: send `Authorization: Bearer KEY` or `X-API-Key: KEY`"
            raise Problem(401, "no_key", message, headers=challenge)
        right = self.settings.keys.right_of(key)
        if right is None:
            raise Problem(401, "wrong_key", "this key is not known", headers=challenge)
        if route is not None and right != "write" and route.right != "read":
            raise Problem(403, "read_only_key", "this key may read, not write")
        scope["unseen.holder"], scope["unseen.right"] = holder_of(key), right
        return right

    def _note(self, scope: Scope, route: Route | None, status: int, seconds: float, who: str) -> None:
        path, method = scope["path"], scope["method"]
        known = "other" if route is None else route.path
        self.metrics.request(known, method if method in _METHODS else "other", status, seconds)
        if log.isEnabledFor(logging.INFO):
            client = (scope.get("client") or ("-",))[0]
            line = {"event": "request", "method": method, "path": path[:200], "status": status}
            line |= {"ms": round(seconds * 1000, 2), "client": client, "key": who}
            log.info(json.dumps(line))


async def _fail(error: Exception, out: Outgoing) -> None:
    status, body, headers = described(error)
    if status == 500:
        log.error(json.dumps({"event": "error", "error": repr(error)[:500]}), exc_info=error)
    if not out.status:
        await respond(out.send, status, as_bytes(body), {"content-type": "application/json", **headers})


def _split(name: str, value: bytes) -> SplitResult:
    try:
        return urlsplit(value.decode("latin-1"))
    except ValueError:
        raise bad_request(f"the header {name} is not valid") from None


def _check_host(settings: ServerSettings, headers: Headers) -> None:
    """Without keys only names of this machine are served: a foreign name may be a web page that points here."""
    if settings.keys:
        return
    host = _split("Host", b"//" + headers.get(b"host", b"")).hostname or ""
    if not is_loopback(host) and host != settings.host:
        raise Problem(403, "foreign_host", "this server has no keys and answers to names of its own machine only")


def _check_origin(origins: set[bytes], headers: Headers, route: Route | None) -> None:
    """A request that a web page of another origin has made is refused, unless that origin is allowed.

    Images, scripts, forms and links send no Origin with GET; the browser then says by Sec-Fetch-Site that the page is
    another one's. Such a page could not read the answer, but it could make the server work, so it gets none. Only a
    link may lead to an open route, where there is no data.
    """
    origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site", b"none")
    if origin in origins:
        return
    is_own = origin is None or _split("Origin", origin).netloc.encode("latin-1") == headers.get(b"host")
    if is_own and (site in (b"none", b"same-origin") or _is_link(headers, route)):
        return
    raise Problem(403, "foreign_origin", "pages of other origins may not use this server (see --cors-origin)")


def _is_link(headers: Headers, route: Route | None) -> bool:
    """Whether a click on a link leads to an open route."""
    navigates = headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"
    return navigates and route is not None and route.right == "open" and route.method == "GET"


def _key_in(headers: Headers) -> bytes:
    """The key that a request carries, or nothing."""
    scheme, _, bearer = headers.get(b"authorization", b"").partition(b" ")
    return headers.get(b"x-api-key") or (bearer.strip() if scheme.lower() == b"bearer" else b"")
