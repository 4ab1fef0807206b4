"""A graph with its rules and the weights fitted to it, computed once.

Both are found within a time, so that two processes may find different ones. Workers are given those of the process
that started them; they then answer alike.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph


@dataclass(frozen=True, eq=False)
class TaughtGraph:
    """What all workers of a machine share; arrays lie in its memory once."""

    graph: KnowledgeGraph
    found_out: bytes
    """Rules and weights as each worker gets a copy of its own: loops are compiled for arrays that can be written."""
    database: Path | None

    @classmethod
    def of(cls, graph: KnowledgeGraph, method: object) -> TaughtGraph:
        """The graph with all that a method would compute at the first question."""
        from unseen.rules.origins import has_source, source_of

        inner = _inner(method)
        rules = inner.rules_of(graph) if hasattr(inner, "rules_of") else None
        own = inner.own_weights(graph) if hasattr(inner, "own_weights") else None
        _ = graph.by_head, graph.by_tail  # sorted here, and by no worker again
        return cls(graph, pickle.dumps((rules, own)), source_of(graph) if has_source(graph) else None)

    def hand_to(self, method: object) -> None:
        """Give a method the rules and weights."""
        from unseen.rules.opening import use_rules
        from unseen.rules.origins import note_source

        inner = _inner(method)
        rules, own = pickle.loads(self.found_out)  # noqa: S301 - written by the process that started this one
        if rules is not None:
            use_rules(self.graph, rules)
        if own is not None:
            inner.own.use(self.graph, own)
        if self.database is not None and self.database.is_dir():  # what is kept beside it is mapped, and so shared too
            note_source(self.graph, self.database)


def _inner(method: object) -> Any:
    """The method inside of one that calibrates it."""
    return getattr(method, "method", method)


def name_anywhere(name: str) -> str:
    """The name of a method that a process in another folder understands too."""
    from unseen.api import METHODS

    return str(Path(name).resolve()) if name not in METHODS and Path(name).is_dir() else name
