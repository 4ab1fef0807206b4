"""What goes wrong over HTTP: one JSON shape, the right status, never a stack trace.

{"error": {"code": "unknown_entity", "message": "unknown entity 'Frnace'; closest: France, ...", "closest": [...]}}
"""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import Any

from unseen.errors import (
    DatabaseError,
    DatasetError,
    DiskFull,
    EngineLost,
    GraphError,
    QueryRefused,
    QuerySyntaxError,
    UnknownName,
    UnseenError,
)

CLIENT_CLOSED = 499
"""What logs commonly say of a request whose client did not wait for the answer."""
_FILE = re.compile(r"""(?<![\w<:/.%])(?:/|[A-Za-z]:\\)[^\s'"<>,;]+""")


class Problem(UnseenError):
    """A request that cannot be answered, with its status."""

    def __init__(
        self, status: int, code: str, message: str, *, headers: dict[str, str] | None = None, reason: str = ""
    ) -> None:
        """`reason` says why the work on a request was ended, where it was begun."""
        self.status, self.code, self.headers, self.reason = status, code, headers or {}, reason
        super().__init__(message)


def bad_request(message: str, code: str = "bad_request") -> Problem:
    """The request itself is wrong."""
    return Problem(HTTPStatus.BAD_REQUEST, code, message)


def too_large(limit: int) -> Problem:
    """The body is larger than allowed."""
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", f"the request is larger than {limit:,} bytes")


def busy(seconds: int = 1) -> Problem:
    """Too many requests are waiting; there should be room after some seconds."""
    message = f"too many requests are waiting; try again in {'a second' if seconds == 1 else f'{seconds} seconds'}"
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "busy", message, headers={"Retry-After": str(seconds)})


def too_costly(seconds: float, limit: float) -> Problem:
    """One question would take longer than the time limit, however idle the server is: to try again does not help."""
    message = (
        f"this question would take about {seconds:,.0f} seconds, more than the {limit:g} that one may take: ask for "
        "less, ask for exact answers, or start the server with a larger --time-limit"
    )
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "too_costly", message)


def disconnected() -> Problem:
    """The client has disconnected; only the log shows this."""
    return Problem(CLIENT_CLOSED, "disconnected", "the client went away before its answer was there")


def held() -> Problem:
    """No exact query can be answered."""
    message = "the engine for exact queries does not start; the log of the server says why"
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "busy", message, headers={"Retry-After": "10"})


def occupied() -> Problem:
    """All threads of one kind are busy with abandoned work."""
    message = "work that ran over its time has not ended yet; try again in 10 seconds"
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "busy", message, headers={"Retry-After": "10"})


class ReplicaEnded(Problem):
    """The process that was to answer has ended."""


def replica_ended() -> ReplicaEnded:
    """A replica ended during a question; a new one starts."""
    message = "the process that predicts has ended, and another one starts; try again in 5 seconds"
    return ReplicaEnded(HTTPStatus.SERVICE_UNAVAILABLE, "replica_ended", message, headers={"Retry-After": "5"})


def no_replica() -> Problem:
    """Nothing can be predicted."""
    message = "no process that predicts starts; the log of the server says why"
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "no_replica", message, headers={"Retry-After": "30"})


def read_only() -> Problem:
    """Writes fail."""
    message = "writes fail at the moment, reading goes on; the log of the server says why"
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "read_only", message, headers={"Retry-After": "10"})


def stopping() -> Problem:
    """The server is about to end."""
    message = "the server is stopping; try again in a moment"
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "stopping", message, headers={"Retry-After": "5"})


def too_slow(seconds: float) -> Problem:
    """The time limit has passed."""
    reason = f"it took longer than {seconds:g} seconds"
    message = f"{reason}; ask for less, or start the server with a larger --time-limit"
    return Problem(HTTPStatus.GATEWAY_TIMEOUT, "time_limit", message, reason=reason)


def described(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Status, JSON and headers for an error; unexpected ones reveal no details."""
    status, code = _status_and_code(error)
    details: dict[str, Any] = {"code": code, "message": _message(error), **_details(error)}
    return status, {"error": details}, error.headers if isinstance(error, Problem) else {}


def _message(error: Exception) -> str:
    """What a client is told: nothing about files of the server."""
    match error:
        case DatabaseError(path=None):
            return without_files(error.problem)
        case DatabaseError():
            return f"the database: {without_files(error.problem)}"
        case GraphError():
            return error.problem if error.path is None else without_files(error.problem)
        case DatasetError():
            return without_files(error.problem)
        case UnseenError():
            return str(error)
    return "something went wrong inside the server; its log says what"


def without_files(text: str) -> str:
    """A text in which no path of a file is named."""
    return _FILE.sub("(a file)", text)


def as_bytes(body: dict[str, Any]) -> bytes:
    """JSON as bytes; text that is not Unicode is escaped."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


_ENGINE_LOST = {
    "time": (HTTPStatus.GATEWAY_TIMEOUT, "time_limit"),
    "memory": (HTTPStatus.BAD_REQUEST, "memory_limit"),
    "nesting": (HTTPStatus.BAD_REQUEST, "refused"),
}


def _status_and_code(error: Exception) -> tuple[int, str]:  # noqa: PLR0911 - a table, in order
    match error:
        case Problem():
            return error.status, error.code
        case UnknownName():
            return HTTPStatus.BAD_REQUEST, f"unknown_{error.kind}"
        case QuerySyntaxError():
            return HTTPStatus.BAD_REQUEST, "syntax_error"
        case QueryRefused():
            return HTTPStatus.BAD_REQUEST, "refused"
        case GraphError():
            return HTTPStatus.BAD_REQUEST, "bad_triples"
        case EngineLost():
            return _ENGINE_LOST.get(error.cause, (HTTPStatus.SERVICE_UNAVAILABLE, "engine_ended"))
        case DiskFull():
            return HTTPStatus.INSUFFICIENT_STORAGE, "disk_full"
        case DatabaseError():
            return HTTPStatus.INTERNAL_SERVER_ERROR, "storage_failed"
        case UnseenError():
            return HTTPStatus.BAD_REQUEST, "bad_request"
    return HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error"


def _place(error: UnknownName | QuerySyntaxError | QueryRefused) -> dict[str, Any]:
    """Where in the question an error is, and what may have been meant."""
    found = {"position": error.position, "suggestion": error.suggestion or None}
    return {name: value for name, value in found.items() if value is not None}


def _details(error: Exception) -> dict[str, Any]:
    match error:
        case UnknownName():
            return {"name": error.name, "closest": list(error.closest), **_place(error)}
        case QuerySyntaxError():
            return {"problem": error.problem, **_place(error)}
        case QueryRefused():
            return {"reason": error.reason, **_place(error)}
        case EngineLost() | Problem() if error.reason:
            return {"reason": error.reason}
    return {}
