"""Memory that compiled loops write in, lent to one piece of work after the other: one for each thread, made once."""

from __future__ import annotations

from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
