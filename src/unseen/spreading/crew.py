"""A crew: workers that share pieces of work. One that dies is replaced, and its piece is done again by another.

```python
with crew_of(workers=4, address=None) as crew:
    for number, result in crew.results(make, shared, pieces):
        ...
```

`make(*shared)` is called once in every worker and returns what does a piece: a function of one argument. All of it
travels between processes. Of what is shared, each machine holds one copy: arrays are read where they lie, and cannot
be written. Results come in the order in which they are done, each piece exactly once.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sized
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any

from unseen.errors import UnseenError
from unseen.spreading.cluster import CORES_OF_A_WORKER, opened_ray
from unseen.spreading.worker import Trouble, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

TRIES = 3
"""Workers that may die over one piece."""
LOOK = 1.0
"""Seconds between two looks at the time."""
STARTING = -1
"""In place of the number of a piece: the worker is not ready yet."""


@contextmanager
def crew_of(
    workers: int | None, address: str | None, tell: Callable[[str], None] = lambda _text: None
) -> Iterator[Crew]:
    """A crew of so many workers, by default one for each GPU or else for every two cores; its processes end with it.

    `tell` is told of workers that died.
    """
    with opened_ray(address, workers) as ray:
        resources = ray.cluster_resources()
        cores, gpus = int(resources.get("CPU", 1)), int(resources.get("GPU", 0))
        count = workers or gpus or max(1, cores // CORES_OF_A_WORKER)
        yield Crew(ray, count, cores / count, min(1.0, gpus / count), tell)


@dataclass(frozen=True)
class Crew:
    """Some workers, each with its share of the cores and of the GPUs."""

    ray: Any
    workers: int
    cores_each: float
    gpus: float = 0.0
    tell: Callable[[str], None] = lambda _text: None

    @property
    def threads(self) -> int:
        """The threads of each worker."""
        return max(1, int(self.cores_each))

    @property
    def cores(self) -> float:
        """The cores reserved for each worker."""
        return float(self.threads) if self.cores_each >= 1 else self.cores_each

    def results(
        self,
        make: Callable[..., Callable[[Any], Any]],
        shared: Sequence[object],
        pieces: Iterable[Any],
        *,
        until: float | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """The place and the result of every piece, as they are done; no more of them after a time of the clock.

        A piece is taken from `pieces` when there is a worker for it.
        """
        most = min(self.workers, len(pieces)) if isinstance(pieces, Sized) else self.workers
        if most == 0:
            return
        work = _Work(self, [self.ray.put(one) for one in (make, *shared)], enumerate(pieces), most)
        try:
            yield from work.results(until)
        finally:
            work.end()


def in_order(results: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """The results by place; those that come too early are kept until it is their turn."""
    early: dict[int, Any] = {}
    turn = 0
    for place, result in results:
        early[place] = result
        while turn in early:
            yield early.pop(turn)
            turn += 1


@dataclass(eq=False)
class _Work:
    """Waiting pieces, pieces in progress, and their workers.

    Only a worker that is ready is given a piece: one that finds no place in a cluster holds up nothing.
    """

    crew: Crew
    references: list[Any]
    pieces: Iterator[tuple[int, Any]]
    most: InitVar[int]
    waiting: deque[tuple[int, Any]] = field(default_factory=deque)
    """Pieces whose worker died."""
    free: list[Any] = field(default_factory=list)
    doing: dict[Any, tuple[Any, int, Any]] = field(default_factory=dict)
    """By the reference to what is awaited: the worker, and its piece; `STARTING` until it is ready."""
    deaths: Counter[int] = field(default_factory=Counter)

    def __post_init__(self, most: int) -> None:
        for _ in range(most):
            self._hire()

    def results(self, until: float | None) -> Iterator[tuple[int, Any]]:
        ray = self.crew.ray
        while self._hand_out():
            done, _ = ray.wait(list(self.doing), num_returns=1, timeout=LOOK)
            if until is not None and time.monotonic() > until:
                return
            for reference in done:
                worker, number, piece = self.doing.pop(reference)
                try:
                    result = _checked(ray.get(reference))
                except ray.exceptions.RayError as error:
                    self._replace(worker, (number, piece), error)
                    continue
                self.free.append(worker)
                self.deaths[number] = 0
                if number != STARTING:
                    yield number, result

    def end(self) -> None:
        """End all workers at once."""
        for worker in [*self.free, *(worker for worker, _, _ in self.doing.values())]:
            self.crew.ray.kill(worker, no_restart=True)

    def _hand_out(self) -> bool:
        """Give every free worker a piece; whether any piece is still to come."""
        while self.free:
            following = self.waiting.popleft() if self.waiting else next(self.pieces, None)
            if following is None:
                return any(number != STARTING for _, number, _ in self.doing.values())
            worker = self.free.pop()
            self.doing[worker.do.remote(following[1])] = worker, *following
        return True

    def _replace(self, worker: Any, lost: tuple[int, Any], error: Exception) -> None:
        """Another worker for one that died, or that can no longer be reached; its piece is the next one."""
        self.crew.ray.kill(worker, no_restart=True)
        self.deaths[lost[0]] += 1
        if self.deaths[lost[0]] == TRIES:
            what = "before they were ready" if lost[0] == STARTING else "while they did the same work"
            raise UnseenError(f"{TRIES} workers ended {what}; the last one: {error}")
        if lost[0] != STARTING:
            self.waiting.append(lost)
        self.crew.tell("a worker ended; another one takes its work")
        self._hire()

    def _hire(self) -> None:
        crew = self.crew
        how = {"num_cpus": crew.cores, "num_gpus": crew.gpus, "scheduling_strategy": "SPREAD"}
        worker = crew.ray.remote(Worker).options(**how).remote(crew.threads, self.references)
        self.doing[worker.ready.remote()] = worker, STARTING, None


def _checked(result: Any) -> Any:
    """A result; errors of a worker are raised here."""
    if not isinstance(result, Trouble):
        return result
    if result.is_mendable:
        raise UnseenError(result.message)
    raise RuntimeError(f"a worker failed:\n{result.message}")
