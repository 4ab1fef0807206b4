"""The graph that methods read: the last one made, and the changes since, put together when someone asks.

A burst of writes so costs one new graph, not many; graphs handed out never change.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from unseen.database.statements import LABEL_PREDICATE, can_be_edge, is_literal, keys_of, quads_of
from unseen.graph.deltas import Delta, changed
from unseen.graph.files.parts import LONGEST_NAME
from unseen.graph.files.statements import language_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unseen.database.journal import Change, Statement
    from unseen.graph import KnowledgeGraph

    Labels = Callable[[str], Iterable[tuple[str | None, str]]]


class LiveGraph:
    """A graph and the changes that it does not have yet; `labels` looks up all labels of a subject."""

    def __init__(self, graph: KnowledgeGraph, *, literals: bool, labels: Labels) -> None:
        self._graph, self._literals, self._labels = graph, literals, labels
        self._pending: dict[Statement, bool] = {}
        self._renamed: set[str] = set()
        self._lock = Lock()
        self.version = 0

    def note(self, change: Change) -> None:
        """Take in a change; it is part of every graph handed out from now on."""
        if change.size == 0:
            return
        with self._lock:
            self._pending |= dict.fromkeys(change.removed, False) | dict.fromkeys(change.added, True)
            self._renamed |= {s for s, p, _ in (*change.removed, *change.added) if p == LABEL_PREDICATE}
            self.version += 1

    def replace(self, graph: KnowledgeGraph) -> None:
        """Start again from a graph that has everything."""
        with self._lock:
            self._graph = graph
            self._pending, self._renamed = {}, set()
            self.version += 1

    def current(self) -> KnowledgeGraph:
        """The graph with all changes."""
        with self._lock:
            if self._pending:
                self._graph = changed(self._graph, self._delta())
                self._pending, self._renamed = {}, set()
            return self._graph

    def for_names(self) -> KnowledgeGraph:
        """A graph in which every readable name of a known thing can be found; perhaps without the latest edges."""
        if self._renamed:
            return self.current()
        with self._lock:
            return self._graph

    def _delta(self) -> Delta:
        pending = self._pending.items()
        edges = {s: is_there for s, is_there in pending if can_be_edge(s, literals=self._literals)}
        labels = {keys_of((subject, subject, subject))[0]: self._label(subject) for subject in self._renamed}
        if self._literals:
            labels |= {value: quads_of([(s, p, value)])[0].object.value for s, p, value in edges if is_literal(value)}
        return Delta(
            added=[keys_of(statement) for statement, is_there in edges.items() if is_there],
            removed=[keys_of(statement) for statement, is_there in edges.items() if not is_there],
            labels=labels,
        )

    def _label(self, subject: str) -> str | None:
        """The most welcome label of a subject, on one line."""
        found = ((language_rank(language), " ".join(text.split())) for language, text in self._labels(subject))
        usable = [(rank, text) for rank, text in found if text and "\0" not in text and len(text) <= LONGEST_NAME]
        return min(usable)[1] if usable else None
