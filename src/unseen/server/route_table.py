"""One table of routes: who may use each, and which function answers it.

A path is compared as a whole, after `%XX` has been decoded, and never as a pattern: `/store%0A` and `/store/` are other
paths than `/store`. The gate takes the right that is needed from the route that is then called, so that the two cannot
differ; a route without a right cannot be made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from unseen.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    Endpoint = Callable[[Request], Awaitable[Response]]

NeededRight = Literal["open", "read", "write"]
"""open: anyone; read: any key; write: a write key. On a server without keys everyone may do everything."""
METHODS = ("GET", "POST", "PUT", "DELETE")
"""What a route may have; HEAD is where GET is."""


@dataclass(frozen=True, slots=True)
class Route:
    """A path with a method: the right that it needs, the function that answers it, what `/openapi.json` says of it."""

    method: str
    path: str
    right: NeededRight
    answer: Endpoint
    description: Mapping[str, Any] | None = None
    """A route without one is not listed."""

    def __post_init__(self) -> None:
        if self.right not in get_args(NeededRight):
            raise ValueError(f"{self.method} {self.path}: a route is open, or needs to read or to write")
        if self.method not in METHODS or not self.path.startswith("/"):
            raise ValueError(f"{self.method} {self.path}: a route has a method of {METHODS} and a path from /")


class RouteTable:
    """All routes of a server."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._paths: dict[str, dict[str, Route]] = {}
        for route in self.routes:
            methods = self._paths.setdefault(route.path, {})
            for method in ("GET", "HEAD") if route.method == "GET" else (route.method,):
                if method in methods:
                    raise ValueError(f"{method} {route.path} is there twice")
                methods[method] = route

    def find(self, method: str, path: str) -> Route | None:
        """The route of a request, if there is one."""
        methods = self._paths.get(path)
        return None if methods is None else methods.get(method)

    def missing(self, path: str) -> Problem:
        """Why there is no route: no such path, or no such method of it."""
        methods = self._paths.get(path)
        if methods is None:
            return Problem(404, "not_found", "there is nothing at this address; /openapi.json lists what there is")
        message = "this address does not take that method; /openapi.json lists what it takes"
        return Problem(405, "method_not_allowed", message, headers={"Allow": ", ".join(sorted(methods))})
