"""The origin of graphs, which decides where their rules are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.graph import KnowledgeGraph

_SOURCES: WeakKeyDictionary[KnowledgeGraph, Path | None] = WeakKeyDictionary()


def note_source(graph: KnowledgeGraph, database: Path | None) -> KnowledgeGraph:
    """The same graph, which came from the folder of a database, or, without one, from files."""
    _SOURCES[graph] = database
    return graph


def has_source(graph: KnowledgeGraph) -> bool:
    """Whether a graph came from a database or from files, and not out of a program."""
    return graph in _SOURCES


def source_of(graph: KnowledgeGraph) -> Path | None:
    """The folder of the database that a graph came from; None if it came from files."""
    return _SOURCES[graph]
