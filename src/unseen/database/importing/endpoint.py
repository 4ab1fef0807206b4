"""Questions to a SPARQL endpoint over HTTP: tried again with growing pauses where it is busy or the connection breaks.

An endpoint that says how long to wait (`Retry-After`) is believed, up to ten minutes.
"""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urlsplit, urlunsplit

from unseen.errors import DatabaseError
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message

RESULTS = "application/sparql-results+json"
TRIES = 6
FIRST_PAUSE, LONGEST_PAUSE, LONGEST_WISH = 1.0, 60.0, 600.0
"""Seconds before the second try, before any try, and that an endpoint may ask for."""
PAGES = frozenset({"text/html", "application/xhtml+xml"})
PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses that may be better at the next try."""
SHOWN = 300
"""Characters of an endpoint's complaint that are shown."""


class TooMuchAsked(Exception):
    """The endpoint was too slow or broke off, again and again: a smaller page may help."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


@dataclass
class Endpoint:
    """One endpoint; `note` hears why something is tried again."""

    url: str
    timeout: float = 120.0
    note: Callable[[str], None] = lambda _: None
    sleep: Callable[[float], None] = time.sleep
    _headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise DatabaseError(f"{self.url!r} is not the address of an endpoint: http://HOST/PATH")
        self._headers = {"Accept": RESULTS, "User-Agent": f"unseen/{__version__}"}
        if parts.username is not None:
            secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = "Basic " + base64.b64encode(secret.encode()).decode()
        host = parts.netloc.rpartition("@")[2]
        self.url = urlunsplit(parts._replace(netloc=host))

    def select(self, query: str) -> list[dict[str, dict[str, str]]]:
        """The rows of a SELECT query; `TooMuchAsked` if no try brings them."""
        problem = ""
        wish: float | None = None
        for number in range(TRIES):
            if number:
                self.sleep(self._pause(number, wish, problem))
            try:
                return _rows(self._answer(query))
            except urllib.error.HTTPError as error:
                problem, wish = self._complaint(error), _wish(error.headers.get("Retry-After"))
                if error.code not in PASSING:
                    raise DatabaseError(f"{self.url}: {problem}") from None
            except (OSError, HTTPException) as error:
                problem, wish = (
                    f"no answer: {getattr(error, 'reason', None) or str(error) or type(error).__name__}",
                    None,
                )
            except ValueError as error:
                problem, wish = f"the answer breaks off or is not a JSON result: {error}", None
        raise TooMuchAsked(f"{self.url}: {problem} (tried {TRIES} times)")

    def _answer(self, query: str) -> bytes:
        request = urllib.request.Request(self.url, urlencode({"query": query}).encode(), self._headers)  # noqa: S310 - the scheme was checked
        with _OPENER.open(request, timeout=self.timeout) as response:
            kind = response.headers.get_content_type()
            if kind in PAGES:
                raise DatabaseError(
                    f"{self.url} answers with a page ({kind}), not with SPARQL results as JSON: it is not the address "
                    "of an endpoint, or asks for something first, such as a login"
                )
            body: bytes = response.read()
        return body

    def _pause(self, number: int, wish: float | None, problem: str) -> float:
        seconds = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (number - 1)) if wish is None else min(wish, LONGEST_WISH)
        self.note(f"{problem}; the next try is in {seconds:g} seconds")
        return seconds

    def _complaint(self, error: urllib.error.HTTPError) -> str:
        try:
            text = " ".join(error.read(1 << 14).decode("utf-8", "replace").split())[:SHOWN]
        except (OSError, HTTPException):
            text = ""
        return f"answers {error.code} {error.reason}" + (f": {text}" if text else "")


class _Forwarding(urllib.request.HTTPRedirectHandler):
    """Follows an endpoint that has moved with the same question; a password only goes to the host that it is for."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request:
        """The question to the new address."""
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme, new.scheme) == ("https", "http"):
            raise urllib.error.HTTPError(req.full_url, code, f"{msg}: to {newurl}, which is not asked", headers, fp)
        is_same = old.netloc == new.netloc
        kept = {name: value for name, value in req.headers.items() if is_same or name != "Authorization"}
        return urllib.request.Request(newurl, req.data, kept)  # noqa: S310 - the scheme was checked


_OPENER = urllib.request.build_opener(_Forwarding)


def _wish(text: str | None) -> float | None:
    """The seconds of a `Retry-After`, which may be a date."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _rows(body: bytes) -> list[dict[str, dict[str, str]]]:
    try:
        answered: Any = json.loads(body)
        rows = answered["results"]["bindings"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{error!r} is missing") from None
    if not isinstance(rows, list):
        raise ValueError("its rows are no list")
    return rows
