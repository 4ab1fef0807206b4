"""What is computed of a graph once, and brought up to date when the graph changes, where that is less work.

A changed graph inherits what was computed of the graph before it, with what has changed since. It does not keep that
graph alive.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.graph.edge_changes import EdgeChange
    from unseen.graph.knowledge_graph import KnowledgeGraph

Computed = TypeVar("Computed")
MOST_CHANGED = 0.05
"""Share of the edges above which everything is recomputed."""


class Derived(Generic[Computed]):
    """Something of every graph, kept as long as the graph lives.

    `make` computes it. `update` takes what was computed of an earlier graph, what has changed since and the graph;
    entities and relations have the ids that they had, and there may be more of them. Both also get what is `given`.
    """

    _every: ClassVar[list[Derived[Any]]] = []

    def __init__(
        self,
        make: Callable[..., Computed],
        update: Callable[..., Computed],
    ) -> None:
        self._make, self._update = make, update
        self._known: WeakKeyDictionary[KnowledgeGraph, Computed] = WeakKeyDictionary()
        self._inherited: WeakKeyDictionary[KnowledgeGraph, tuple[Computed, EdgeChange]] = WeakKeyDictionary()
        self._lock = RLock()
        Derived._every.append(self)

    def of(self, graph: KnowledgeGraph, *given: Any) -> Computed:
        """The derived value of a graph, computed or updated on first use."""
        found = self._known.get(graph)
        if found is None:
            with self._lock:
                found = self._known.get(graph)
                if found is None:
                    found = self._known[graph] = self._computed(graph, *given)
                    self._inherited.pop(graph, None)
        return found

    def is_known(self, graph: KnowledgeGraph) -> bool:
        """Whether it has been computed."""
        return graph in self._known

    def has_earlier(self, graph: KnowledgeGraph) -> bool:
        """Whether it would be brought up to date, from what was computed of an earlier graph."""
        return graph in self._inherited

    def _computed(self, graph: KnowledgeGraph, *given: Any) -> Computed:
        earlier = self._inherited.get(graph)
        return self._make(graph, *given) if earlier is None else self._update(*earlier, graph, *given)

    def _inherit(self, old: KnowledgeGraph, new: KnowledgeGraph, change: EdgeChange) -> None:
        inherited, known = self._inherited.get(old), self._known.get(old)
        if known is not None:
            self._inherited[new] = known, change
        elif inherited is not None:
            whole = inherited[1].then(change)
            if len(whole) <= MOST_CHANGED * new.num_triples:
                self._inherited[new] = inherited[0], whole


def inherit(old: KnowledgeGraph, new: KnowledgeGraph, change: EdgeChange) -> None:
    """Let a graph have what was computed of the one before it."""
    if len(change) <= MOST_CHANGED * new.num_triples:
        for each in Derived._every:
            each._inherit(old, new, change)
