"""The page: static files, each a route of its own, so that no address can name any other file.

They hold no data and are therefore open; what they show comes from the routes of `page_routes`, which need a key where
there are keys. A browser asks again each time whether a file has changed, and gets 304 if not.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from unseen.server.route_table import Route

if TYPE_CHECKING:
    from starlette.requests import Request

    from unseen.server.route_table import Endpoint

FOLDER = "page"
VIEWS = {
    "/": "index.html",
    "/ask": "index.html",
    "/why": "index.html",
    "/entity": "index.html",
    "/change": "index.html",
    "/sparql": "sparql.html",
}
"""Addresses that a person opens, and the file that answers them; the page reads the address itself."""
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    "": "text/plain; charset=utf-8",
}
"""Files of other endings are not served."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src {style}; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
STRICT = _POLICY.format(style="'self'")
INLINE_STYLES = _POLICY.format(style="'self' 'unsafe-inline'")
"""YASGUI writes style elements; scripts stay strict."""


@dataclass(frozen=True)
class PageFile:
    """A file of the page, ready to send."""

    content: bytes
    media_type: str
    policy: str = STRICT

    @property
    def tag(self) -> str:
        """A text that changes with the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:20]}"'

    @property
    def headers(self) -> dict[str, str]:
        """What goes with the content."""
        return {
            "ETag": self.tag,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": self.policy,
            "Referrer-Policy": "no-referrer",
        }


def routes() -> list[Route]:
    """The views, and under /page/ the files that they load."""
    folder = Path(str(resources.files("unseen.server") / FOLDER))
    views = [Route("GET", path, "open", _answering(_read(folder / name))) for path, name in VIEWS.items()]
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix in MEDIA_TYPES]
    loaded = [
        Route("GET", f"/{FOLDER}/{file.relative_to(folder).as_posix()}", "open", _answering(_read(file)))
        for file in files
        if file.suffix != ".html"
    ]
    return [*views, *loaded]


def _read(file: Path) -> PageFile:
    policy = INLINE_STYLES if file.name == VIEWS["/sparql"] else STRICT
    return PageFile(file.read_bytes(), MEDIA_TYPES[file.suffix], policy)


def _answering(file: PageFile) -> Endpoint:
    headers, tag = file.headers, file.tag

    async def answer(request: Request) -> Response:
        """A file of the page."""
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=headers)

    return answer
