"""Memory that compiled loops write in, lent to one piece of work after the other: one for each thread, made once."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

from unseen.rules.evidence import new_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unseen.graph import KnowledgeGraph
    from unseen.rules.evidence import State

Memory = TypeVar("Memory")


class Scratch(Generic[Memory]):
    """Pieces of memory that `make` makes; each is handed back as clean as it was lent."""

    def __init__(self, make: Callable[[], Memory]) -> None:
        self._make = make
        self._free: SimpleQueue[Memory] = SimpleQueue()

    @contextmanager
    def lent(self) -> Iterator[Memory]:
        """One piece for as long as the block lasts; a block that fails does not give it back."""
        try:
            memory = self._free.get_nowait()
        except Empty:
            memory = self._make()
        yield memory
        self._free.put(memory)


_STATES: WeakKeyDictionary[KnowledgeGraph, Scratch[State]] = WeakKeyDictionary()


def scratch_of(graph: KnowledgeGraph) -> Scratch[State]:
    """States for firing rules on a graph, kept as long as it lives."""
    found = _STATES.get(graph)
    if found is None:
        found = _STATES[graph] = Scratch(partial(new_state, graph.num_entities))
    return found
