"""What a request carries: its body up to a size, its type, its parameters.

Work that grows with a text is done in a thread (`Service.read`) if the text is long: the loop belongs to everyone.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import parse_qsl

from unseen.database.engine.deadline import restart_deadline
from unseen.server.problems import Problem, bad_request, too_large

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request

Result = TypeVar("Result")
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
MOST_PARAMETERS = 1000
SHORT = 16 << 10
"""Bytes of a text that is worked on where it arrives; it takes a millisecond at most."""


class Help(Protocol):
    """What runs an action in one of a few threads, such as `Service.read`."""

    def __call__(self, action: Callable[[], Result], /) -> Awaitable[Result]:
        """The result of an action."""


async def apart(help_: Help, size: int, action: Callable[[], Result]) -> Result:
    """The result of an action on a text of a size; on a long one it is run in a thread."""
    return action() if size <= SHORT else await help_(action)


async def body_of(request: Request, limit: int) -> bytes:
    """The whole body; one that is larger than the limit is refused before it is read to the end."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise too_large(limit)
    chunks, size, more = [], 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise bad_request("the client went away before its request had arrived", "disconnected")
        chunk, more = message.get("body", b""), message.get("more_body", False)
        if more and "unseen.slow_body" in request.scope:  # set by the connection
            raise Problem(408, "slow_body", "the request took too long to arrive")
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        chunks.append(chunk)
    restart_deadline()
    return b"".join(chunks)


async def text_of(request: Request, limit: int) -> str:
    """The body as text."""
    return _decoded(await body_of(request, limit))


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise bad_request("the body is not UTF-8 text") from None


def media_type_of(request: Request) -> str:
    """The type of the body, without parameters."""
    return request.headers.get("content-type", "").split(";", maxsplit=1)[0].strip().lower()


def require_type(request: Request, allowed: Sequence[str]) -> str:
    """The type of the body, if it is one of those allowed."""
    found = media_type_of(request)
    if found not in allowed:
        message = f"the body must be {' or '.join(allowed)}, not {found or 'of no type'}"
        raise Problem(415, "unsupported_type", message)
    return found


async def json_of(request: Request, limit: int, help_: Help) -> dict[str, Any]:
    """The body as a JSON object."""
    require_type(request, [JSON])
    body = await body_of(request, limit)
    return await apart(help_, len(body), partial(json_in, body))


def json_in(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is."""
    try:
        value = _JSON.decode(_decoded(body))
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the body is not valid JSON: {error}", "bad_json") from None
    if not isinstance(value, dict):
        raise bad_request("the body must be a JSON object", "bad_json")
    return value


async def parameters_of(request: Request, help_: Help) -> Parameters:
    """The parameters in the address of a request."""
    size = len(request.scope["query_string"])
    return await apart(help_, size, partial(Parameters.of_query, request))


class Parameters:
    """Parameters of a request, from its address and from a form."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self.pairs = pairs

    @classmethod
    def of_query(cls, request: Request) -> Parameters:
        """Those in the address."""
        return cls(_parsed(request.scope["query_string"].decode("latin-1")))

    def with_form(self, text: str) -> Parameters:
        """These and those of a form."""
        return Parameters([*self.pairs, *_parsed(text)])

    def all(self, name: str) -> list[str]:
        """Every value of a parameter."""
        return [value for key, value in self.pairs if key == name]

    def single(self, name: str) -> str | None:
        """The value of a parameter that may be given once."""
        values = self.all(name)
        if len(values) > 1:
            raise bad_request(f"the parameter {name!r} was given {len(values)} times; give it once")
        return values[0] if values else None

    def required(self, name: str) -> str:
        """The value of a parameter that must be given."""
        value = self.single(name)
        if not value:
            raise bad_request(f"the parameter {name!r} is missing")
        return value

    def flag(self, name: str) -> bool:
        """A parameter that is true or false."""
        value = (self.single(name) or "false").lower()
        if value not in ("true", "false"):
            raise bad_request(f"the parameter {name!r} is true or false")
        return value == "true"

    def number(self, name: str, lowest: int, highest: int) -> int | None:
        """A parameter that is a whole number."""
        value = self.single(name)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and len(value) < 10 and lowest <= int(value) <= highest):
            raise bad_request(f"the parameter {name!r} is a whole number from {lowest} to {highest}")
        return int(value)


def _parsed(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except (UnicodeDecodeError, ValueError):
        raise bad_request("the parameters are not valid: they must be UTF-8, at most a thousand") from None


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


_JSON = json.JSONDecoder(parse_constant=_refused)
