"""All replicas of a server: each has a queue and a thread of its own, and a question goes where it is answered soonest.

A replica that has ended is started again. The questions that it was at, and those that wait for it, go to another one,
once; if that one ends too they are refused with the time to come again.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from unseen.server.batching import ANYONE, Batcher, bounds_of
from unseen.server.model_work import ModelWork
from unseen.server.predicting import Predictor
from unseen.server.problems import ReplicaEnded
from unseen.server.replicas.feed import GraphFeed
from unseen.server.replicas.replica import STUCK, Replica, ReplicaSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from unseen.database import Database
    from unseen.server.callers import Caller
    from unseen.server.model_work import Plan, Result
    from unseen.server.server_settings import ServerSettings

LOOK = 0.1
"""Seconds between two looks at whether all replicas run."""
TRIES = 2
"""Replicas that may end over one question."""


@dataclass(eq=False)
class _Lane:
    """A replica and its queue."""

    replica: Replica
    batcher: Batcher[Plan, Result]
    used: int = 0
    """The turn in which it was chosen last."""


class Replicas:
    """What predicts, in as many processes as the settings say; used like one `Batcher`."""

    def __init__(
        self,
        database: Database,
        settings: ServerSettings,
        predictor: Predictor,
        folder: Path,
        noted: Callable[[int], None],
    ) -> None:
        """`predictor` learns what the first replica takes; bases of the graph are kept in a folder."""
        feed, turn = GraphFeed(database, folder), Lock()
        count, limits = settings.replicas, settings.limits
        own = ReplicaSettings(settings, max(1, _cores() // count))
        others = [Predictor(database, settings.model, limits.seconds, settings.effort) for _ in range(count - 1)]
        self._lanes: list[_Lane] = []
        for told in (predictor, *others):
            replica = Replica(database, feed, told, own, turn)
            batcher: Batcher[Plan, Result] = Batcher(
                replica.answer_all,
                bounds_of(limits, count),
                cost_of=ModelWork(told).cost_of,
                measure=replica.measure,
                measuring=told.measuring,
                noted=noted,
            )
            self._lanes.append(_Lane(replica, batcher))
        self._turns = self._moved = 0
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start all of them, one after the other."""
        for lane in self._lanes:
            lane.batcher.start()
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Accept nothing new, finish accepted questions, and end the processes; if cancelled, end them at once."""
        if self._watching is not None:
            self._watching.cancel()
        try:
            await asyncio.gather(*(lane.batcher.stop() for lane in self._lanes))
        finally:
            for lane in self._lanes:
                lane.replica.close()
        while any(lane.replica.is_running for lane in self._lanes):
            await asyncio.sleep(0.005)

    async def submit(self, item: Plan, caller: Caller = ANYONE) -> Result:
        """The result for one item; from another replica if the first one ends over it."""
        tried: list[_Lane] = []
        while True:
            lane = self._soonest(tried)
            tried.append(lane)
            try:
                return await lane.batcher.submit(item, caller)
            except ReplicaEnded:
                if len(tried) == TRIES:
                    raise
                self._moved += 1

    @property
    def is_measured(self) -> bool:
        """Whether one of them is ready, and how long it takes is known."""
        return any(lane.replica.is_ready for lane in self._lanes)

    @property
    def is_stuck(self) -> bool:
        """Whether none of them can be started."""
        return all(lane.replica.failed >= STUCK for lane in self._lanes)

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return sum(lane.batcher.waiting for lane in self._lanes)

    @property
    def backlog_seconds(self) -> float:
        """How long it takes until one of them is free, by estimate."""
        return min(lane.batcher.backlog_seconds for lane in self._lanes)

    @property
    def counts(self) -> Counter[str]:
        """Questions and calls that came to no answer, by why."""
        return sum((lane.batcher.counts for lane in self._lanes), Counter())

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of all models: estimated and actual."""
        return {
            kind: sum(lane.batcher.seconds[kind] for lane in self._lanes) for kind in self._lanes[0].batcher.seconds
        }

    def gauges(self) -> dict[str, float]:
        """Numbers of this moment."""
        replicas = [lane.replica for lane in self._lanes]
        return {
            "replicas": len(replicas),
            "replicas_ready": sum(replica.is_ready and replica.is_running for replica in replicas),
            "replicas_started": sum(replica.started for replica in replicas),
            "replica_questions_moved": self._moved,
        }

    def _soonest(self, tried: Sequence[_Lane]) -> _Lane:
        """Where a question is answered first, by estimate; in turns if that is the same."""

        def order(lane: _Lane) -> tuple[bool, bool, bool, float, int]:
            replica = lane.replica
            is_idle = replica.is_ready and replica.is_running
            return lane in tried, not is_idle, not replica.is_starting, lane.batcher.backlog_seconds, lane.used

        lane = min(self._lanes, key=order)
        self._turns += 1
        lane.used = self._turns
        return lane

    async def _watch(self) -> None:
        """Have a replica that has ended started again."""
        while True:
            await asyncio.sleep(LOOK)
            for lane in self._lanes:
                if lane.replica.is_missing:
                    lane.batcher.begin_again()


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
