"""One pass of mining with a number of samples, and the clock that ends it.

Every stage is a list of small pieces of work. Between two of them, the clock and Ctrl-C count. A first round that runs
out of time is cut short: each stage ends after its share of the time, with what it has by then. Later rounds end by an
exception, because the round before them counts.
"""

from __future__ import annotations

from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from unseen.rules.fair_clock import CLOCK
from unseen.rules.in_order import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unseen.rules.adjacency import Adjacency

    Progress = Callable[[str, int, int], None]
    Item = TypeVar("Item")
    Result = TypeVar("Result")


class TimeIsUpError(Exception):
    """A later round of mining did not end in time."""


class Round:
    """What one pass works on; `deadline` is in seconds of `CLOCK`."""

    def __init__(
        self,
        adjacency: Adjacency,
        samples: int,
        seed: int,
        progress: Progress,
        deadline: float | None = None,
        is_first: bool = True,
    ) -> None:
        self.adjacency, self.samples, self.seed, self.progress = adjacency, samples, seed, progress
        self.deadline, self.is_first = deadline, is_first
        self.was_cut = False
        self._begun, self._limit, self._left = CLOCK.now(), deadline, Event()

    def is_over(self) -> bool:
        """Whether work in hand should stop."""
        return self._left.is_set() or (self._limit is not None and CLOCK.now() > self._limit)

    def is_late(self) -> bool:
        """Whether the time for the whole round is over."""
        return self.deadline is not None and CLOCK.now() > self.deadline

    def each(
        self, label: str, function: Callable[[Item], Result], items: Iterable[Item], share: float, least: int = 1
    ) -> Iterator[Result]:
        """The results of a stage, `least` at least; a first round leaves it when `share` of its time is over."""
        work = list(items)
        self._begin(share)
        with closing(in_order(function, work, self._left.set)) as results:
            for done, result in enumerate(results, start=1):
                self.progress(label, done, len(work))
                yield result
                if least <= done < len(work) and self.is_over():
                    self._cut()
                    return

    def _begin(self, share: float) -> None:
        self._left.clear()
        if self.deadline is not None:
            self._limit = self._begun + share * (self.deadline - self._begun) if self.is_first else self.deadline

    def _cut(self) -> None:
        if not self.is_first:
            raise TimeIsUpError
        self.was_cut = True
