"""Errors on their way from a process of the engine to the server: as JSON, and as errors again."""

from __future__ import annotations

from typing import Any

from unseen.errors import DatabaseError, GraphError, QueryRefused, QuerySyntaxError, UnseenError, shorten

_PLAIN = {kind.__name__: kind for kind in (SyntaxError, ValueError, RuntimeError, MemoryError)}


class ResultTooLarge(UnseenError):
    """A result that is larger than allowed, or for which there is no room at the moment."""

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(f"the result is larger than {most:,} bytes; add a LIMIT")


class UnknownGraph(UnseenError):
    """There is no graph of that name."""

    def __init__(self, graph: str) -> None:
        self.graph = graph
        super().__init__(f"there is no graph {graph}")


def packed(error: BaseException) -> dict[str, Any]:  # noqa: PLR0911 - a table
    """An error as JSON; the text that it is about stays where it is."""
    match error:
        case QuerySyntaxError():
            return {"kind": "syntax", "problem": error.problem, "position": error.position}
        case QueryRefused():
            return {"kind": "refused", "reason": error.reason, "position": error.position}
        case ResultTooLarge():
            return {"kind": "too_large", "most": error.most}
        case UnknownGraph():
            return {"kind": "unknown_graph", "graph": error.graph}
        case UnseenError():
            return {"kind": "graph" if isinstance(error, GraphError) else "database", "problem": str(error)}
        case OSError():
            return {"kind": "OSError", "errno": error.errno, "problem": shorten(str(error.strerror or error), 500)}
    kind = next((name for name, kind in _PLAIN.items() if isinstance(error, kind)), "RuntimeError")
    return {"kind": kind, "problem": shorten(str(error), 2000)}


def unpacked(data: dict[str, Any], text: str | None = None) -> Exception:  # noqa: PLR0911 - a table
    """The error that a process has met; `text` is the query or update that it was about."""
    match data["kind"]:
        case "syntax":
            return QuerySyntaxError(data["problem"], text=text or "", position=data["position"])
        case "refused":
            return QueryRefused(data["reason"], text=text, position=data["position"])
        case "too_large":
            return ResultTooLarge(data["most"])
        case "unknown_graph":
            return UnknownGraph(data["graph"])
        case "graph":
            return GraphError(data["problem"])
        case "database":
            return DatabaseError(data["problem"])
        case "OSError":
            return OSError(data["errno"], data["problem"]) if data["errno"] else OSError(data["problem"])
    return _PLAIN[data["kind"]](data["problem"])
