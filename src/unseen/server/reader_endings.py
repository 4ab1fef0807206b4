"""Errors for clients whose reader was ended in the middle of their request, or refused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.database.engine.wire_errors import unpacked
from unseen.errors import DatabaseError, QueryRefused
from unseen.server.problems import Problem

if TYPE_CHECKING:
    from unseen.database.engine.process import Child


def why_it_ended(child: Child, megabytes: int) -> tuple[str, Exception]:
    """The cause for which a process has ended by itself, and the error that says so."""
    cause, reason = child.why_it_ended(megabytes)
    if cause == "nesting":
        return cause, QueryRefused(reason)
    if cause == "memory":
        return cause, out_of_memory(megabytes)
    message = "the engine ended while it was at this; try again"
    return cause, Problem(503, "engine_ended", message, headers={"Retry-After": "1"}, reason=reason)


def complaint(data: dict[str, object], text: str | None, megabytes: int) -> Exception:
    """The error that a reader has met; `text` is what it was about."""
    error = unpacked(data, text)
    if isinstance(error, MemoryError):
        return out_of_memory(megabytes)
    if isinstance(error, OSError | ValueError | RuntimeError | SyntaxError):
        return DatabaseError(f"the query failed: {error}")
    return error


def out_of_memory(megabytes: int) -> Problem:
    """A query, document or update that needs too much memory."""
    reason = f"it needs more than {megabytes:,} MB of memory"
    message = f"{reason}; ask for less, or start the server with --query-memory"
    return Problem(400, "memory_limit", message, reason=reason)


def crowded() -> Problem:
    """A query takes long, and as many as are allowed do already."""
    reason = "other long queries are running"
    message = f"{reason}; try again later, or ask for less"
    return Problem(503, "busy", message, headers={"Retry-After": "10"}, reason=reason)


def too_much_planning(seconds: float) -> QueryRefused:
    """An update whose patterns take long before anything is read or written."""
    return QueryRefused(f"its patterns take more than {seconds:.2g} seconds to plan; write several smaller updates")
