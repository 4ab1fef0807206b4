"""The graph that methods read: the last one made, and the changes since, put together when someone asks.

A burst of writes so costs one new graph, not many; graphs handed out never change.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from unseen.database.graph_steps import GraphState, GraphSteps
from unseen.database.recent_changes import RecentChanges
from unseen.database.triple_forms import LABEL_PREDICATE, can_be_edge, is_literal, keys_of, quads_of
from unseen.database.value_statements import changed_values
from unseen.graph.deltas import Delta, changed, joined
from unseen.graph.files.parts import LONGEST_NAME
from unseen.graph.files.rdf_terms import subject_term
from unseen.graph.files.statements import language_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unseen.database.journal import Change, Statement
    from unseen.graph import KnowledgeGraph
    from unseen.graph.deltas import KeyTriple
    from unseen.graph.names import Names

    Labels = Callable[[Iterable[str]], dict[str, list[tuple[str | None, str]]]]


class LiveGraph:
    """A graph and the changes that it does not have yet; `labels` looks up all labels of some subjects."""

    def __init__(self, graph: KnowledgeGraph, *, literals: bool, labels: Labels) -> None:
        self._graph, self._literals, self._labels = graph, literals, labels
        self._pending: dict[Statement, bool] = {}
        self._renamed: set[str] = set()
        self._lock = Lock()
        self._steps = GraphSteps()
        self.version = 0
        self.recent = RecentChanges()
        """What others than the graph follow; under the same lock, so that they show a change when the graph does."""

    def note(self, change: Change) -> None:
        """Take in a change; it is part of every graph handed out from now on."""
        with self._lock:
            self.recent.note(change)
            if change.size == 0:
                return
            self._pending |= dict.fromkeys(change.removed, False) | dict.fromkeys(change.added, True)
            self._renamed |= {s for s, p, _ in (*change.removed, *change.added) if p == LABEL_PREDICATE}
            self.version += 1

    def replace(self, graph: KnowledgeGraph) -> None:
        """Start again from a graph that has everything."""
        with self._lock:
            self._graph = graph
            self._pending, self._renamed = {}, set()
            self.recent.cut()
            self._steps.cut()
            self.version += 1

    def join(self, other: KnowledgeGraph, *, look_up: bool) -> None:
        """Take in the edges of another graph; `look_up` says whether its new names may have labels that it lacks."""
        graph = self.current()
        with_both = joined(graph, other)
        if look_up:
            names = (other.vocabulary.entities, other.vocabulary.relations)
            nameless = {key for column in names for key in _unlabelled(column)}
            known = graph.vocabulary
            new = {*_missing(known.entities, nameless), *_missing(known.relations, nameless)}
            labels = self._new_labels({subject_term(key) for key in new if not is_literal(key)})
            with_both = changed(with_both, Delta(labels=labels))
        self.replace(with_both)

    def current(self) -> KnowledgeGraph:
        """The graph with all changes."""
        with self._lock:
            return self._made()

    def current_after(self, place: int | None) -> GraphState:
        """The graph with all changes, and how a copy with the changes up to a place becomes like it."""
        with self._lock:
            graph = self._made()
            return GraphState(graph, self._steps.place, self._steps.after(place))

    def _made(self) -> KnowledgeGraph:
        if self._pending:
            delta = self._delta()
            self._graph = changed(self._graph, delta)
            self._steps.note(delta)
            self._pending, self._renamed = {}, set()
        return self._graph

    @property
    def last_made(self) -> KnowledgeGraph:
        """The graph that was made last, perhaps without the latest changes; nobody waits for it."""
        return self._graph

    def for_names(self) -> KnowledgeGraph:
        """A graph in which every readable name of a known thing can be found; perhaps without the latest edges."""
        if self._renamed:
            return self.current()
        with self._lock:
            return self._graph

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep everyone from making a new graph, for which labels would be looked up."""
        with self._lock:
            yield

    def _delta(self) -> Delta:
        pending = self._pending.items()
        edges = {s: is_there for s, is_there in pending if can_be_edge(s, literals=self._literals)}
        added = [keys_of(statement) for statement, is_there in edges.items() if is_there]
        values_added, values_removed = (None, None) if self._literals else changed_values(dict(pending))
        subjects = values_added.subjects.to_pylist() if values_added is not None else ()
        labels = self._new_labels({*self._renamed, *self._unmet(added, subjects)})
        if self._literals:
            labels |= {value: quads_of([(s, p, value)])[0].object.value for s, p, value in edges if is_literal(value)}
        return Delta(
            added=added,
            removed=[keys_of(statement) for statement, is_there in edges.items() if not is_there],
            labels=labels,
            values_added=values_added,
            values_removed=values_removed,
        )

    def _unmet(self, added: list[KeyTriple], subjects: Iterable[str] = ()) -> set[str]:
        """Subjects that the graph does not have yet: their labels may have come before their first edge."""
        vocabulary = self._graph.vocabulary
        entities = {*subjects, *(key for head, _, tail in added for key in (head, tail))}
        relations = {relation for _, relation, _ in added}
        unmet = {*_missing(vocabulary.entities, entities), *_missing(vocabulary.relations, relations)}
        return {subject_term(key) for key in unmet if not is_literal(key)}

    def _new_labels(self, subjects: set[str]) -> dict[str, str | None]:
        found = self._labels(subjects) if subjects else {}
        named = {subject: _most_welcome(found.get(subject, [])) for subject in subjects}
        return {
            keys_of((subject, subject, subject))[0]: label
            for subject, label in named.items()
            if label is not None or subject in self._renamed
        }


def _unlabelled(names: Names) -> list[str]:
    keys: list[str] = (names.keys if names.labels is None else names.keys.filter(names.labels.is_null())).to_pylist()
    return keys


def _missing(names: Names, keys: set[str]) -> list[str]:
    """The keys that there is no name for."""
    wanted = list(keys)
    ids = names.find_keys(wanted).tolist() if wanted else []
    return [key for key, index in zip(wanted, ids, strict=True) if index < 0]


def _most_welcome(labels: list[tuple[str | None, str]]) -> str | None:
    """The label that is shown, on one line."""
    found = ((language_rank(language), " ".join(text.split())) for language, text in labels)
    usable = [(rank, text) for rank, text in found if text and "\0" not in text and len(text) <= LONGEST_NAME]
    return min(usable)[1] if usable else None
