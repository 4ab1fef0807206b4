"""What the world is: names, edges, and the files they come from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unseen.graph.knowledge_graph import KnowledgeGraph
    from unseen.graph.vocabulary import Vocabulary

__all__ = ["KnowledgeGraph", "Vocabulary"]

_MODULES = {"KnowledgeGraph": "unseen.graph.knowledge_graph", "Vocabulary": "unseen.graph.vocabulary"}


def __getattr__(name: str) -> Any:
    """Load what is asked for: processes that only parse need no arrays."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
