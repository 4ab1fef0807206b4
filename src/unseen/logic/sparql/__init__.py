"""SPARQL in and out: `parse_sparql` makes a query of a SELECT, `to_sparql` writes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unseen.logic.sparql.parse import SparqlPattern, SparqlSelection, parse_select, parse_sparql
    from unseen.logic.sparql.writer import to_sparql

__all__ = ["SparqlPattern", "SparqlSelection", "parse_select", "parse_sparql", "to_sparql"]

_HOMES = dict.fromkeys(__all__[:4], "unseen.logic.sparql.parse")
_HOMES["to_sparql"] = "unseen.logic.sparql.writer"


def __getattr__(name: str) -> Any:
    """Import when first used: a process that only needs the words of a text starts in milliseconds."""
    if name not in _HOMES:
        raise AttributeError(f"module 'unseen.logic.sparql' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
